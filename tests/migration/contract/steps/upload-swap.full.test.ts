// The cutover by upload: the collection is uploaded under the name in the plan, never replaces another collection, and is verified
// before the setting names it. From then on everything works on that collection.
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { RetryableFailure } from '../../../../lib/migration/refusals.ts';
import { windowOf } from '../../../../lib/migration/runs/run.ts';
import { SOURCE, type WorldOptions } from '../../../../sandbox/world.ts';
import { onRequest, type ServiceChanges } from '../../support/changed-services.ts';
import { computeFingerprint, deleteFirstPoint, LAYOUT } from '../../support/collections.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createAlias } from '../../support/vector-stores.ts';

const NAME = 'memories_of_2026';
const COMPANION = `${NAME}_entities`;

async function createEqual(options: Partial<WorldOptions> = {}): Promise<Migration> {
  return await createMigrationAt('equal', options, { uploadAs: NAME });
}

const listNames = ({ services }: Migration) => services.vectors.listCollections();

/** Replaces the store's upload for the collection of this name. */
function interceptUpload(
  { services }: Migration,
  name: string,
  replace: (upload: () => Promise<void>) => Promise<void>,
): ServiceChanges {
  const { vectors } = services;
  const uploadSnapshot: typeof vectors.uploadSnapshot = async (collection, upload) => {
    const uploadAsRequested = () => vectors.uploadSnapshot(collection, upload);
    await (collection === name ? replace(uploadAsRequested) : uploadAsRequested());
  };
  return { vectors: { uploadSnapshot } };
}

/** A failure after which the step is repeated and the window continues */
const createBusyFailure = (why: string) =>
  new RetryableFailure('RetryableUnavailable', why, { code: 503 });

describe('a cutover by upload', () => {
  it('reports in a dry run what it uploads, and changes nothing', async () => {
    const migration = await createEqual();
    expect(await migration.invoke('cutover', { execute: false })).toMatchObject({
      forecast: {
        uploads: { from: migration.target, to: NAME },
        setting: { from: SOURCE, to: NAME },
      },
    });
    expect(await listNames(migration)).not.toContain(NAME);
  });

  it('ends with all memories, the slot and the indexes under the requested name, and with no second copy', async () => {
    const migration = await createEqual();
    const { vectors, setting } = migration.services;
    const before = await computeFingerprint(vectors, SOURCE);
    const expected = await vectors.readCollectionInfo(migration.target);
    await migration.finish('cutover');
    expect(await setting.read()).toBe(NAME);
    expect(await computeFingerprint(vectors, NAME)).toEqual(before);
    expect((await listNames(migration)).toSorted()).toEqual([SOURCE, NAME, COMPANION].toSorted());
    const uploaded = await vectors.readCollectionInfo(NAME);
    expect(uploaded?.config.params).toEqual(expected?.config.params);
    expect(uploaded?.config.params.sparse_vectors?.bm25).toEqual({ modifier: 'idf' });
    expect(Object.keys(uploaded?.payload_schema ?? {})).toEqual(
      Object.keys(expected?.payload_schema ?? {}),
    );
    const { points } = await vectors.scroll(NAME, { limit: 100 });
    expect(points.every(({ vector = '' }) => JSON.parse(vector).bm25 !== undefined)).toBe(true);
    expect([...new Set(migration.operator.actions)]).toEqual([
      'freeze',
      'deploy-new',
      'open-writes',
    ]);
  });

  it.each([NAME, COMPANION])('waits until the store has indexed %s', async (collection) => {
    const migration = await createEqual();
    const { vectors, setting } = migration.services;
    const readCollectionInfo: typeof vectors.readCollectionInfo = async (name) => {
      const info = await vectors.readCollectionInfo(name);
      return info && name === collection ? { ...info, status: 'yellow' } : info;
    };
    for (let waitsFor = ''; !waitsFor.startsWith(`the index of ${collection}: `); ) {
      const result = await migration.invoke('cutover', {}, { vectors: { readCollectionInfo } });
      if (result.dryRun || result.done) throw new Error('The cutover has not waited');
      waitsFor = result.waitsFor ?? '';
      migration.advanceClock(1_000);
    }
    expect(await setting.read()).toBe(SOURCE);
    await migration.finish('cutover');
    expect(await setting.read()).toBe(NAME);
  });

  it('checks the uploaded collection', async () => {
    const migration = await createEqual();
    const deleting = onRequest(migration, 'deploy-new', async ({ collection }) => {
      expect(collection).toBe(NAME);
      await deleteFirstPoint(migration, NAME);
    });
    const attempt = migration.finish('cutover', {}, deleting);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedVerification'));
  });

  it.each([NAME, COMPANION])(
    'is refused before it begins if the name %s is taken',
    async (name) => {
      const migration = await createEqual();
      const { vectors } = migration.services;
      await vectors.createCollection(name, LAYOUT);
      await expect(migration.invoke('cutover')).rejects.toEqual(failureNamed('RefusedNameTaken'));
      expect(windowOf(await migration.runs.read(RUN))).not.toHaveProperty('switchedAt');
      await migration.finish('rollback');
      expect(await listNames(migration)).toContain(name);
    },
  );

  it('does not upload onto an alias', async () => {
    const migration = await createEqual();
    await createAlias(migration.qdrant.url, NAME, SOURCE);
    await expect(migration.invoke('cutover')).rejects.toEqual(failureNamed('RefusedNameTaken'));
  });

  it('repeats an upload that has failed', async () => {
    const migration = await createEqual();
    let attempts = 0;
    const services = interceptUpload(migration, NAME, async (upload) => {
      attempts += 1;
      if (attempts === 1) throw new RetryableFailure('RetryableUnavailable', 'No answer.');
      await upload();
    });
    await migration.finish('cutover', {}, services);
    expect(attempts).toBe(2);
  });

  it('leaves no collection of a failed upload after the rollback', async () => {
    const migration = await createEqual();
    const failingUpload = interceptUpload(migration, NAME, async (upload) => {
      await upload();
      throw new Error('The upload failed');
    });
    await expect(migration.finish('cutover', {}, failingUpload)).rejects.toEqual(
      failureNamed('RefusedDefect'),
    );
    await migration.finish('rollback', { actor: 'machine' });
    expect(await listNames(migration)).not.toContain(NAME);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });

  it('creates another snapshot if the stored one is corrupted', async () => {
    const migration = await createEqual();
    const { artifacts } = migration.services;
    const failingUpload = interceptUpload(migration, NAME, () =>
      Promise.reject(createBusyFailure('No upload yet')),
    );
    await expect(migration.finish('cutover', {}, failingUpload)).rejects.toThrow(/No upload yet/);
    const parts = await Array.fromAsync(artifacts.list(`${RUN}/snapshot-of-target`));
    for (const { key } of parts) {
      const [first = new Uint8Array(), ...rest] = await Array.fromAsync(artifacts.get(key));
      const corrupted = [first.map((byte, index) => (index === 0 ? byte ^ 1 : byte)), ...rest];
      await artifacts.put(key, Readable.from(corrupted));
    }
    await expect(migration.finish('cutover')).rejects.toEqual(failureNamed('RefusedByService'));
    await migration.follow('rollback', 'copy', 'cutover');
    expect((await migration.runs.read(RUN)).phase).toBe('live');
  });

  it('does not switch to a collection other than the verified one', async () => {
    const migration = await createEqual();
    const { vectors } = migration.services;
    const countRestoredPoints: typeof vectors.countRestoredPoints = async (name) => {
      const restored = await vectors.countRestoredPoints(name);
      if (restored && name === NAME) await deleteFirstPoint(migration, NAME);
      return restored;
    };
    const attempt = migration.finish('cutover', {}, { vectors: { countRestoredPoints } });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedSnapshot'));
    expect(await listNames(migration)).not.toContain(NAME);
    expect(await migration.services.setting.read()).toBe(SOURCE);
  });

  it('is finished even if the window closes during the clean-up', async () => {
    const migration = await createEqual();
    const { hooks } = migration.services;
    const ask: typeof hooks.ask = async (request) => {
      const result = await hooks.ask(request);
      if (request.action === 'open-writes') {
        migration.advanceClock(31 * 60_000);
        await migration.beat();
      }
      return result;
    };
    await migration.finish('cutover', {}, { hooks: { ask } });
    expect((await migration.runs.read(RUN)).phase).toBe('live');
    expect(migration.logged).toMatchObject([{ level: 'WARN', runId: RUN }]);
    expect(await listNames(migration)).toContain(migration.target);
  });
});

describe('the requested name', () => {
  it.each([`${SOURCE}_v3_${RUN}`, `${SOURCE}_v3_${RUN}_entities`, `restore_drill_${RUN}`])(
    'must not be another name that the run uses: %s',
    async (uploadAs) => {
      const migration = await createMigration();
      await expect(migration.start({ uploadAs })).rejects.toEqual(failureNamed('RefusedNameTaken'));
    },
  );

  it.each([SOURCE, 'taken', 'companion-taken'])(
    'must be free, as must its companion: %s',
    async (uploadAs) => {
      const migration = await createMigration();
      const { vectors } = migration.services;
      await vectors.createCollection('taken', LAYOUT);
      await vectors.createCollection('companion-taken_entities', LAYOUT);
      await expect(migration.start({ uploadAs })).rejects.toEqual(
        failureNamed('RefusedPrerequisites'),
      );
    },
  );
});
