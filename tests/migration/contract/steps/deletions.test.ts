// Memories that users delete stay deleted while a migration in place changes the named vectors of their collection. A store that
// optimizes the collection at that time would undo the deletions.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { SOURCE } from '../../../../sandbox/world.ts';
import { readEvidence, writeToOld } from '../../support/collections.ts';
import { Killed } from '../../support/killable-services.ts';
import { type Migration, RUN } from '../../support/migration.ts';
import { createMigrationAt, type Milestone } from '../../support/prepared.ts';

const DAY_MS = 86_400_000;
const createInPlaceAt = (milestone: Milestone) =>
  createMigrationAt(milestone, { isInPlace: true }, { inPlace: true });

const listIds = async ({ services }: Migration) =>
  (await services.vectors.scroll(SOURCE, { limit: 999, vector: false })).points.map(({ id }) => id);

async function countThreads({ services }: Migration) {
  const info = await services.vectors.readCollectionInfo(SOURCE);
  return info?.config.optimizer_config.max_optimization_threads ?? null;
}

/** Deletes a memory before and after each call to the store, up to a limit, and finds deleted memories that return. */
function addDeletingUser(migration: Migration) {
  const { vectors } = migration.services;
  const deleted: string[] = [];
  const restored: string[] = [];
  const deleteFirst = async () => {
    const [point] = (await vectors.scroll(SOURCE, { limit: 1, vector: false })).points;
    if (!point || deleted.length >= MAX_DELETED) return;
    await vectors.deletePoints(SOURCE, { ids: [point.id] });
    deleted.push(point.id);
  };
  const deleteAround =
    (name: keyof VectorStore) =>
    async (...args: unknown[]) => {
      await deleteFirst();
      const result = await (vectors[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      restored.push(...(await listIds(migration)).filter((id) => deleted.includes(id)));
      await deleteFirst();
      return result;
    };
  const names = Object.keys(vectors) as (keyof VectorStore)[];
  const changed = Object.fromEntries(names.map((name) => [name, deleteAround(name)]));
  return { deleted, restored, changes: { vectors: changed as Partial<VectorStore> } };
}

const MAX_DELETED = 40;

describe('a rebuild that adds the slot to the active collection', () => {
  it('waits until the store has optimized it, so that no deletion is undone', async () => {
    const migration = await createInPlaceAt('backed-up');
    const endOptimization = migration.qdrant.optimize(SOURCE);
    const { deleted, restored, changes } = addDeletingUser(migration);
    for (let n = 0; n < 3; n += 1) {
      const waiting = await migration.invoke('rebuild', {}, changes);
      expect(waiting).toMatchObject({
        done: false,
        waitsFor: expect.stringMatching(`^the index of ${SOURCE}: `),
      });
    }
    expect(deleted.length).toBeGreaterThan(9);
    const { artifacts } = migration.services;
    expect(await Array.fromAsync(artifacts.list(`${RUN}/base-`))).toEqual([]);
    endOptimization();
    await migration.finish('rebuild', {}, changes);
    expect((await listIds(migration)).filter((id) => deleted.includes(id))).toEqual([]);
    expect(restored).toEqual([]);
    expect(await countThreads(migration)).toBeNull();
    const { facts } = await readEvidence(migration, 'rebuild-proof');
    expect(facts).not.toHaveProperty('deletionsUndone');
  });

  it('removes and counts deleted memories that return anyway, but no new memory', async () => {
    const migration = await createInPlaceAt('backed-up');
    const { vectors } = migration.services;
    const deleted = (await listIds(migration)).slice(0, 5);
    // The store does not report that it is optimizing.
    const readCollectionInfo: VectorStore['readCollectionInfo'] = async (name) => {
      const info = await vectors.readCollectionInfo(name);
      return info && { ...info, status: 'green' };
    };
    migration.qdrant.optimize(SOURCE);
    await vectors.deletePoints(SOURCE, { ids: deleted });
    const addSparseVector: VectorStore['addSparseVector'] = async (...args) => {
      await writeToOld(migration, 'Written meanwhile');
      await vectors.addSparseVector(...args);
    };
    const before = (await listIds(migration)).length;
    await migration.finish('rebuild', {}, { vectors: { readCollectionInfo, addSparseVector } });
    const remaining = await listIds(migration);
    expect(remaining.filter((id) => deleted.includes(id))).toEqual([]);
    // One memory was written for each of the two slots.
    expect(remaining).toHaveLength(before + 2);
    const { facts } = await readEvidence(migration, 'rebuild-proof');
    expect(facts).toMatchObject({ deletionsUndone: 5 });
  });

  it.each([
    ['while the points are listed', 'takeOperationNumber'],
    ['after a process that had found the store idle was killed', 'updateCollection'],
  ] as const)('waits for an optimization that begins %s', async (_, call) => {
    const migration = await createInPlaceAt('backed-up');
    const { vectors } = migration.services;
    const [first, second] = await listIds(migration);
    let endOptimization = () => {};
    const optimizeThenCall = async (...args: unknown[]) => {
      if (args[0] === SOURCE) {
        endOptimization = migration.qdrant.optimize(SOURCE);
        await vectors.deletePoints(SOURCE, { ids: first ? [first] : [] });
        if (call === 'updateCollection') throw new Killed();
      }
      return await (vectors[call] as (...args: unknown[]) => Promise<unknown>)(...args);
    };
    const changes = { vectors: { [call]: optimizeThenCall } as Partial<VectorStore> };
    await migration.invoke('rebuild', {}, changes).catch(() => undefined);
    await vectors.deletePoints(SOURCE, { ids: second ? [second] : [] });
    expect(await migration.invoke('rebuild')).toMatchObject({ done: false });
    endOptimization();
    // Meanwhile the operator gives the optimizer more threads.
    const optimizers_config = { max_optimization_threads: 3 };
    await vectors.updateCollection(SOURCE, { optimizers_config });
    await migration.finish('rebuild');
    const remaining = await listIds(migration);
    expect(remaining.filter((id) => id === first || id === second)).toEqual([]);
    expect(await countThreads(migration)).toBe(3);
  });

  it('that is killed restores no deleted memory, and switches the optimizer on again', async () => {
    const migration = await createInPlaceAt('backed-up');
    const { vectors } = migration.services;
    const before = await listIds(migration);
    for (const call of [
      'updateCollection',
      'takeOperationNumber',
      'addSparseVector',
      'deletePoints',
    ] as const) {
      const callThenDie = async (...args: unknown[]) => {
        await (vectors[call] as (...args: unknown[]) => Promise<unknown>)(...args);
        if (args[0] === SOURCE) throw new Error('Killed');
      };
      const changes = { vectors: { [call]: callThenDie } as Partial<VectorStore> };
      await migration.invoke('rebuild', {}, changes).catch(() => undefined);
    }
    await migration.finish('rebuild');
    expect(await listIds(migration)).toEqual(before);
    expect(await countThreads(migration)).toBeNull();
    expect((await migration.runs.read(RUN)).slotChange).toBeUndefined();
  });
});

it.each([
  ['an abort', 'abort', 'copied', 'aborted'],
  ['the end of the retention', 'retention', 'live', 'closed'],
] as const)('%s in place waits for the optimizer, too', async (_, step, milestone, phase) => {
  const migration = await createInPlaceAt(milestone);
  if (step === 'retention') migration.advanceClock(31 * DAY_MS);
  const endOptimization = migration.qdrant.optimize(SOURCE);
  const [first] = await listIds(migration);
  await migration.services.vectors.deletePoints(SOURCE, { ids: first ? [first] : [] });
  expect(await migration.invoke(step)).toMatchObject({ done: false });
  endOptimization();
  await migration.finish(step);
  expect((await migration.runs.read(RUN)).phase).toBe(phase);
  expect(await listIds(migration)).not.toContain(first);
  expect(await countThreads(migration)).toBeNull();
});
