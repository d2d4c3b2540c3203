// The copy while users write, on a store that fails, and in the window, which reads every memory at most five times.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import type { Hooks } from '../../../../lib/migration/ports/hooks.ts';
import type { PointId } from '../../../../lib/migration/ports/vector-store.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { onRequest } from '../../support/changed-services.ts';
import { computeFingerprint } from '../../support/collections.ts';
import { createMigration, RUN } from '../../support/migration.ts';
import { createMigrationAt } from '../../support/prepared.ts';
import { failureNamed } from '../../support/refused.ts';
import { createPoint } from '../../support/vector-stores.ts';

describe('a copy', () => {
  it.each([
    ['turns red', { status: 'red' }],
    ['has no space', { optimizer_status: { error: 'No space left on device' } }],
  ] as const)('stops if the new collection %s half-way', async (_, condition) => {
    const migration = await createMigrationAt('rebuilt', { memories: 1_000 });
    const { vectors } = migration.services;
    let writes = 0;
    const failing: Partial<typeof vectors> = {
      async readCollectionInfo(name) {
        const info = await vectors.readCollectionInfo(name);
        const isFailing = name === migration.target && writes >= 2;
        return info && isFailing ? { ...info, ...condition } : info;
      },
      async upsert(...request) {
        writes += 1;
        return await vectors.upsert(...request);
      },
    };
    const attempt = migration.finish('copy', {}, { vectors: failing });
    await expect(attempt).rejects.toEqual(failureNamed('RefusedByService'));
    const checkpoint = await migration.runs.readCheckpoint(RUN, 'copy');
    const copied = await vectors.count(migration.target);
    expect([writes, checkpoint?.progress]).toMatchObject([2, { done: copied, total: 1_000 }]);
    await migration.finish('copy');
    expect(await vectors.count(migration.target)).toBe(1_000);
  });

  it.each(['yellow', 'grey'] as const)(
    'waits until the store has indexed the new collection: %s',
    async (status) => {
      const migration = await createMigrationAt('rebuilt');
      const { vectors } = migration.services;
      let isIndexed = false;
      const readCollectionInfo: typeof vectors.readCollectionInfo = async (name) => {
        const info = await vectors.readCollectionInfo(name);
        const isIndexing = name === migration.target && !isIndexed;
        return info && isIndexing ? { ...info, status, indexed_vectors_count: 7 } : info;
      };
      const updates: string[] = [];
      const updateCollection = async (name: string) => void updates.push(name);
      const changes = { vectors: { readCollectionInfo, updateCollection } };
      const waiting = await migration.invoke('copy', {}, changes);
      expect(waiting).toMatchObject({
        done: false,
        phase: 'rebuilt',
        waitsFor: `the index of ${migration.target}: 7 vectors of 60 points`,
      });
      expect(updates).toEqual(status === 'grey' ? [migration.target] : []);
      isIndexed = true;
      expect(await migration.invoke('copy', {}, changes)).toMatchObject({ phase: 'copied' });
    },
  );
});

const MEMORY_COUNT = 600;
/** Memories that are read besides the full passes: samples of pages and vectors, and memories of the test user */
const MAX_OTHER_READS = 450;

it('the window reads every memory at most five times', async () => {
  const migration = await createMigrationAt('copied', { memories: MEMORY_COUNT });
  const { vectors, hooks } = migration.services;
  let reads = 0;
  let isWindow = false;
  const scroll: VectorStore['scroll'] = async (...request) => {
    const page = await vectors.scroll(...request);
    if (isWindow) reads += page.points.length;
    return page;
  };
  const retrieve: VectorStore['retrieve'] = async (...request) => {
    const points = await vectors.retrieve(...request);
    if (isWindow) reads += points.length;
    return points;
  };
  const ask: Hooks['ask'] = async (request) => {
    if (request.action === 'freeze') isWindow = true;
    if (request.action === 'open-writes') isWindow = false;
    return await hooks.ask(request);
  };
  const changes = { vectors: { scroll, retrieve }, hooks: { ask } };
  await migration.finish('cutover', {}, changes);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  expect(reads).toBeGreaterThan(4 * MEMORY_COUNT);
  expect(reads).toBeLessThanOrEqual(5 * MEMORY_COUNT + MAX_OTHER_READS);
});

/** Creates a user who creates, changes and deletes memories in turn. */
function createWriter(store: VectorStore) {
  const ownIds: PointId[] = [];
  let writes = 0;
  let isFrozen = false;

  async function write(): Promise<void> {
    if (isFrozen) return;
    writes += 1;
    const createMemory = (id: string) =>
      createPoint(
        id,
        JSON.stringify({ user_id: `user-${writes % 3}`, data: `write ${writes}` }),
        '[1,0,0,0,0,0,0,0]',
      );
    const oldest = writes % 4 === 0 ? ownIds.shift() : undefined;
    if (oldest !== undefined) return await store.deletePoints(SOURCE, { ids: [oldest] });
    const newId = `ffffffff-0000-4000-8000-${String(writes).padStart(12, '0')}`;
    const written = createMemory(writes % 4 === 3 ? JSON.parse(ownIds.at(-1) ?? '""') : newId);
    if (!ownIds.includes(written.id)) ownIds.push(written.id);
    await store.upsert(SOURCE, [written], 'upsert');
  }

  return {
    writes: () => writes,
    freeze: () => {
      isFrozen = true;
    },
    busyStore: new Proxy(store, {
      get(target, name, receiver) {
        const method: unknown = Reflect.get(target, name, receiver);
        if (typeof method !== 'function') return method;
        return async (...args: unknown[]) => {
          await write();
          return await method.apply(target, args);
        };
      },
    }),
  };
}

it('a migration during which users write goes live with every write', async () => {
  const migration = await createMigration();
  const { vectors } = migration.services;
  const writer = createWriter(vectors);
  const freezing = onRequest(migration, 'freeze', async () => writer.freeze());
  const busyServices = { vectors: writer.busyStore, ...freezing };
  await migration.start({}, busyServices);
  for (const step of ['backup', 'rebuild', 'copy'] as const) {
    await migration.finish(step, {}, busyServices);
  }
  const copied = await computeFingerprint(vectors, migration.target);
  expect(copied).not.toEqual(await computeFingerprint(vectors, SOURCE));
  await migration.openWindow();
  await migration.finish('cutover', {}, busyServices);
  expect(writer.writes()).toBeGreaterThan(40);
  expect((await migration.runs.read(RUN)).phase).toBe('live');
  const before = await computeFingerprint(vectors, SOURCE);
  expect(before.points).toBeGreaterThan(60);
  expect(await computeFingerprint(vectors, migration.target)).toEqual(before);
});
