// Fears of a backup that is none, and of a restore that does harm.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Properties } from '../../../../lib/migration/graph/values.ts';
import {
  drillCollectionOf,
  restoredCollectionOf,
} from '../../../../lib/migration/runs/run-names.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import {
  fingerprintOf,
  LAYOUT,
  manifestOf,
  standingOf,
} from '../../../support/migration/holdings.ts';
import { createMigration, type Migration, RUN } from '../../../support/migration/migration.ts';
import { migrationAt } from '../../../support/migration/prepared.ts';
import { named } from '../../../support/migration/refused.ts';
import { createAlias } from '../../../support/vector-stores.ts';

describe('Fear 3: a backup that cannot be restored', () => {
  it('what was kept is cut off: no manifest, and no way on', async () => {
    const migration = await migrationAt('checked');
    const before = await standingOf(migration);
    const { artifacts } = migration.services;
    const cutting = {
      async *get(key: string) {
        for await (const chunk of artifacts.get(key)) {
          yield key.includes('/snapshot-') ? chunk.subarray(0, chunk.length - 1) : chunk;
        }
      },
    };
    const attempt = migration.finish('backup', {}, { artifacts: cutting });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    expect(await standingOf(migration)).toEqual(before);
    await expect(migration.invoke('rebuild')).rejects.toEqual(named('RefusedNotNow'));
  });

  it('a kept part is damaged: the next backup begins with a new snapshot', async () => {
    const migration = await migrationAt('checked');
    const { vectors } = migration.services;
    const corrupting: Partial<typeof vectors> = {
      async downloadSnapshot(...args) {
        const part = await vectors.downloadSnapshot(...args);
        const [first = new Uint8Array(), ...rest] = await Array.fromAsync(part.bytes);
        const bytes = [first.map((byte, at) => (at === 0 ? byte ^ 1 : byte)), ...rest];
        return { ...part, bytes: Readable.from(bytes) };
      },
    };
    const attempt = migration.finish('backup', {}, { vectors: corrupting });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
    await migration.finish('backup');
    expect((await manifestOf(migration)).contents.points).toBe(60);
  });

  it('the file ends before its size: not fetched for ever', async () => {
    const migration = await migrationAt('checked', {
      qdrant: { keepsSnapshotsElsewhere: true },
    });
    const { vectors } = migration.services;
    const listSnapshots = async (name: string) =>
      (await vectors.listSnapshots(name)).map((one) => ({ ...one, size: one.size + 1 }));
    const attempt = migration.finish('backup', {}, { vectors: { listSnapshots } });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    await migration.finish('backup');
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
  });

  it('a snapshot that never came is asked for again', async () => {
    const migration = await migrationAt('checked');
    const startSnapshot = async () => {
      migration.pass(595_000);
      return undefined;
    };
    const attempt = migration.finish('backup', {}, { vectors: { startSnapshot } });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    await migration.finish('backup');
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
  });

  it('a part of it, or the file on the store, is gone half-way: taken again, it begins anew', async () => {
    const migration = await migrationAt('checked');
    const { vectors, artifacts } = migration.services;
    const broken = () => Promise.reject(new Error('Broken off'));
    const halfway = async (ill: Partial<typeof vectors>) => {
      const attempt = migration.finish('backup', {}, { vectors: ill });
      await expect(attempt).rejects.toThrow('Broken off');
    };
    await halfway({ downloadSnapshot: broken });
    for (const { name } of await vectors.listSnapshots(SOURCE)) {
      await vectors.deleteSnapshot(SOURCE, name);
    }
    await expect(migration.finish('backup')).rejects.toEqual(named('RefusedSnapshot'));
    await halfway({ uploadSnapshot: broken });
    await artifacts.deleteAll(`${RUN}/snapshot-`);
    await expect(migration.finish('backup')).rejects.toEqual(named('RefusedMissingArtifact'));
    await migration.finish('backup');
    expect((await migration.runs.read(RUN)).phase).toBe('backed-up');
    expect(await vectors.listSnapshots(SOURCE)).toEqual([]);
  });

  it.each([
    ['before ours can be told from it', 0],
    ['while ours is being kept', 1],
  ])('that another program makes %s is neither taken nor removed', async (_, parts) => {
    const migration = await migrationAt('checked');
    const { vectors, artifacts } = migration.services;
    let isMade = false;
    const listSnapshots: typeof vectors.listSnapshots = async (name) => {
      const listed = await vectors.listSnapshots(name);
      const kept = await Array.fromAsync(artifacts.list(`${RUN}/snapshot-`));
      const [ours] = listed;
      if (ours && kept.length >= parts) isMade = true;
      return ours && isMade ? [...listed, { ...ours, name: 'of-another-program' }] : listed;
    };
    const deleted: string[] = [];
    const deleteSnapshot = async (_: string, name: string) => void deleted.push(name);
    const attempt = migration.finish('backup', {}, { vectors: { listSnapshots, deleteSnapshot } });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot', 'of-another-program'));
    expect(deleted).toEqual([]);
  });

  it.each([
    ['where the store makes none for us', 202],
    ['beside ours', 0],
  ])(
    'that another program makes half a minute later %s is neither taken nor removed',
    async (_, status) => {
      const migration = await migrationAt('checked');
      const { vectors } = migration.services;
      const startSnapshot: typeof vectors.startSnapshot = async (name) => {
        const body = '{"status":"accepted"}';
        const silently = { kind: 'answer', status, body } as const;
        if (status > 0) migration.qdrant.fault({ on: /^POST .*snapshots/, does: silently });
        const answered = await vectors.startSnapshot(name);
        migration.pass(30_000);
        await vectors.startSnapshot(name);
        await migration.qdrant.idle();
        return answered;
      };
      const attempt = migration.finish('backup', {}, { vectors: { startSnapshot } });
      if (status > 0)
        await expect(attempt).rejects.toEqual(named('RefusedSnapshot', 'no snapshot'));
      else await attempt;
      expect(await vectors.listSnapshots(SOURCE)).toHaveLength(1);
    },
  );

  it('one snapshot of several nodes is refused', async () => {
    const migration = await createMigration();
    const nodeCount = async () => 3;
    const attempt = migration.start({}, { vectors: { nodeCount } });
    await expect(attempt).rejects.toEqual(named('RefusedPrerequisites'));
  });
});

describe('Fear 4: a restore lands on a live collection', () => {
  async function alias({ qdrant }: Migration, name: string, collection: string) {
    await createAlias(qdrant.url, name, collection);
  }

  it('the name of the drill is an alias of what users work on', async () => {
    const migration = await migrationAt('checked');
    await alias(migration, drillCollectionOf(await migration.runs.read(RUN)), SOURCE);
    const before = await standingOf(migration);
    await expect(migration.finish('backup')).rejects.toEqual(named('RefusedNameTaken'));
    expect(await standingOf(migration)).toEqual(before);
  });

  it('the name to restore to is an alias of what users work on', async () => {
    const migration = await migrationAt('live');
    const { services, target } = migration;
    await alias(migration, restoredCollectionOf(await migration.runs.read(RUN)), target);
    const before = await fingerprintOf(services.vectors, target);
    await services.vectors.deleteCollection(SOURCE);
    await expect(migration.finish('rollback')).rejects.toEqual(named('RefusedNothingToReturnTo'));
    expect(await fingerprintOf(services.vectors, target)).toEqual(before);
    expect(await services.setting.read()).toBe(target);
  });
});

describe('Fear 5: half-restored debris makes the store panic when it starts again', () => {
  it('a restore that the store fails to confirm is waited for, and not begun again', async () => {
    const migration = await migrationAt('checked');
    const before = await standingOf(migration);
    migration.qdrant.fault({
      on: /\/snapshots\/upload/,
      when: 'after',
      does: { kind: 'answer', status: 500, body: '{"status":{"error":"Service internal error"}}' },
    });
    await expect(migration.finish('backup')).rejects.toEqual(named('RetryableUnavailable'));
    expect(await standingOf(migration)).toEqual(before);
    const uploadSnapshot = () => Promise.reject(new Error('Not twice'));
    await migration.finish('backup', {}, { vectors: { uploadSnapshot } });
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'backed-up' });
  });

  it('debris of a drill that was killed is removed by the next one', async () => {
    const migration = await migrationAt('checked');
    const { vectors } = migration.services;
    const scratch = drillCollectionOf(await migration.runs.read(RUN));
    await vectors.createCollection(scratch, LAYOUT);
    const before = await standingOf(migration);
    await migration.finish('backup');
    expect(await vectors.listCollections()).toEqual([SOURCE]);
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'backed-up' });
  });
});

describe('Fear 14: a graph dump that is incomplete or lossy', () => {
  it('that cannot be read back is none', async () => {
    const migration = await migrationAt('frozen');
    const before = await standingOf(migration);
    const properties = { at: { year: 2026 } } as unknown as Properties;
    const lossy = {
      async *nodes() {
        for await (const node of migration.graph.nodes()) yield { ...node, properties };
      },
    };
    const attempt = migration.finish('cutover', {}, { graph: lossy });
    await expect(attempt).rejects.toEqual(named('RefusedSnapshot'));
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'switching-back' });
    const { artifacts } = migration.services;
    const kept = await Array.fromAsync(artifacts.list(`${RUN}/graph-`), ({ key }) => key);
    // That of the first backup alone.
    expect(kept.filter((key) => key.endsWith('manifest.json'))).toHaveLength(1);
  });

  it('written to in the window it is refused, and dumped again when it holds still', async () => {
    const migration = await migrationAt('frozen');
    const before = await standingOf(migration);
    const busy = {
      async *nodes() {
        yield* migration.graph.nodes();
        migration.graph.addNode({ labels: ['person'], properties: { name: 'late' } });
      },
    };
    const attempt = migration.finish('cutover', {}, { graph: busy });
    await expect(attempt).rejects.toEqual(named('RefusedNotFrozen'));
    expect(await standingOf(migration)).toEqual({ ...before, phase: 'switching-back' });
    await migration.follow('rollback', 'copy');
    await migration.reach('backed-up');
    expect((await manifestOf(migration)).graph).toMatchObject({
      kind: 'exact',
      nodes: 3,
      relationships: 1,
    });
  });
});
