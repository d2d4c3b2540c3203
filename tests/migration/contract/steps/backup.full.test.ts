// Backups despite other snapshots, late writes, a snapshot that cannot be restored, and a connection that loses responses
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { restoreTestCollectionOf, testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import type { ServiceChanges } from '../../support/changed-services.ts';
import { LAYOUT, readRunState, readStoredManifest } from '../../support/collections.ts';
import {
  createMigration,
  type Migration,
  type MigrationOptions,
  RUN,
} from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createAlias, createPoint } from '../../support/vector-stores.ts';

describe('a backup', () => {
  it("counts users' writes up to the snapshot, and not those of the run itself", async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await migration.start();
    const probe = JSON.stringify({ user_id: testUserOf(RUN), data: 'a late write of a chat' });
    await vectors.upsert(SOURCE, [createPoint(1, probe, '[1,0,0,0,0,0,0,0]')], 'upsert');
    await migration.finish('backup');
    expect((await readStoredManifest(migration)).contents).toMatchObject({ points: 60, users: 7 });
  });

  it('neither uses nor removes a snapshot that existed before', async () => {
    const migration = await createMigration();
    const { vectors } = migration.services;
    await vectors.startSnapshot(SOURCE);
    await expect.poll(async () => (await vectors.listSnapshots(SOURCE)).length).toBe(1);
    const [existing] = await vectors.listSnapshots(SOURCE);
    migration.advanceClock(5_000);
    await migration.start();
    await migration.follow('backup');
    const { snapshot } = await readStoredManifest(migration);
    expect(snapshot.name).not.toBe(existing?.name);
    expect(await vectors.listSnapshots(SOURCE)).toEqual([existing]);
  });

  it('polls for its snapshot less and less often', async () => {
    const migration = await createMigrationAt('checked');
    migration.qdrant.fault({
      on: /^POST .*\/snapshots\?wait=false/,
      effect: { kind: 'response', status: 202, body: '{"status":"accepted","time":0}' },
    });
    const waits: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const result = await migration.invoke('backup');
      const seconds = result.dryRun ? Number.NaN : result.waitSeconds;
      waits.push(seconds);
      migration.advanceClock(seconds * 1_000);
    }
    expect(waits[0]).toBe(1);
    expect(waits).toEqual(waits.toSorted((first, second) => first - second));
    expect(waits.at(-1)).toBe(5);
  });
});

interface Fault {
  readonly options?: MigrationOptions;
  readonly changes: (migration: Migration) => ServiceChanges;
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  [
    'its stored copy is truncated',
    {
      changes: ({ services: { artifacts } }) => ({
        artifacts: {
          async *get(key) {
            for await (const chunk of artifacts.get(key)) {
              yield key.includes('/snapshot-') ? chunk.subarray(0, chunk.length - 1) : chunk;
            }
          },
        },
      }),
    },
  ],
  [
    'a stored part is damaged',
    {
      changes: ({ services: { vectors } }) => ({
        vectors: {
          async downloadSnapshot(...args) {
            const part = await vectors.downloadSnapshot(...args);
            const [first = new Uint8Array(), ...rest] = await Array.fromAsync(part.bytes);
            const bytes = [first.map((byte, index) => (index === 0 ? byte ^ 1 : byte)), ...rest];
            return { ...part, bytes: Readable.from(bytes) };
          },
        },
      }),
    },
  ],
  [
    'the file is shorter than its listed size',
    {
      options: { qdrant: { keepsSnapshotsInObjectStorage: true } },
      changes: ({ services: { vectors } }) => ({
        vectors: {
          listSnapshots: async (name) =>
            (await vectors.listSnapshots(name)).map((snapshot) => ({
              ...snapshot,
              size: snapshot.size + 1,
            })),
        },
      }),
    },
  ],
  [
    'it never appears',
    {
      changes: ({ advanceClock }) => ({
        vectors: {
          startSnapshot: async () => {
            advanceClock(595_000);
            return undefined;
          },
        },
      }),
    },
  ],
];

describe('a snapshot that cannot be restored', () => {
  it.each(FAULTS)(
    'does not count as a backup, and the next attempt creates another: %s',
    async (_, fault) => {
      const migration = await createMigrationAt('checked', fault.options);
      const { vectors } = migration.services;
      const before = await readRunState(migration);
      const attempt = migration.finish('backup', {}, fault.changes(migration));
      await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot'));
      expect(await readRunState(migration)).toEqual(before);
      expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
      await migration.finish('backup');
      expect((await readStoredManifest(migration)).contents.points).toBe(60);
    },
  );

  it('is created again if one of its parts, or the file on the store, disappears during the backup', async () => {
    const migration = await createMigrationAt('checked');
    const { vectors, artifacts } = migration.services;
    const fail = () => Promise.reject(new Error('Connection lost'));
    const failBackup = async (changes: Partial<typeof vectors>) => {
      const attempt = migration.finish('backup', {}, { vectors: changes });
      await expect(attempt).rejects.toThrow('Connection lost');
    };
    await failBackup({ downloadSnapshot: fail });
    for (const { name } of await vectors.listSnapshots(SOURCE)) {
      await vectors.deleteSnapshot(SOURCE, name);
    }
    await expect(migration.finish('backup')).rejects.toEqual(failureNamed('RefusedSnapshot'));
    await failBackup({ uploadSnapshot: fail });
    await artifacts.deleteAll(`${RUN}/snapshot-`);
    await expect(migration.finish('backup')).rejects.toEqual(
      failureNamed('RefusedMissingArtifact'),
    );
    await migration.finish('backup');
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
  });
});

describe('a snapshot', () => {
  it.each([
    ["right before the run's own", 'startSnapshot'],
    ["while the run's own is downloaded", 'downloadSnapshot'],
  ] as const)(
    'that another program creates %s may be used instead, and neither is removed',
    async (_, call) => {
      const migration = await createMigrationAt('checked');
      const { vectors } = migration.services;
      let isCreated = false;
      const createOther = async (current: typeof call) => {
        if (isCreated || current !== call) return;
        isCreated = true;
        migration.advanceClock(1_000);
        await vectors.startSnapshot(SOURCE);
        await migration.qdrant.waitUntilIdle();
        migration.advanceClock(1_000);
      };
      const changed: Partial<typeof vectors> = {
        async startSnapshot(...args) {
          await createOther('startSnapshot');
          const requestedAt = await vectors.startSnapshot(...args);
          // Until its own snapshot is complete, the run uses the other one.
          await migration.qdrant.waitUntilIdle();
          return requestedAt;
        },
        async downloadSnapshot(...args) {
          await createOther('downloadSnapshot');
          return await vectors.downloadSnapshot(...args);
        },
      };
      await migration.finish('backup', {}, { vectors: changed });
      expect((await readStoredManifest(migration)).contents.points).toBe(60);
      const names = (await vectors.listSnapshots(SOURCE)).map(({ name }) => name);
      expect(names).toHaveLength(2);
      const left = names.toSorted().join(', ');
      expect(migration.logged).toContainEqual(expect.objectContaining({ level: 'WARN', left }));
    },
  );

  it.each([
    ['if the store creates none for the run', 202],
    ["in addition to the run's own", 0],
  ])(
    'that another program creates half a minute later, %s, is neither used nor removed',
    async (_, status) => {
      const migration = await createMigrationAt('checked');
      const { vectors } = migration.services;
      const startSnapshot: typeof vectors.startSnapshot = async (name) => {
        const body = '{"status":"accepted"}';
        const accepted = { kind: 'response', status, body } as const;
        if (status > 0) migration.qdrant.fault({ on: /^POST .*snapshots/, effect: accepted });
        const requestedAt = await vectors.startSnapshot(name);
        migration.advanceClock(30_000);
        await vectors.startSnapshot(name);
        await migration.qdrant.waitUntilIdle();
        return requestedAt;
      };
      const attempt = migration.finish('backup', {}, { vectors: { startSnapshot } });
      if (status > 0)
        await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot', 'no snapshot'));
      else await attempt;
      expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
    },
  );
});

describe('the restore test of a backup', () => {
  it('does not restore to an alias of the active collection', async () => {
    const migration = await createMigrationAt('checked');
    const name = restoreTestCollectionOf(await migration.runs.read(RUN));
    await createAlias(migration.qdrant.url, name, SOURCE);
    const before = await readRunState(migration);
    await expect(migration.finish('backup')).rejects.toEqual(failureNamed('RefusedNameTaken'));
    expect(await readRunState(migration)).toEqual(before);
  });

  it('waits for a restore that the store fails to confirm, and does not begin it again', async () => {
    const migration = await createMigrationAt('checked');
    const before = await readRunState(migration);
    migration.qdrant.fault({
      on: /\/snapshots\/upload/,
      when: 'after',
      effect: {
        kind: 'response',
        status: 500,
        body: '{"status":{"error":"Service internal error"}}',
      },
    });
    await expect(migration.finish('backup')).rejects.toEqual(failureNamed('RetryableUnavailable'));
    expect(await readRunState(migration)).toEqual(before);
    const uploadSnapshot = () => Promise.reject(new Error('Not twice'));
    await migration.finish('backup', {}, { vectors: { uploadSnapshot } });
    expect(await readRunState(migration)).toEqual({ ...before, phase: 'backed-up' });
  });

  it('first removes the half-restored collection of an earlier test, which may crash the store', async () => {
    const migration = await createMigrationAt('checked');
    const { vectors } = migration.services;
    await vectors.createCollection(restoreTestCollectionOf(await migration.runs.read(RUN)), LAYOUT);
    const uploadSnapshot: typeof vectors.uploadSnapshot = async (name, upload) => {
      expect(await vectors.collectionExists(name)).toBe(false);
      await vectors.uploadSnapshot(name, upload);
    };
    await migration.finish('backup', {}, { vectors: { uploadSnapshot } });
    expect(await vectors.listCollections()).toEqual([SOURCE]);
  });
});

describe('a request for a snapshot whose response is lost', () => {
  const loseResponses = (on: RegExp, times: number) => ({
    on,
    times,
    effect: { kind: 'drop' as const },
  });
  const REQUEST = /^POST .*\/snapshots\?wait=false/;

  const countSecondsSince = ({ clock }: Migration, startedAt: Date) =>
    (clock().getTime() - startedAt.getTime()) / 1_000;

  it('is sent again after a minute in which no snapshot has appeared', async () => {
    const migration = await createMigrationAt('frozen');
    const startedAt = migration.clock();
    migration.qdrant.fault(loseResponses(REQUEST, 1));
    await migration.runUntilStage('backed-up');
    expect(countSecondsSince(migration, startedAt)).toBeGreaterThanOrEqual(60);
    expect(countSecondsSince(migration, startedAt)).toBeLessThan(75);
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN }]);
  });

  it('fails the cutover after ten minutes, not at the end of the window', async () => {
    const migration = await createMigrationAt('frozen');
    const startedAt = migration.clock();
    migration.qdrant.fault(loseResponses(REQUEST, 99));
    const attempt = migration.finish('cutover');
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot'));
    expect(countSecondsSince(migration, startedAt)).toBeGreaterThanOrEqual(600);
    expect(countSecondsSince(migration, startedAt)).toBeLessThan(675);
  });

  it.each(['before the second one', 'while the second one is used'])(
    'leaves no snapshot even if the store had begun one that is listed %s',
    async (when) => {
      const migration = await createMigrationAt('checked');
      const { vectors } = migration.services;
      let requests = 0;
      let isListed = false;
      const slow: Partial<typeof vectors> = {
        async startSnapshot(collection) {
          requests += 1;
          if (requests === 1) throw new RetryableFailure('RetryableUnavailable', 'Reset.');
          await vectors.startSnapshot(collection);
          await migration.qdrant.waitUntilIdle();
          if (when.startsWith('while')) return;
          await createLateSnapshot();
        },
        async uploadSnapshot(...args) {
          await createLateSnapshot();
          await vectors.uploadSnapshot(...args);
        },
      };
      const createLateSnapshot = async () => {
        if (isListed) return;
        isListed = true;
        migration.advanceClock(2_000);
        await vectors.startSnapshot(SOURCE);
        await migration.qdrant.waitUntilIdle();
        // In the `while` case the run has already downloaded the second snapshot, and removed it from the store.
        const listed = when.startsWith('while') ? 1 : 2;
        expect(await vectors.listSnapshots(SOURCE)).toHaveLength(listed);
      };
      await migration.finish('backup', {}, { vectors: slow });
      expect(requests).toBe(2);
      expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
    },
  );
});
