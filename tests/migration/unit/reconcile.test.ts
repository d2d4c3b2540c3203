// A reconciliation finds every kind of difference between two collections. With repair, no difference remains, and nothing is
// lost.
import { afterEach, describe, expect, test } from 'vitest';
import type { VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { asJsonText } from '../../../lib/migration/json/json-text.ts';
import { hasKeywords, unnamedVectorOf } from '../../../lib/migration/points.ts';
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
import { createPoint, pointId } from '../support/vector-stores.ts';
import { walkInPieces } from '../support/walk-in-pieces.ts';

const opened: CopyScene[] = [];
const COUNT = 120;
const UNUSED = pointId(3);

async function scene(options: Partial<SceneOptions> = {}): Promise<CopyScene> {
  const started = await startCopyScene({ count: COUNT, pageSize: 50, ...options });
  opened.push(started);
  return started;
}

/** Creates a scene in which both collections are equal. */
async function copyScene(options: Partial<SceneOptions> = {}): Promise<CopyScene> {
  const set = await scene(options);
  await repair(set);
  return set;
}

afterEach(async () => {
  for (const { sandbox } of opened.splice(0)) await sandbox.close();
});

async function listIds({ store }: CopyScene, collection = OLD): Promise<PointId[]> {
  const { points } = await store.scroll(collection, { limit: 10_000, vector: false });
  return points.map(({ id }) => id);
}

/** Finds the first point of the new collection whose payload matches. */
async function findPoint({ store }: CopyScene, pattern: RegExp): Promise<Point> {
  const { points } = await store.scroll(NEW, { limit: COUNT });
  const found = points.find(({ payload }) => pattern.test(payload));
  if (!found?.vector) throw new Error(`No point like ${pattern}`);
  return { ...found, vector: found.vector };
}

async function withDense({ store }: CopyScene, found: Point, dense: readonly number[]) {
  const vector = asJsonText<number[]>(JSON.stringify({ ...JSON.parse(found.vector), '': dense }));
  await store.upsert(NEW, [{ ...found, vector }], 'upsert');
}

function replaceInNew(pattern: RegExp, replacement: string) {
  return async (set: CopyScene): Promise<void> => {
    const found = await findPoint(set, pattern);
    const text = found.payload.replace(pattern, replacement);
    const payload = asJsonText<Record<string, unknown>>(text);
    await set.store.upsert(NEW, [{ ...found, payload }], 'upsert');
  };
}

const USERS = 'counts per user differ';
const CONTENTS = 'contents differ';

describe('a copy into an empty collection', () => {
  test('of 1,000 awkward points is equal to its source', async () => {
    const set = await scene({ count: 1_000, dimensions: 16, pageSize: 256 });
    const report = await repair(set);
    expect(report).toMatchObject({ inserted: 1_000, replaced: 0, deleted: 0, compared: 1_000 });
    expect(listProblems(report)).toEqual([]);
    const checked = await compare(set);
    expect(checked).toMatchObject({ from: report.from, to: report.from });
    expect(listProblems(checked)).toEqual([]);
  });

  test('keeps the text of every payload, including how numbers are written', async () => {
    const { store } = await copyScene();
    const request = { limit: COUNT, vector: false };
    expect(await store.scroll(NEW, request)).toEqual(await store.scroll(OLD, request));
  });

  test('gives a keyword vector to every point with words, and to no other', async () => {
    const { store } = await copyScene({ count: 200 });
    const { points } = await store.scroll(NEW, { limit: 200 });
    expect(points.filter(({ vector }) => hasKeywords(vector))).toHaveLength(196);
  });

  test.each([
    ['stop words only', 'To be, or not to be: that is it'],
    ['nothing but signs', '!? …'],
    ['no token that a query could ask for', 'x'.repeat(41)],
  ])('needs no keyword vector of %s', async (_, text) => {
    const set = await scene({ count: 0 });
    const payload = JSON.stringify({ user_id: 'ada', data: text });
    await set.store.upsert(OLD, [createPoint(1, payload)], 'upsert');
    expect(listProblems(await repair(set))).toEqual([]);
  });

  test('reports the points without a keyword vector where the store makes none', async () => {
    const set = await scene({ count: 200, version: '1.15.2' });
    const report = await repair(set, { keywords: 'left-empty' });
    expect([report.withoutKeywords, listProblems(report)]).toEqual([196, []]);
  });

  test('halves its batches until the store accepts them', async () => {
    const set = await scene({ count: 100, pageSize: 100 });
    const small = await scene({ count: 0, maxBodyBytes: 8_000 });
    const report = await repair(set, { to: { store: small.store, collection: NEW } });
    expect(listProblems(report)).toEqual([]);
    expect(await small.store.count(NEW)).toBe(100);
  });

  test('fails and names a single point that the store does not accept', async () => {
    const set = await scene({ count: 3 });
    const small = await scene({ count: 0, maxBodyBytes: 150 });
    const copying = repair(set, { to: { store: small.store, collection: NEW } });
    await expect(copying).rejects.toMatchObject({ name: 'RefusedByService' });
  });

  test('without reading back is equal as well', async () => {
    const set = await scene();
    const filled = await repair(set, { mode: 'fill' });
    expect([filled.inserted, listProblems(filled)]).toEqual([COUNT, []]);
    expect(await compare(set)).toMatchObject({ from: filled.from, to: filled.from });
    expect(listProblems(await compare(set))).toEqual([]);
  });

  test('of an empty collection is complete', async () => {
    const set = await scene({ count: 0 });
    expect(await reconcile(set.settings, UNINTERRUPTED)).toEqual({ report: NOTHING_COMPARED });
  });
});

/** Change to one of two equal collections, the difference found, and its repair */
const CHANGES: readonly (readonly [
  string,
  found: Partial<Record<Difference, number>>,
  also: readonly string[],
  happens: (set: CopyScene) => Promise<void>,
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
    async (set) => set.store.deletePoints(OLD, { ids: (await listIds(set)).slice(30, 70) }),
  ],
  [
    'a point under another id',
    { missing: 1, extra: 1 },
    [CONTENTS],
    async (set) => {
      const moved = await findPoint(set, /user-2"/);
      await set.store.deletePoints(NEW, { ids: [moved.id] });
      await set.store.upsert(NEW, [{ ...moved, id: UNUSED }], 'upsert');
    },
  ],
  ['10 for 10.0', { payload: 1 }, [CONTENTS], replaceInNew(/10\.0/, '10')],
  [
    'a rounded integer',
    { payload: 1 },
    [CONTENTS],
    replaceInNew(/9007199254740993/, '9007199254740992'),
  ],
  ['a hash that is no text', { payload: 1 }, [CONTENTS], replaceInNew(/"data"/, '"hash":7,"data"')],
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
    'another vector',
    { vector: 1 },
    [],
    async (set) => {
      await withDense(set, await findPoint(set, /user-5"/), [1, 0, 0, 0]);
    },
  ],
  [
    'a keyword vector that is missing',
    { keywords: 1 },
    [],
    async (set) => {
      const found = await findPoint(set, /user-5"/);
      const dense = unnamedVectorOf(found.vector);
      await set.store.upsert(NEW, [{ ...found, vector: asJsonText(`${dense}`) }], 'upsert');
    },
  ],
];

describe('a comparison of two collections', () => {
  test.each(CHANGES)('finds %s, and a repair leaves none', async (_, found, also, happens) => {
    const set = await copyScene();
    await happens(set);
    const before = await compare(set);
    const counts = Object.entries(found).map(([difference, count]) => `${difference}: ${count}`);
    expect(listProblems(before)).toEqual([...counts, ...also]);
    const repaired = await repair(set);
    expect(listProblems(repaired)).toEqual([]);
    const { inserted, replaced, deleted } = repaired;
    const { missing = 0, extra = 0, ...others } = found;
    const changed = Object.values(others).reduce((sum, count) => sum + count, 0);
    const counted = { inserted: missing, replaced: changed, deleted: extra };
    expect({ inserted, replaced, deleted }).toEqual(counted);
    expect(await compare(set)).toMatchObject({ from: repaired.from, to: repaired.from });
    expect(await repair(set)).toMatchObject({ inserted: 0, replaced: 0, deleted: 0 });
  });

  test('names at most twenty of the points that differ', async () => {
    const { examples, pending } = await compare(await scene());
    expect(pending.missing).toBe(COUNT);
    expect(examples).toHaveLength(20);
  });

  test('that are equal writes nothing', async () => {
    const set = await copyScene();
    set.sandbox.fault({ on: /^(PUT|POST .*delete)/, effect: { kind: 'answer', status: 403 } });
    expect(listProblems(await repair(set))).toEqual([]);
  });

  test('ignores the order of keys and the last bit of a vector', async () => {
    const set = await copyScene();
    const payload = '{"user_id":"a","data":"x","n":{"b":1.0,"a":2}}';
    await set.store.upsert(OLD, [createPoint(3, payload)], 'upsert');
    const vector = '{"bm25":{"indices":[1],"values":[1]},"":[1,0,0,0]}';
    const reordered = '{"n":{"a":2,"b":1.0},"data":"x","user_id":"a"}';
    await set.store.upsert(NEW, [createPoint(3, reordered, vector)], 'upsert');
    const nearly = await findPoint(set, /user-5"/);
    const dense = JSON.parse(unnamedVectorOf(nearly.vector) ?? '') as number[];
    const withFirst = (by: number) => withDense(set, nearly, dense.with(0, (dense[0] ?? 0) + by));
    await withFirst(3e-7);
    expect(listProblems(await compare(set))).toEqual([]);
    await withFirst(1e-4);
    expect(listProblems(await compare(set))).toEqual(['vector: 1']);
  });

  test('leaves the points of one user alone on both sides', async () => {
    const set = await copyScene();
    const own = (id: number) => createPoint(id, '{"user_id":"the-test-user","data":"a probe"}');
    await set.store.upsert(OLD, [own(0)], 'upsert');
    await set.store.upsert(NEW, [own(3)], 'upsert');
    expect(listProblems(await compare(set))).not.toEqual([]);
    const report = await repair(set, { without: 'the-test-user' });
    expect([report.inserted, report.deleted, listProblems(report)]).toEqual([0, 0, []]);
    expect(report.compared).toBe(COUNT);
    expect(await set.store.retrieve(NEW, [pointId(0), pointId(3)])).toHaveLength(1);
  });
});

describe('a copy back into the old layout', () => {
  test('writes ids, payloads and dense vectors, but no keyword vectors', async () => {
    const set = await copyScene();
    const { store } = set;
    await store.upsert(
      NEW,
      [createPoint(0, '{"data":"new"}', '{"":[1,0,0,0],"bm25":{"indices":[1],"values":[1]}}')],
      'upsert',
    );
    await store.deletePoints(NEW, { ids: (await listIds(set)).slice(10, 12) });
    const { from: to, to: from } = set.settings;
    const report = await repair(set, { from, to, keywords: 'no-slot' });
    expect([report.inserted, report.deleted, listProblems(report)]).toEqual([1, 2, []]);
    expect((await store.retrieve(OLD, [pointId(0)]))[0]?.vector).toMatch(/^\[/);
  });
});

describe('while users write', () => {
  test('a memory that was created again is not deleted', async () => {
    const set = await copyScene();
    const [id = UNUSED] = await listIds(set);
    const [kept] = await set.store.retrieve(OLD, [id]);
    await set.store.deletePoints(OLD, { ids: [id] });
    const store: VectorStore = {
      ...set.store,
      retrieve: async (...args) => {
        if (kept?.vector) await set.store.upsert(OLD, [{ ...kept, vector: kept.vector }], 'upsert');
        return await set.store.retrieve(...args);
      },
    };
    const report = await repair(set, {
      from: { store, collection: OLD },
      to: { store, collection: NEW },
    });
    expect([report.deleted, listProblems(report)]).toEqual([0, []]);
  });

  test('a memory that changes again while it is copied is copied again', async () => {
    const set = await scene({ count: 0 });
    const written = (text: string) => createPoint(1, JSON.stringify({ data: text }));
    await set.store.upsert(OLD, [written('first')], 'upsert');
    let writes = 0;
    const store: VectorStore = {
      ...set.store,
      upsert: async (...args) => {
        writes += 1;
        // Instead of the first write, a user changes the memory in the old collection.
        if (writes === 1) await set.store.upsert(OLD, [written('second')], 'upsert');
        else await set.store.upsert(...args);
      },
    };
    const report = await repair(set, { to: { store, collection: NEW } });
    expect(listProblems(report)).toEqual([]);
    expect(await set.store.retrieve(NEW, [pointId(1)])).toMatchObject([
      { payload: '{"data":"second"}' },
    ]);
  });

  test('a point that the store does not keep is pending, not silently equal', async () => {
    const set = await scene({ count: 10 });
    const store: VectorStore = { ...set.store, upsert: async () => undefined };
    const report = await repair(set, { to: { store, collection: NEW } });
    expect(report.pending.missing).toBe(10);
    expect(report.to.points).toBe(0);
    expect(report.examples).toHaveLength(10);
    expect(listProblems(report)).toContain('missing: 10');
  });
});

describe('failures and interruptions', () => {
  test.each([
    ['by the store', '1.17.0'],
    ['by asking first, before 1.17', '1.16.3'],
  ] as const)('a write that has arrived is not repeated: %s', async (_, version) => {
    const set = await scene({ count: 100, version });
    const { sandbox } = set;
    sandbox.fault({ on: /^PUT .*\/points\?/, when: 'after', effect: { kind: 'drop' } });
    sandbox.fault({ on: /^POST .*scroll/, effect: { kind: 'answer', status: 503 } });
    expect(listProblems(await repair(set))).toEqual([]);
    expect(await set.store.count(NEW)).toBe(100);
  });

  test('a refused key stops it, with the checkpoint of the last batch', async () => {
    const set = await scene({ count: 120 });
    const saved: number[] = [];
    const keep = async ({ report }: ReconcileCheckpoint) => {
      saved.push(report.compared);
      const answer = { kind: 'answer', status: 403, body: 'Forbidden' } as const;
      set.sandbox.fault({ on: /^PUT/, effect: answer });
    };
    const walk = openWalk({ hasTime: () => true }, { cursor: undefined, keep });
    const copying = reconcile(set.settings, walk);
    await expect(copying).rejects.toMatchObject({ name: 'RefusedCredentials' });
    expect(saved).toEqual([50]);
  });

  test('it stops when time is up and resumes where it was, comparing nothing twice', async () => {
    const set = await copyScene();
    const ids = await listIds(set);
    await set.store.deletePoints(NEW, { ids: [5, 100].flatMap((at) => ids[at] ?? []) });
    const { found, kept } = await walkInPieces<ReconcileCheckpoint, Reconciled>((walk) =>
      reconcile(set.settings, walk),
    );
    expect(kept.map(({ report }) => report.compared)).toEqual([50, 100]);
    expect(found.report).toMatchObject({ inserted: 2, compared: COUNT });
    expect(listProblems(found.report)).toEqual([]);
  });
});
