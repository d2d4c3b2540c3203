// The resolver decides between three versions of a memory: the active collection's, the standby's, and the last common version.
import { expect, onTestFinished, test } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import type { PointPair } from '../../../lib/migration/pairs.ts';
import { createPointWriter } from '../../../lib/migration/point-writer.ts';
import {
  type ReconcileCheckpoint,
  type ReconcilePorts,
  reconcile,
} from '../../../lib/migration/reconcile.ts';
import { listProblems } from '../../../lib/migration/reconcile-report.ts';
import { Refusal } from '../../../lib/migration/refusals.ts';
import type { ReconcileSettings } from '../../../lib/migration/resolver.ts';
import { Paused, type Walk } from '../../../lib/migration/runs/journal.ts';
import { NEW, OLD, startCopyScene } from '../support/copy-scene.ts';
import { createMemoryArtifacts } from '../support/memory-artifacts.ts';
import { openStoredWalk } from '../support/page-walks.ts';
import { createRunTable } from '../support/run-table.ts';
import { createPoint, pointId } from '../support/vector-stores.ts';

type Version = '-' | 'a' | 'b' | 'c';

const memory = (id: number, text: string) =>
  createPoint(id, JSON.stringify({ user_id: 'ada', data: text, hash: text }), '[1,0,0,0]');

async function createScene(version = '1.18.3') {
  const options = { count: 0, pageSize: 3, version };
  const { sandbox, store, settings } = await startCopyScene(options);
  onTestFinished(sandbox.close);
  const artifacts = createMemoryArtifacts(createRunTable().clock).store;
  const back = { ...settings, to: settings.from, keywords: 'no-slot' } as const;
  let base: NonNullable<ReconcilePorts['base']>['previous'];
  let walks = 0;

  /** Writes a version of a memory to one side; the old collection is the active one. */
  async function put(collection: string, id: number, version: Version): Promise<void> {
    if (version === '-') await store.deletePoints(collection, { ids: [pointId(id)] });
    else await store.upsert(collection, [memory(id, version)], 'upsert');
  }

  async function readVersion(collection: string, id: number): Promise<string> {
    const [found] = await store.retrieve(collection, [pointId(id)], { vector: false });
    return found ? JSON.parse(found.payload).data : '-';
  }

  async function walk(
    mode: ReconcileSettings['mode'],
    change: Partial<ReconcileSettings> = {},
    start: ReconcileCheckpoint | undefined = undefined,
  ) {
    walks += 1;
    const conflicts: PointPair[] = [];
    const { walk, cursors } = openStoredWalk({ cursor: start, hasTime: () => true });
    const walked = await runWalk({ mode, ...change }, walk, conflicts);
    return { ...walked, conflicts: conflicts.map(({ id }) => Number(id)), cursors };
  }

  async function runWalk(
    change: Pick<ReconcileSettings, 'mode'> & Partial<ReconcileSettings>,
    walk: Walk<ReconcileCheckpoint>,
    conflicts: PointPair[] = [],
  ) {
    const save = async (newBase: NonNullable<typeof base>) => {
      base = newBase;
    };
    return await reconcile(
      { ...settings, back, ...change },
      {
        ...walk,
        base: { artifacts, previous: base, write: { prefix: `base-${walks}`, save } },
        keepConflicts: async (pairs) => void conflicts.push(...pairs),
      },
    );
  }

  /** Ends the walk after its first page. */
  async function walkOnePage(start?: ReconcileCheckpoint): Promise<ReconcileCheckpoint> {
    walks += 1;
    const { walk, cursors } = openStoredWalk({ cursor: start });
    await expect(runWalk({ mode: 'repair' }, walk)).rejects.toBeInstanceOf(Paused);
    return cursors.at(-1) as ReconcileCheckpoint;
  }

  return { store, settings, back, put, readVersion, walk, walkOnePage, base: () => base };
}

/**
 * Columns: active, standby and last common version; then the versions on both sides (active first) after a repair, and after
 * carrying over.
 */
const TABLE: readonly (readonly [Version, Version, Version, equal: string, carried: string])[] = [
  ['a', 'a', 'a', 'aa', 'aa'],
  ['b', 'b', 'a', 'bb', 'bb'],
  ['b', 'a', 'a', 'bb', 'ba'],
  ['-', 'a', 'a', '--', '-a'],
  ['b', '-', '-', 'bb', 'b-'],
  ['a', 'b', 'a', 'bb', 'bb'],
  ['a', '-', 'a', '--', '--'],
  ['-', 'b', '-', 'bb', 'bb'],
  ['b', 'c', 'a', 'bb', 'bc'],
  ['b', '-', 'a', 'bb', 'b-'],
  ['-', 'c', 'a', '--', '-c'],
  ['b', 'c', '-', 'bb', 'bc'],
];

const CONFLICTS = TABLE.flatMap(([active, standby, base], id) =>
  new Set([active, standby, base]).size === 3 ? [id] : [],
);

/** Creates a store that applies a write, but whose client is killed before it gets the response. */
function createStoreKilledAfterWrite(store: VectorStore): VectorStore {
  return {
    ...store,
    upsert: async (...args) => {
      await store.upsert(...args);
      throw new Error('killed');
    },
  };
}

test.each([
  ['repair', 3],
  ['carry', 4],
] as const)(
  '%s: the version of the side that changed it prevails, or the active one if both changed it',
  async (mode, column) => {
    const { put, walk, readVersion } = await createScene();
    for (const [id, [, , base]] of TABLE.entries()) {
      for (const collection of [OLD, NEW]) await put(collection, id, base);
    }
    await walk('repair');
    for (const [id, [active, standby]] of TABLE.entries()) {
      await put(OLD, id, active);
      await put(NEW, id, standby);
    }
    const { conflicts, report } = await walk(mode);
    const versions = await Promise.all(
      TABLE.map(async (_, id) => `${await readVersion(OLD, id)}${await readVersion(NEW, id)}`),
    );
    expect(versions).toEqual(TABLE.map((row) => row[column]));
    expect(conflicts).toEqual(CONFLICTS);
    expect(report.strays).toMatchObject({
      writes: 3 + CONFLICTS.length,
      overruled: CONFLICTS.length,
    });
    if (mode === 'repair') expect(listProblems(report)).toEqual([]);
    // The base now equals the standby collection's contents, so nothing is carried over a second time.
    expect((await walk('carry')).report.strays.writes).toBe(0);
  },
);

test.each([
  ['emptied', '-'],
  ['changed throughout', 'b'],
] as const)(
  'a standby collection that is %s during a walk changes the active one at most up to the limit',
  async (_, damage) => {
    const { put, walk, readVersion } = await createScene();
    for (let id = 0; id < 9; id += 1) await put(OLD, id, 'a');
    await walk('repair');
    for (let id = 0; id < 9; id += 1) await put(NEW, id, damage);
    const { report } = await walk('carry', { limit: 4 });
    // Only the pages before the limit were written.
    expect(report.strays).toMatchObject({ writes: 9, withheld: 6 });
    const versions = await Promise.all(Array.from({ length: 9 }, (_, id) => readVersion(OLD, id)));
    expect(versions.filter((version) => version === 'a')).toHaveLength(6);
  },
);

test('a version that is overwritten as damage is kept in the report', async () => {
  const { put, walk, readVersion } = await createScene();
  for (let id = 0; id < 3; id += 1) await put(OLD, id, 'a');
  await walk('repair');
  await put(NEW, 0, 'b');
  await put(NEW, 1, '-');
  const { conflicts, report } = await walk('repair', { isDamaged: true });
  expect([await readVersion(NEW, 0), await readVersion(NEW, 1)]).toEqual(['a', 'a']);
  expect(conflicts).toEqual([0]);
  expect(report.strays).toMatchObject({ writes: 2, withheld: 2, overruled: 0 });
});

test('removals are counted and saved beforehand, and a kill does not reset the count', async () => {
  const { put, walk, store } = await createScene();
  for (let id = 0; id < 9; id += 1) await put(OLD, id, 'a');
  await walk('repair');
  for (let id = 0; id < 9; id += 1) await put(OLD, id, '-');
  const killable: VectorStore = {
    ...store,
    deletePoints: () => Promise.reject(new Error('killed')),
  };
  const { walk: stored, cursors } = openStoredWalk<ReconcileCheckpoint>();
  const { settings } = await createScene();
  await expect(
    reconcile(
      {
        ...settings,
        from: { store, collection: OLD },
        to: { store: killable, collection: NEW },
        limit: 5,
      },
      stored,
    ),
  ).rejects.toThrow('killed');
  expect(cursors.at(-1)?.removals).toEqual({ first: 0, second: 3 });
  const resumed = walk('repair', { limit: 5 }, cursors.at(-1));
  await expect(resumed).rejects.toMatchObject({ name: 'RefusedMassChange' });
  expect(await store.count(NEW)).toBe(9);
});

test.each([
  ['to the active collection is kept', 'carry', NEW, OLD, ['c', 'c']],
  [
    'to the standby collection is overwritten, and kept in the report',
    'repair',
    OLD,
    NEW,
    ['b', '-'],
  ],
] as const)(
  'a write %s when the other collection is carried over at the same moment',
  async (_, mode, changed, target, versions) => {
    const { put, walk, readVersion, store, settings, back } = await createScene();
    for (let id = 0; id < 3; id += 1) await put(OLD, id, 'a');
    await walk('repair');
    await put(changed, 0, 'b');
    await put(changed, 1, '-');
    const writeBefore = async (id: number) => {
      if ((await readVersion(target, id)) === 'a') await put(target, id, 'c');
    };
    const interrupted: VectorStore = {
      ...store,
      upsert: async (...args) => {
        await writeBefore(0);
        await store.upsert(...args);
      },
      deletePoints: async (...args) => {
        await writeBefore(1);
        await store.deletePoints(...args);
      },
    };
    const { report, conflicts } = await walk(mode, {
      to: { ...settings.to, store: interrupted },
      back: { ...back, to: { ...back.to, store: interrupted } },
    });
    expect([await readVersion(target, 0), await readVersion(target, 1)]).toEqual(versions);
    expect(conflicts).toEqual([0, 1]);
    expect(report.strays).toMatchObject({ writes: 2, overruled: 2 });
  },
);

test.each([
  ['carried over', 'carry', NEW],
  ['copied', 'repair', OLD],
] as const)(
  'a memory that was %s, and then deleted by its user, is not created again after a kill',
  async (_, mode, source) => {
    const { put, walk, readVersion, store, settings, back } = await createScene();
    await put(OLD, 1, 'a');
    await walk('repair');
    await put(source, 2, 'b');
    const killable = createStoreKilledAfterWrite(store);
    const killed = walk(mode, {
      to: { ...settings.to, store: killable },
      back: { ...back, to: { ...back.to, store: killable } },
    });
    await expect(killed).rejects.toThrow('killed');
    expect([await readVersion(OLD, 2), await readVersion(NEW, 2)]).toEqual(['b', 'b']);
    await put(OLD, 2, '-');
    const { conflicts } = await walk(mode);
    expect(await readVersion(OLD, 2)).toBe('-');
    expect(conflicts).toEqual([2]);
  },
);

test.each([
  ['continues', (saved: ReconcileCheckpoint) => saved],
  ['begins again', () => undefined],
] as const)(
  'a first walk that was stopped and %s does not create deleted memories again',
  async (_, chooseStart) => {
    const { put, walk, walkOnePage, readVersion } = await createScene();
    for (let id = 0; id < 9; id += 1) await put(NEW, id, 'a');
    for (const id of [0, 1, 3, 4, 5, 6, 8]) await put(OLD, id, 'a');
    const stopped = await walkOnePage();
    const { conflicts, report } = await walk('repair', {}, chooseStart(stopped));
    expect(await readVersion(OLD, 7)).toBe('-');
    expect(await readVersion(NEW, 7)).toBe('-');
    expect(conflicts).toEqual([]);
    expect(listProblems(report)).toEqual([]);
    expect((await walk('carry')).report.strays.writes).toBe(0);
  },
);

test('a memory that was created before a kill is not created again, even if the walk stops before it several times', async () => {
  const { put, walk, walkOnePage, readVersion, store, back } = await createScene();
  for (let id = 0; id < 9; id += 1) for (const name of [OLD, NEW]) await put(name, id, 'a');
  await walk('repair');
  await put(NEW, 20, 'b');
  const killable = createStoreKilledAfterWrite(store);
  const to = { ...back.to, store: killable };
  await expect(walk('repair', { back: { ...back, to } })).rejects.toThrow('killed');
  expect(await readVersion(OLD, 20)).toBe('b');
  await put(OLD, 20, '-');
  await put(OLD, 10, 'c');
  await walk('repair', {}, await walkOnePage(await walkOnePage()));
  expect([await readVersion(OLD, 10), await readVersion(OLD, 20)]).toEqual(['c', '-']);
});

test('the last common version has one segment for each resumption of a walk', async () => {
  const { put, walk, walkOnePage, base } = await createScene();
  for (let id = 0; id < 30; id += 1) for (const name of [OLD, NEW]) await put(name, id, 'a');
  await walk('repair');
  let stopped: ReconcileCheckpoint | undefined;
  const segments: number[] = [];
  for (let n = 0; n < 9; n += 1) {
    stopped = await walkOnePage(stopped);
    segments.push(base()?.segments.length ?? 0);
  }
  expect(Math.max(...segments)).toBeLessThanOrEqual(10);
  expect((await walk('repair', {}, stopped)).report.strays.writes).toBe(0);
});

test('a store without conditional writes is read right before a memory is overwritten', async () => {
  const { put, store, readVersion } = await createScene();
  for (const id of [0, 1, 2, 3]) await put(NEW, id, 'a');
  const refused = new Refusal('RefusedByService', 'Strict mode', { code: 400 });
  const strict: VectorStore = {
    ...store,
    upsert: async (collection, points, mode, filter) => {
      if (filter) throw refused;
      await store.upsert(collection, points, mode);
    },
    deletePoints: async (collection, selection) => {
      if ('filter' in selection) throw refused;
      await store.deletePoints(collection, selection);
    },
  };
  const to = { store: strict, collection: NEW };
  const writer = createPointWriter({ to, pageSize: 4, keywords: 'no-slot' }, async () => {});
  for (const id of [1, 3]) await put(NEW, id, 'b');
  await writer.replaceUnchanged(
    [0, 1].map((id) => ({ current: memory(id, 'a'), replacement: memory(id, 'c') })),
  );
  await writer.removeUnchanged([2, 3].map((id) => memory(id, 'a')));
  const versions = await Promise.all([0, 1, 2, 3].map((id) => readVersion(NEW, id)));
  expect(versions).toEqual(['c', 'b', '-', 'b']);
});

test('a memory that a user creates right before its insertion is unchanged', async () => {
  const { put, store, readVersion } = await createScene();
  const retrieve: VectorStore['retrieve'] = async (...request) => {
    const points = await store.retrieve(...request);
    await put(NEW, 0, 'b');
    return points;
  };
  const to = { store: { ...store, retrieve }, collection: NEW };
  const writer = createPointWriter({ to, pageSize: 4, keywords: 'no-slot' }, async () => {});
  await writer.insert([memory(0, 'a')]);
  expect(await readVersion(NEW, 0)).toBe('b');
});

test('a memory that a user created before its insertion is unchanged, even before 1.17', async () => {
  const { put, store, readVersion } = await createScene('1.16.3');
  await put(NEW, 0, 'b');
  const to = { store, collection: NEW };
  const writer = createPointWriter({ to, pageSize: 4, keywords: 'no-slot' }, async () => {});
  await writer.insert([memory(0, 'a')]);
  expect(await readVersion(NEW, 0)).toBe('b');
});
