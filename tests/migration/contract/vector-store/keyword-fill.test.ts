// Filling the keyword slot of a collection while users write to the collection: in the end every point has the keywords of its
// own text.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { toJsonText } from '../../../../lib/migration/json/json-text.ts';
import { findKeywordText } from '../../../../lib/migration/json/memory-payload.ts';
import {
  addKeywordSlot,
  countUnfilled,
  fillUnfilled,
  sampleDigest,
  type VersionWalk,
  walkVersions,
} from '../../../../lib/migration/keyword-fill.ts';
import { KEYWORD_MODEL, KEYWORD_SLOT } from '../../../../lib/migration/points.ts';
import { Paused, UNINTERRUPTED } from '../../../../lib/migration/runs/journal.ts';
import { scan } from '../../../../lib/migration/scan.ts';
import { generateMemories } from '../../../../sandbox/awkward-memories.ts';
import { oneInEvery } from '../../../shared/support/quick-cases.ts';
import { openStoredWalk, walkPageByPage } from '../../support/page-walks.ts';
import {
  NEW_LAYOUT,
  OLD_LAYOUT,
  onEveryVectorStore,
  pointId,
} from '../../support/vector-stores.ts';

const POINT_COUNT = 300;
const IDF = { modifier: 'idf' } as const;
const renewLease = async () => undefined;
const WALK = { ...UNINTERRUPTED, renewLease };
/** Versions above which a walk fills points again */
const REFILL_ALL = -1;
const REFILL_NONE = Number.POSITIVE_INFINITY;

onEveryVectorStore((subject) => {
  it('a fill adds missing keywords as a copy does, and changes nothing else', async () => {
    const target = await createFilled();
    const before = [await readContents(target), await sampleDigest(target)];
    await addKeywordSlot(target, IDF);
    expect(await countUnfilled(target)).toBe(POINT_COUNT);
    await fillUnfilled(target, WALK);
    expect(await countUnfilled(target)).toBe(0);
    expect([await readContents(target), await sampleDigest(target)]).toEqual(before);
    expect(await findWrongKeywords(target)).toEqual([]);
    const walk = await walkVersions(target, REFILL_ALL, WALK);
    expect(walk).toMatchObject({ points: POINT_COUNT, refilled: 0 });
  });

  it('a fill and a walk continue where they were interrupted', async () => {
    const target = await createFilled();
    await addKeywordSlot(target, IDF);
    const { walk, cursors } = openStoredWalk<number>();
    await expect(fillUnfilled(target, { ...walk, renewLease })).rejects.toBeInstanceOf(Paused);
    const [filled = 0] = cursors;
    expect(await countUnfilled(target)).toBe(POINT_COUNT - filled);
    expect(await fillUnfilled(target, WALK)).toBe(POINT_COUNT - filled);
    // The store reports so many points that the walk lists them in parts.
    const large = { ...target, store: { ...target.store, count: async () => 40_000 } };
    const pageByPage = await walkPageByPage<VersionWalk, VersionWalk>((walk) =>
      walkVersions(large, REFILL_ALL, { ...walk, renewLease }),
    );
    expect(pageByPage.cursors.length).toBeGreaterThan(2);
    const { points, digest } = await walkVersions(target, REFILL_NONE, WALK);
    expect(pageByPage.result).toMatchObject({ points, digest, refilled: 0 });
  });

  describe.each(['before', 'after'] as const)('right %s each write of a fill, a user', (moment) => {
    it.each(oneInEvery(2, Object.entries(WRITES)))('%s', async (_, write) => {
      const target = await createFilled();
      await addKeywordSlot(target, IDF);
      const busyStore = withWrites(target.store, moment, (n) => write(subject.url, target, n));
      const busyTarget = { ...target, store: busyStore };
      await fillUnfilled(busyTarget, WALK);
      const { highest } = await walkVersions(busyTarget, REFILL_ALL, WALK);
      // Writes are frozen from here on, so one more fill and one more walk must find everything.
      await fillUnfilled(target, WALK);
      await walkVersions(target, highest, WALK);
      const frozen = await walkVersions(target, REFILL_NONE, WALK);
      expect(await walkVersions(target, REFILL_ALL, WALK)).toEqual(frozen);
      expect(frozen).toMatchObject({ points: await target.store.count(target.collection) });
      expect(await countUnfilled(target)).toBe(0);
      expect(await findWrongKeywords(target)).toEqual([]);
    });
  });

  it.each(Object.entries(WRITES))('shows that a user %s', async (_, write) => {
    const target = await createFilled();
    await addKeywordSlot(target, IDF);
    await fillUnfilled(target, WALK);
    const readState = async () => {
      const { digest } = await walkVersions(target, REFILL_NONE, WALK);
      return [digest, await countUnfilled(target)];
    };
    const before = await readState();
    expect(await readState()).toEqual(before);
    await write(subject.url, target, 1);
    expect(await readState()).not.toEqual(before);
  });

  it('a fill skips a text that an upsert has changed since the fill read it, and the next fill updates it', async () => {
    const target = await createFilled();
    await addKeywordSlot(target, IDF);
    const write = WRITES['changes a memory as mem0 does, by an upsert'];
    const busyStore = withWrites(target.store, 'before', async (n) =>
      write?.(subject.url, target, n),
    );
    await fillUnfilled({ ...target, store: busyStore }, WALK);
    expect(await countUnfilled(target)).toBe(1);
  });

  type Target = Awaited<ReturnType<typeof createFilled>>;

  async function createFilled() {
    const target = { store: subject.store, collection: await subject.collection(OLD_LAYOUT) };
    const points = [...generateMemories({ count: POINT_COUNT, dimensions: 4, users: 7 })];
    await subject.store.upsert(target.collection, points, 'upsert');
    return target;
  }

  /** Finds points whose keywords differ from those that the store computes for their text in a separate collection. */
  async function findWrongKeywords({ store, collection }: Target): Promise<string[]> {
    const reference = await subject.collection(NEW_LAYOUT);
    const page = { limit: 1_000 };
    const { points } = await store.scroll(collection, page);
    const copies = points.map(({ id, payload }) => {
      const text: string = JSON.parse(findKeywordText(payload) ?? '""');
      const document = { text, model: KEYWORD_MODEL };
      const vector = toJsonText({ '': [1, 0, 0, 0], [KEYWORD_SLOT]: document });
      return { id, vector, payload };
    });
    await store.upsert(reference, copies, 'upsert');
    const expected = (await store.scroll(reference, page)).points;
    return points.flatMap(({ id, vector }, index) =>
      readKeywords(vector) === readKeywords(expected[index]?.vector) ? [] : [id],
    );
  }
}, 'vectorSlots');

type Write = (
  url: string,
  target: { readonly store: VectorStore; readonly collection: string },
  n: number,
) => Promise<unknown>;

/** Writes to the first points of the collection, which the walk has already read at that time */
const WRITES: Readonly<Record<string, Write>> = {
  'changes a memory as mem0 does, by an upsert': async (_, { store, collection }, n) => {
    const [point] = (await store.scroll(collection, { limit: 1 })).points;
    const payload = toJsonText({ user_id: 'ada', data: `Change number ${n}` });
    const vector = toJsonText([0, 1, 0, 0]);
    if (point) await store.upsert(collection, [{ id: point.id, vector, payload }], 'upsert');
  },
  'changes only the text': async (url, target, n) =>
    await setText(url, target, `Change number ${n} of only the text`),
  'removes every word': async (url, target) => await setText(url, target, 'the of'),
  'deletes a memory': async (_, { store, collection }) => {
    const { points } = await store.scroll(collection, { limit: 2 });
    await store.deletePoints(collection, { ids: points.map(({ id }) => id) });
  },
  'creates a memory with the lowest id': async (_, { store, collection }, n) => {
    const payload = toJsonText({ user_id: 'ada', data: `New memory number ${n}` });
    const vector = toJsonText([0, 1, 0, 0]);
    await store.upsert(collection, [{ id: pointId(n), vector, payload }], 'upsert');
  },
};

async function setText(
  url: string,
  { store, collection }: Parameters<Write>[1],
  data: string,
): Promise<void> {
  const { points } = await store.scroll(collection, { limit: 3, vector: false, payload: false });
  const response = await fetch(`${url}/collections/${collection}/points/payload?wait=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: `{"payload":${JSON.stringify({ data })},"points":[${points.map(({ id }) => id)}]}`,
  });
  expect(response.status).toBe(200);
}

function withWrites(
  store: VectorStore,
  moment: 'before' | 'after',
  write: (n: number) => Promise<unknown>,
): VectorStore {
  let n = 0;
  const writeNext = async () => {
    n += 1;
    await write(n);
  };
  return {
    ...store,
    async updateVectors(...args) {
      if (moment === 'before') await writeNext();
      await store.updateVectors(...args);
      if (moment === 'after') await writeNext();
    },
  };
}

async function readContents(target: Parameters<typeof scan>[0]): Promise<string> {
  return (await scan(target)).contents.digest;
}

function readKeywords(vector: string | undefined): string {
  const { indices, values } = JSON.parse(vector ?? '{}')[KEYWORD_SLOT] ?? {};
  if (!indices) return 'none';
  const pairs = indices.map((index: number, position: number) => [index, values[position]]);
  return JSON.stringify(
    pairs.toSorted(([first]: number[], [second]: number[]) => Number(first) - Number(second)),
  );
}
