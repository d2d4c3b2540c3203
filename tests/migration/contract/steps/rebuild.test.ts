// The new collection is created by the first write of the new version and checked slot by slot, or created by the run. A new
// version that starts before the run creates the collection at its start, and does not check it again.
import { describe, expect, it } from 'vitest';
import type { MemoryBackend } from '../../../../lib/migration/adapters/http-memory-backend.ts';
import { toJsonText } from '../../../../lib/migration/json/json-text.ts';
import type { Point } from '../../../../lib/migration/ports/vector-store.ts';
import { testUserOf } from '../../../../lib/migration/runs/run-names.ts';
import {
  type Shortcomings,
  startNewVersion,
} from '../../../../sandbox/memory-backend/new-version.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { readRunState } from '../../support/collections.ts';
import { createMigration, type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';

describe('a rebuild', () => {
  it.each([
    [
      'by the first write of the new version',
      true,
      { made: 'by-new-version', isHybridProved: true, embeddings: 'proved' },
    ],
    [
      'itself if the new version cannot be reached',
      false,
      { made: 'explicitly', isHybridProved: false, embeddings: 'unverified' },
    ],
  ])('creates both collections %s, and leaves them empty', async (_, hasPreview, facts) => {
    const { services, target, runs, finish } = await createMigrationAt('backed-up', { hasPreview });
    const { vectors } = services;
    await vectors.updateCollection(SOURCE, { hnsw_config: { m: 24 } });
    const index = { field_name: 'topic', field_schema: 'integer' } as const;
    await vectors.createPayloadIndex(SOURCE, index);
    await finish('rebuild');
    for (const name of [target, `${target}_entities`]) {
      const info = await services.vectors.readCollectionInfo(name);
      expect(info?.config.params.vectors).toMatchObject({ size: 8, distance: 'Cosine' });
      expect(info?.config.params.sparse_vectors).toEqual({ bm25: { modifier: 'idf' } });
      expect(Object.keys(info?.payload_schema ?? {})).toContain('user_id');
      expect(await services.vectors.count(name)).toBe(0);
    }
    const created = await services.vectors.readCollectionInfo(target);
    expect(created?.config.hnsw_config).toMatchObject({ m: 24 });
    expect(created?.payload_schema.topic).toMatchObject({ data_type: 'integer' });
    const run = await runs.read(RUN);
    expect(run.phase).toBe('rebuilt');
    expect(run.evidence['rebuild-proof']?.facts).toEqual(facts);
  });

  it.each<[string, Shortcomings, string]>([
    ['no model for keywords', { noKeywordModel: true }, 'fastembed'],
    ['a slot without idf', { slotWithoutIdf: true }, 'fastembed'],
    ['no language model', { noLanguageModel: true }, 'spaCy'],
    [
      'another embedding model with the same dimensions',
      { otherEmbeddings: true },
      'another embedding model',
    ],
    ['other dimensions', { otherDimensions: 4 }, 'has 4 Cosine where memories has'],
    ['no memory of any sentence', { emptyExtractions: 99 }, 'there is no memory in'],
  ])('is refused if the new version has %s', async (_, shortcomings, why) => {
    const migration = await createMigrationAt('backed-up', { shortcomings });
    const before = await readRunState(migration);
    await expect(migration.finish('rebuild')).rejects.toEqual(
      failureNamed('RefusedNewVersion', why),
    );
    expect(await readRunState(migration)).toEqual(before);
  });

  it('tries another sentence if the backend finds no fact in the first', async () => {
    const { finish, runs } = await createMigrationAt('backed-up', {
      shortcomings: { emptyExtractions: 2 },
    });
    await finish('rebuild');
    expect((await runs.read(RUN)).phase).toBe('rebuilt');
  });
});

describe('a memory of the test user that is written in the background', () => {
  /** Writes the memory after each deletion of the test user's points, this many times. */
  async function addLateMemories(migration: Migration, times: number) {
    const { services, target } = migration;
    const { vectors } = services;
    const payload = toJsonText({ user_id: testUserOf(RUN), data: 'In the background' });
    const memory: Point = {
      id: toJsonText('00000000-0000-4000-8000-000000000001'),
      vector: toJsonText([1, 0, 0, 0, 0, 0, 0, 0]),
      payload,
    };
    let written = 0;
    const deletePoints: typeof vectors.deletePoints = async (name, selection) => {
      await vectors.deletePoints(name, selection);
      if (name !== target || written === times) return;
      written += 1;
      await vectors.upsert(target, [memory], 'upsert');
    };
    return { vectors: { deletePoints } };
  }

  it('is removed, too, if it appears while others are removed', async () => {
    const migration = await createMigrationAt('backed-up');
    await migration.finish('rebuild', {}, await addLateMemories(migration, 1));
    expect(await readPhase(migration)).toBe('rebuilt');
    expect(await migration.services.vectors.count(migration.target)).toBe(0);
  });

  it('makes the rebuild fail if it appears after the second removal', async () => {
    const migration = await createMigrationAt('backed-up');
    const attempt = migration.finish('rebuild', {}, await addLateMemories(migration, 2));
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion'));
  });
});

describe('an abort', () => {
  it('removes the collections of the run and releases the lock', async () => {
    const { services, finish, lock } = await createMigrationAt('backed-up');
    await finish('rebuild');
    await finish('abort');
    expect(await services.vectors.listCollections()).toEqual([SOURCE]);
    expect(await lock.activeRun()).toBeUndefined();
  });
});

/** Starts a preview of the new version. */
async function startPreview(migration: Migration, shortcomings: Shortcomings = {}) {
  const { services, target: collection, clock: now } = migration;
  const settings = { store: services.vectors, collection, dimensions: 8, now, shortcomings };
  const version = await startNewVersion(settings);
  const preview: Pick<MemoryBackend, 'addMemory' | 'search'> = {
    addMemory: async (userId, text) => void (await version.add(userId, text)),
    search: async (userId, query) => (await version.search(userId, query)).length,
  };
  return { preview };
}

async function readPhase({ runs }: Migration) {
  return (await runs.read(RUN)).phase;
}

describe('a collection that the new version created at its start', () => {
  it('passes the preflight, and the rebuild uses it', async () => {
    const migration = await createMigration();
    const changes = await startPreview(migration);
    await migration.start({}, changes);
    for (const step of ['backup', 'rebuild', 'copy'] as const) {
      await migration.finish(step, {}, changes);
    }
    expect(await readPhase(migration)).toBe('copied');
  });

  it('is used after a refused rebuild and a restart of the new version', async () => {
    const migration = await createMigration();
    const incomplete = await startPreview(migration, { noKeywordModel: true });
    await migration.start({}, incomplete);
    await migration.finish('backup', {}, incomplete);
    const attempt = migration.finish('rebuild', {}, incomplete);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedNewVersion', /fastembed|spaCy/));
    await migration.finish('rebuild', {}, await startPreview(migration));
    expect(await readPhase(migration)).toBe('rebuilt');
  });

  it('is an obstacle if it contains memories', async () => {
    const migration = await createMigration();
    const changes = await startPreview(migration);
    await changes.preview.addMemory('user-1', 'A user writes to it already');
    const attempt = migration.start({}, changes);
    await expect(attempt).rejects.toEqual(failureNamed('RefusedPrerequisites'));
  });

  it('is an obstacle until an operator confirms that a new version is running', async () => {
    const migration = await createMigration({ hasPreview: false });
    const { services, target: collection, clock: now } = migration;
    await startNewVersion({ store: services.vectors, collection, dimensions: 8, now });
    await expect(migration.start()).rejects.toEqual(failureNamed('RefusedPrerequisites'));
  });
});
