// Filling the keyword slot of a collection while users write to the collection: in the end every point has the keywords of its
// own text.
import { describe, expect, it } from 'vitest';
import type { VectorStore } from '../../../../lib/migration/adapters/qdrant.ts';
import { toJsonText } from '../../../../lib/migration/json/json-text.ts';
import { keywordTextOf } from '../../../../lib/migration/json/memory-payload.ts';
import {
  addKeywordSlot,
  countUnfilled,
  fillUnfilled,
  sampleDigest,
  WALK_START,
  walkVersions,
} from '../../../../lib/migration/keyword-fill.ts';
import { KEYWORD_MODEL, KEYWORD_SLOT } from '../../../../lib/migration/points.ts';
import { scan } from '../../../../lib/migration/scan.ts';
import { generateMemories } from '../../../../sandbox/awkward-memories.ts';
import {
  NEW_LAYOUT,
  OLD_LAYOUT,
  onEveryVectorStore,
  pointId,
} from '../../support/vector-stores.ts';

const COUNT = 300;
const IDF = { modifier: 'idf' } as const;
const renew = async () => undefined;
const EVERY = -1;
const NONE = Number.POSITIVE_INFINITY;

onEveryVectorStore((subject) => {
  it('fills missing keywords as a copy does, and touches nothing else', async () => {
    const place = await createFilled();
    const before = [await readContents(place), await sampleDigest(place)];
    await addKeywordSlot(place, IDF);
    expect(await countUnfilled(place)).toBe(COUNT);
    await fillUnfilled(place, { renew });
    expect(await countUnfilled(place)).toBe(0);
    expect([await readContents(place), await sampleDigest(place)]).toEqual(before);
    expect(await findWrongKeywords(place)).toEqual([]);
    const walk = await walkVersions(place, { since: EVERY, renew });
    expect(walk).toMatchObject({ points: COUNT, refilled: 0, isComplete: true });
  });

  it('resumes where it was interrupted', async () => {
    const place = await createFilled();
    await addKeywordSlot(place, IDF);
    const isTimeUp = () => true;
    const { filled, isComplete } = await fillUnfilled(place, { renew, isTimeUp });
    expect([await countUnfilled(place), isComplete]).toEqual([COUNT - filled, false]);
    const rest = { filled: COUNT - filled, isComplete: true };
    expect(await fillUnfilled(place, { renew, isTimeUp })).toEqual(rest);
    // The store claims so many points that the walk lists them in parts.
    const many = { ...place, store: { ...place.store, count: async () => 40_000 } };
    let from = WALK_START;
    do from = await walkVersions(many, { since: EVERY, from, renew, isTimeUp });
    while (!from.isComplete);
    const { points, digest } = await walkVersions(place, { since: NONE, renew });
    expect(from).toMatchObject({ points, digest, refilled: 0 });
  });

  describe.each(['before', 'after'] as const)('a user who writes right %s each write', (moment) => {
    it.each(Object.entries(WRITES))('%s', async (_, write) => {
      const place = await createFilled();
      await addKeywordSlot(place, IDF);
      const busy = withWrites(place.store, moment, (n) => write(subject.url, place, n));
      const users = { ...place, store: busy };
      await fillUnfilled(users, { renew });
      const { highest } = await walkVersions(users, { since: EVERY, renew });
      // From here on writes are frozen, so one more fill and one more walk must find everything.
      await fillUnfilled(place, { renew });
      await walkVersions(place, { since: highest, renew });
      const frozen = await walkVersions(place, { since: NONE, renew });
      expect(await walkVersions(place, { since: EVERY, renew })).toEqual(frozen);
      expect(frozen).toMatchObject({ points: await place.store.count(place.collection) });
      expect(await countUnfilled(place)).toBe(0);
      expect(await findWrongKeywords(place)).toEqual([]);
    });
  });

  it.each(Object.entries(WRITES))('shows that a user %s', async (_, write) => {
    const place = await createFilled();
    await addKeywordSlot(place, IDF);
    await fillUnfilled(place, { renew });
    const look = async () => {
      const { digest } = await walkVersions(place, { since: NONE, renew });
      return [digest, await countUnfilled(place)];
    };
    const before = await look();
    expect(await look()).toEqual(before);
    await write(subject.url, place, 1);
    expect(await look()).not.toEqual(before);
  });

  it('leaves a text that an upsert changed after it was read to the next walk', async () => {
    const place = await createFilled();
    await addKeywordSlot(place, IDF);
    const write = WRITES['changes a memory as mem0 does, by an upsert'];
    const busy = withWrites(place.store, 'before', async (n) => write?.(subject.url, place, n));
    await fillUnfilled({ ...place, store: busy }, { renew });
    expect(await countUnfilled(place)).toBe(1);
  });

  type Place = Awaited<ReturnType<typeof createFilled>>;

  async function createFilled() {
    const place = { store: subject.store, collection: await subject.collection(OLD_LAYOUT) };
    const points = [...generateMemories({ count: COUNT, dimensions: 4, users: 7 })];
    await subject.store.upsert(place.collection, points, 'upsert');
    return place;
  }

  /** Finds points whose keywords differ from those that the store computes for their text in a separate collection. */
  async function findWrongKeywords({ store, collection }: Place): Promise<string[]> {
    const other = await subject.collection(NEW_LAYOUT);
    const page = { limit: 1_000 };
    const { points } = await store.scroll(collection, page);
    const made = points.map(({ id, payload }) => {
      const text: string = JSON.parse(keywordTextOf(payload) ?? '""');
      const document = { text, model: KEYWORD_MODEL };
      const vector = toJsonText({ '': [1, 0, 0, 0], [KEYWORD_SLOT]: document });
      return { id, vector, payload };
    });
    await store.upsert(other, made, 'upsert');
    const expected = (await store.scroll(other, page)).points;
    return points.flatMap(({ id, vector }, at) =>
      readKeywords(vector) === readKeywords(expected[at]?.vector) ? [] : [id],
    );
  }
}, 'vectorSlots');

type Write = (
  url: string,
  place: { readonly store: VectorStore; readonly collection: string },
  n: number,
) => Promise<unknown>;

/** Writes to the first points of the collection, which the walk has already read when the write comes */
const WRITES: Readonly<Record<string, Write>> = {
  'changes a memory as mem0 does, by an upsert': async (_, { store, collection }, n) => {
    const [point] = (await store.scroll(collection, { limit: 1 })).points;
    const payload = toJsonText({ user_id: 'ada', data: `Changed for the ${n}. time` });
    const vector = toJsonText([0, 1, 0, 0]);
    if (point) await store.upsert(collection, [{ id: point.id, vector, payload }], 'upsert');
  },
  'changes the text alone': async (url, place, n) =>
    await setText(url, place, `Changed alone for the ${n}. time`),
  'takes every word away': async (url, place) => await setText(url, place, 'the of'),
  'deletes a memory': async (_, { store, collection }) => {
    const { points } = await store.scroll(collection, { limit: 2 });
    await store.deletePoints(collection, { ids: points.map(({ id }) => id) });
  },
  'creates one in front': async (_, { store, collection }, n) => {
    const payload = toJsonText({ user_id: 'ada', data: `New for the ${n}. time` });
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
  const act = async () => {
    n += 1;
    await write(n);
  };
  return {
    ...store,
    async updateVectors(...args) {
      if (moment === 'before') await act();
      await store.updateVectors(...args);
      if (moment === 'after') await act();
    },
  };
}

async function readContents(place: Parameters<typeof scan>[0]): Promise<string> {
  return (await scan(place)).contents.digest;
}

function readKeywords(vector: string | undefined): string {
  const { indices, values } = JSON.parse(vector ?? '{}')[KEYWORD_SLOT] ?? {};
  if (!indices) return 'none';
  const pairs = indices.map((index: number, at: number) => [index, values[at]]);
  return JSON.stringify(
    pairs.toSorted(([one]: number[], [other]: number[]) => Number(one) - Number(other)),
  );
}
