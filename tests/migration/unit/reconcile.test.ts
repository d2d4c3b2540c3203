// A reconciliation finds every kind of difference between two collections. A repair removes all differences, and loses nothing.
import { afterEach, describe, expect, test } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { hasKeywords, readUnnamedVector } from '../../../lib/migration/points.ts';
import type { Point, PointId } from '../../../lib/migration/ports/vector-store.ts';
import {
  type ReconcileCheckpoint,
  type Reconciled,
  reconcile,
} from '../../../lib/migration/reconcile.ts';
import {
  type Difference,
  listProblems,
  NOTHING_COMPARED,
} from '../../../lib/migration/reconcile-report.ts';
import { openWalk, UNINTERRUPTED } from '../../../lib/migration/runs/journal.ts';
import {
  type CopyScene,
  compare,
  NEW,
  OLD,
  repair,
  type SceneOptions,
  startCopyScene,
} from '../support/copy-scene.ts';
import { walkPageByPage } from '../support/page-walks.ts';
import { createPoint, pointId } from '../support/vector-stores.ts';

const openScenes: CopyScene[] = [];
const COUNT = 120;
const UNUSED = pointId(3);

async function createScene(options: Partial<SceneOptions> = {}): Promise<CopyScene> {
  const started = await startCopyScene({ count: COUNT, pageSize: 50, ...options });
  openScenes.push(started);
  return started;
}

/** Creates a scene in which both collections are equal. */
async function createCopiedScene(options: Partial<SceneOptions> = {}): Promise<CopyScene> {
  const scene = await createScene(options);
  await repair(scene);
  return scene;
}

afterEach(async () => {
  for (const { sandbox } of openScenes.splice(0)) await sandbox.close();
});

async function listIds({ store }: CopyScene, collection = OLD): Promise<PointId[]> {
  const { points } = await store.scroll(collection, { limit: 10_000, vector: false });
  return points.map(({ id }) => id);
}

/** Finds the first point of the new collection whose payload matches. */
async function findPoint({ store }: CopyScene, pattern: RegExp): Promise<Point> {
  const { points } = await store.scroll(NEW, { limit: COUNT });
  const point = points.find(({ payload }) => pattern.test(payload));
  if (!point?.vector) throw new Error(`No point like ${pattern}`);
  return { ...point, vector: point.vector };
}

async function writeDenseVector({ store }: CopyScene, point: Point, dense: readonly number[]) {
  const vector = asJsonText<number[]>(JSON.stringify({ ...JSON.parse(point.vector), '': dense }));
  await store.upsert(NEW, [{ ...point, vector }], 'upsert');
}

function replaceInNew(pattern: RegExp, replacement: string) {
  return async (scene: CopyScene): Promise<void> => {
    const point = await findPoint(scene, pattern);
    const text = point.payload.replace(pattern, replacement);
    const payload = asJsonText<Record<string, unknown>>(text);
    await scene.store.upsert(NEW, [{ ...point, payload }], 'upsert');
  };
}

const USERS = 'counts per user differ';
const CONTENTS = 'contents differ';

describe('a copy into an empty collection', () => {
  test('of 1,000 awkward points is equal to its source', async () => {
    const scene = await createScene({ count: 1_000, dimensions: 16, pageSize: 256 });
    const report = await repair(scene);
    expect(report).toMatchObject({ inserted: 1_000, replaced: 0, deleted: 0, compared: 1_000 });
    expect(listProblems(report)).toEqual([]);
    const compared = await compare(scene);
    expect(compared).toMatchObject({ from: report.from, to: report.from });
    expect(listProblems(compared)).toEqual([]);
  });

  test('keeps the text of every payload, including how numbers are written', async () => {
    const { store } = await createCopiedScene();
    const request = { limit: COUNT, vector: false };
    expect(await store.scroll(NEW, request)).toEqual(await store.scroll(OLD, request));
  });

  test('gives a keyword vector to every point with words, and to no other', async () => {
    const { store } = await createCopiedScene({ count: 200 });
    const { points } = await store.scroll(NEW, { limit: 200 });
    expect(points.filter(({ vector }) => hasKeywords(vector))).toHaveLength(196);
  });

  test.each([
    ['stop words only', 'To be, or not to be: that is it'],
    ['punctuation only', '!? …'],
    ['only a word that is too long for a query', 'x'.repeat(41)],
  ])('needs no keyword vector for %s', async (_, text) => {
    const scene = await createScene({ count: 0 });
    const payload = JSON.stringify({ user_id: 'ada', data: text });
    await scene.store.upsert(OLD, [createPoint(1, payload)], 'upsert');
    expect(listProblems(await repair(scene))).toEqual([]);
  });

  test('reports the points without a keyword vector if the store makes none', async () => {
    const scene = await createScene({ count: 200, version: '1.15.2' });
    const report = await repair(scene, { keywords: 'left-empty' });
    expect([report.withoutKeywords, listProblems(report)]).toEqual([196, []]);
  });

  test('halves its batches until the store accepts them', async () => {
    const scene = await createScene({ count: 100, pageSize: 100 });
    const small = await createScene({ count: 0, maxBodyBytes: 8_000 });
    const report = await repair(scene, { to: { store: small.store, collection: NEW } });
    expect(listProblems(report)).toEqual([]);
    expect(await small.store.count(NEW)).toBe(100);
  });

  test('fails if the store refuses even a single point', async () => {
    const scene = await createScene({ count: 3 });
    const small = await createScene({ count: 0, maxBodyBytes: 150 });
    const copying = repair(scene, { to: { store: small.store, collection: NEW } });
    await expect(copying).rejects.toMatchObject({ name: 'RefusedByService' });
  });

  test('is equal to its source even if it is not read back', async () => {
    const scene = await createScene();
    const filled = await repair(scene, { mode: 'fill' });
    expect([filled.inserted, listProblems(filled)]).toEqual([COUNT, []]);
    expect(await compare(scene)).toMatchObject({ from: filled.from, to: filled.from });
    expect(listProblems(await compare(scene))).toEqual([]);
  });

  test('of an empty source is complete', async () => {
    const scene = await createScene({ count: 0 });
    expect(await reconcile(scene.settings, UNINTERRUPTED)).toEqual({ report: NOTHING_COMPARED });
  });
});

/** Changes to one of two equal collections, and the problems that a comparison then lists */
const CHANGES: readonly (readonly [
  string,
  differences: Partial<Record<Difference, number>>,
  otherProblems: readonly string[],
  change: (scene: CopyScene) => Promise<void>,
])[] = [
  [
    'new memories, before, between and after the others',
    { missing: 3 },
    [CONTENTS, USERS],
    async ({ store }) => {
      const ids = [0, 77, 'ffffffff-ffff-4fff-bfff-ffffffffffff'];
      const fresh = ids.map((id) => createPoint(id, '{"user_id":"user-1","data":"fresh"}'));
      await store.upsert(OLD, fresh, 'upsert');
    },
  ],
  [
    'a memory without a user',
    { missing: 1 },
    [CONTENTS, USERS],
    ({ store }) => store.upsert(OLD, [createPoint(0, '{"data":"of no user"}')], 'upsert'),
  ],
  [
    'deleted memories',
    { extra: 40 },
    [CONTENTS, USERS],
    async (scene) => scene.store.deletePoints(OLD, { ids: (await listIds(scene)).slice(30, 70) }),
  ],
  [
    'a point that got another id',
    { missing: 1, extra: 1 },
    [CONTENTS],
    async (scene) => {
      const moved = await findPoint(scene, /user-2"/);
      await scene.store.deletePoints(NEW, { ids: [moved.id] });
      await scene.store.upsert(NEW, [{ ...moved, id: UNUSED }], 'upsert');
    },
  ],
  ['10 instead of 10.0', { payload: 1 }, [CONTENTS], replaceInNew(/10\.0/, '10')],
  [
    'a rounded integer',
    { payload: 1 },
    [CONTENTS],
    replaceInNew(/9007199254740993/, '9007199254740992'),
  ],
  [
    'a hash that is not a string',
    { payload: 1 },
    [CONTENTS],
    replaceInNew(/"data"/, '"hash":7,"data"'),
  ],
  ['a dropped key', { payload: 1 }, [CONTENTS], replaceInNew(/"tiny":1e-7,/, '')],
  [
    'a memory of another user',
    { payload: 1 },
    [CONTENTS, USERS],
    replaceInNew(/user-3"/, 'user-4"'),
  ],
  [
    'a memory that lost its user',
    { payload: 1 },
    [CONTENTS, USERS],
    replaceInNew(/"user-3"/, 'null'),
  ],
  [
    'a user id that became a number',
    { payload: 1 },
    [CONTENTS, USERS],
    replaceInNew(/"user-3"/, '3'),
  ],
  [
    'a different vector',
    { vector: 1 },
    [],
    async (scene) => {
      await writeDenseVector(scene, await findPoint(scene, /user-5"/), [1, 0, 0, 0]);
    },
  ],
  [
    'a keyword vector that is missing',
    { keywords: 1 },
    [],
    async (scene) => {
      const point = await findPoint(scene, /user-5"/);
      const dense = readUnnamedVector(point.vector);
      await scene.store.upsert(NEW, [{ ...point, vector: asJsonText(`${dense}`) }], 'upsert');
    },
  ],
];

describe('a comparison of two collections', () => {
  test.each(CHANGES)(
    'finds %s, and a repair leaves none',
    async (_, differences, otherProblems, change) => {
      const scene = await createCopiedScene();
      await change(scene);
      const before = await compare(scene);
      const counts = Object.entries(differences).map(
        ([difference, count]) => `${difference}: ${count}`,
      );
      expect(listProblems(before)).toEqual([...counts, ...otherProblems]);
      const repaired = await repair(scene);
      expect(listProblems(repaired)).toEqual([]);
      const { inserted, replaced, deleted } = repaired;
      const { missing = 0, extra = 0, ...others } = differences;
      const changed = Object.values(others).reduce((sum, count) => sum + count, 0);
      const expected = { inserted: missing, replaced: changed, deleted: extra };
      expect({ inserted, replaced, deleted }).toEqual(expected);
      expect(await compare(scene)).toMatchObject({ from: repaired.from, to: repaired.from });
      expect(await repair(scene)).toMatchObject({ inserted: 0, replaced: 0, deleted: 0 });
    },
  );

  test('names at most twenty of the points that differ', async () => {
    const { examples, pending } = await compare(await createScene());
    expect(pending.missing).toBe(COUNT);
    expect(examples).toHaveLength(20);
  });

  test('finds nothing to repair in equal collections', async () => {
    const scene = await createCopiedScene();
    scene.sandbox.fault({ on: /^(PUT|POST .*delete)/, effect: { kind: 'response', status: 403 } });
    expect(listProblems(await repair(scene))).toEqual([]);
  });

  test('ignores the order of keys and the last bit of a vector', async () => {
    const scene = await createCopiedScene();
    const payload = '{"user_id":"a","data":"x","n":{"b":1.0,"a":2}}';
    await scene.store.upsert(OLD, [createPoint(3, payload)], 'upsert');
    const vector = '{"bm25":{"indices":[1],"values":[1]},"":[1,0,0,0]}';
    const reordered = '{"n":{"a":2,"b":1.0},"data":"x","user_id":"a"}';
    await scene.store.upsert(NEW, [createPoint(3, reordered, vector)], 'upsert');
    const point = await findPoint(scene, /user-5"/);
    const dense = JSON.parse(readUnnamedVector(point.vector) ?? '') as number[];
    const shiftFirst = (by: number) =>
      writeDenseVector(scene, point, dense.with(0, (dense[0] ?? 0) + by));
    await shiftFirst(3e-7);
    expect(listProblems(await compare(scene))).toEqual([]);
    await shiftFirst(1e-4);
    expect(listProblems(await compare(scene))).toEqual(['vector: 1']);
  });

  test('ignores the points of an excluded user on both sides', async () => {
    const scene = await createCopiedScene();
    const createExcluded = (id: number) =>
      createPoint(id, '{"user_id":"the-test-user","data":"a probe"}');
    await scene.store.upsert(OLD, [createExcluded(0)], 'upsert');
    await scene.store.upsert(NEW, [createExcluded(3)], 'upsert');
    expect(listProblems(await compare(scene))).not.toEqual([]);
    const report = await repair(scene, { excludedUser: 'the-test-user' });
    expect([report.inserted, report.deleted, listProblems(report)]).toEqual([0, 0, []]);
    expect(report.compared).toBe(COUNT);
    expect(await scene.store.retrieve(NEW, [pointId(0), pointId(3)])).toHaveLength(1);
  });
});

describe('a copy back into the old layout', () => {
  test('writes ids, payloads and dense vectors, but no keyword vectors', async () => {
    const scene = await createCopiedScene();
    const { store } = scene;
    await store.upsert(
      NEW,
      [createPoint(0, '{"data":"new"}', '{"":[1,0,0,0],"bm25":{"indices":[1],"values":[1]}}')],
      'upsert',
    );
    await store.deletePoints(NEW, { ids: (await listIds(scene)).slice(10, 12) });
    const { from: to, to: from } = scene.settings;
    const report = await repair(scene, { from, to, keywords: 'no-slot' });
    expect([report.inserted, report.deleted, listProblems(report)]).toEqual([1, 2, []]);
    expect((await store.retrieve(OLD, [pointId(0)]))[0]?.vector).toMatch(/^\[/);
  });
});

describe('while users write', () => {
  test('a memory that was created again is not deleted', async () => {
    const scene = await createCopiedScene();
    const [id = UNUSED] = await listIds(scene);
    const [original] = await scene.store.retrieve(OLD, [id]);
    await scene.store.deletePoints(OLD, { ids: [id] });
    const store: VectorStore = {
      ...scene.store,
      retrieve: async (...args) => {
        if (original?.vector)
          await scene.store.upsert(OLD, [{ ...original, vector: original.vector }], 'upsert');
        return await scene.store.retrieve(...args);
      },
    };
    const report = await repair(scene, {
      from: { store, collection: OLD },
      to: { store, collection: NEW },
    });
    expect([report.deleted, listProblems(report)]).toEqual([0, []]);
  });

  test('a memory that changes again while it is copied is copied again', async () => {
    const scene = await createScene({ count: 0 });
    const createMemory = (text: string) => createPoint(1, JSON.stringify({ data: text }));
    await scene.store.upsert(OLD, [createMemory('first')], 'upsert');
    let writes = 0;
    const store: VectorStore = {
      ...scene.store,
      upsert: async (...args) => {
        writes += 1;
        // Instead of the first write, a user changes the memory in the old collection.
        if (writes === 1) await scene.store.upsert(OLD, [createMemory('second')], 'upsert');
        else await scene.store.upsert(...args);
      },
    };
    const report = await repair(scene, { to: { store, collection: NEW } });
    expect(listProblems(report)).toEqual([]);
    expect(await scene.store.retrieve(NEW, [pointId(1)])).toMatchObject([
      { payload: '{"data":"second"}' },
    ]);
  });

  test('a point that the store does not keep is pending, not silently equal', async () => {
    const scene = await createScene({ count: 10 });
    const store: VectorStore = { ...scene.store, upsert: async () => undefined };
    const report = await repair(scene, { to: { store, collection: NEW } });
    expect(report.pending.missing).toBe(10);
    expect(report.to.points).toBe(0);
    expect(report.examples).toHaveLength(10);
    expect(listProblems(report)).toContain('missing: 10');
  });
});

describe('failures and interruptions', () => {
  test.each([
    ['the store skips existing points', '1.17.0'],
    ['existing points are read first in a store before 1.17', '1.16.3'],
  ] as const)('a write that was applied is not repeated: %s', async (_, version) => {
    const scene = await createScene({ count: 100, version });
    const { sandbox } = scene;
    sandbox.fault({ on: /^PUT .*\/points\?/, when: 'after', effect: { kind: 'drop' } });
    sandbox.fault({ on: /^POST .*scroll/, effect: { kind: 'response', status: 503 } });
    expect(listProblems(await repair(scene))).toEqual([]);
    expect(await scene.store.count(NEW)).toBe(100);
  });

  test('a refused key stops the walk, and the checkpoint of the last batch remains', async () => {
    const scene = await createScene({ count: 120 });
    const saved: number[] = [];
    const saveCursor = async ({ report }: ReconcileCheckpoint) => {
      saved.push(report.compared);
      const effect = { kind: 'response', status: 403, body: 'Forbidden' } as const;
      scene.sandbox.fault({ on: /^PUT/, effect });
    };
    const walk = openWalk({ hasTime: () => true }, { cursor: undefined, saveCursor });
    const copying = reconcile(scene.settings, walk);
    await expect(copying).rejects.toMatchObject({ name: 'RefusedCredentials' });
    expect(saved).toEqual([50]);
  });

  test('a walk stops when its time is up, and resumes without comparing anything twice', async () => {
    const scene = await createCopiedScene();
    const ids = await listIds(scene);
    await scene.store.deletePoints(NEW, { ids: [5, 100].flatMap((index) => ids[index] ?? []) });
    const { result, cursors } = await walkPageByPage<ReconcileCheckpoint, Reconciled>((walk) =>
      reconcile(scene.settings, walk),
    );
    expect(cursors.map(({ report }) => report.compared)).toEqual([50, 100]);
    expect(result.report).toMatchObject({ inserted: 2, compared: COUNT });
    expect(listProblems(result.report)).toEqual([]);
  });
});
