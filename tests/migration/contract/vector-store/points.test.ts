// Storing, paging, counting and deleting points: the behaviour of a store that the migration relies on
import { describe, expect, test } from 'vitest';
import { asJsonText, type JsonText, verbatim } from '../../../../lib/migration/json/json-text.ts';
import { addKeywordText, KEYWORD_MODEL } from '../../../../lib/migration/points.ts';
import type { Filter } from '../../../../lib/migration/ports/vector-store.ts';
import { findUnreadableVectors } from '../../../../lib/migration/unreadable-vectors.ts';
import {
  createPoint,
  NEW_LAYOUT,
  OLD_LAYOUT,
  onEveryVectorStore,
  pointId,
} from '../../support/vector-stores.ts';

const UUID = 'c56a4180-65aa-42ec-a945-5fd21dec0538';
const filterByUser = (value: string): Filter => ({ must: [{ key: 'user_id', match: { value } }] });

onEveryVectorStore((subject) => {
  describe('payloads', () => {
    test.each([
      ['floats without a fraction', '{"n":10.0}'],
      ['integers beyond 2^53', '{"n":9007199254740993}'],
      ['negative zero', '{"n":-0.0}'],
      ['unicode', '{"text":"Grüße 👩‍👩‍👧 \u2028 日本"}'],
      ['nesting', '{"a":{"b":[{"c":[[],{},null]}]}}'],
      ['an empty object', '{}'],
    ])('keep %s', async (_, payload) => {
      const collection = await subject.collection();
      await subject.store.upsert(collection, [createPoint(1, payload)], 'upsert');
      const { points } = await subject.store.scroll(collection, { limit: 1 });
      expect(points[0]?.payload).toBe(payload);
    });
  });

  describe('a scroll', () => {
    test('returns all ids in order, integers of any size first', async () => {
      const collection = await subject.collection();
      const ids = [7, '9007199254740993', '18446744073709551615', UUID];
      const points = [...ids].reverse().map((id) => createPoint(id, '{}'));
      await subject.store.upsert(collection, points, 'upsert');
      expect(await scrollIds(collection)).toEqual(ids.map((id) => String(pointId(id))));
    });

    test('says which page is the last, even if it is full', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(
        collection,
        [createPoint(1, '{}'), createPoint(2, '{}')],
        'upsert',
      );
      const first = await subject.store.scroll(collection, { limit: 1 });
      expect(first.nextOffset).toBe('2');
      const last = await subject.store.scroll(collection, { limit: 1, offset: first.nextOffset });
      expect(last).toMatchObject({ points: [{ id: '2' }], nextOffset: null });
    });

    test('returns only the requested parts', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(
        collection,
        [createPoint(1, '{"user_id":"a","data":"x"}')],
        'upsert',
      );
      const request = { limit: 1, payload: ['user_id'], vector: false };
      const { points } = await subject.store.scroll(collection, request);
      expect(points).toEqual([{ id: '1', vector: undefined, payload: '{"user_id":"a"}' }]);
    });
  });

  describe('vectors', () => {
    test('are returned as unit vectors that stay the same when written again', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(collection, [createPoint(1, '{}', '[1,2,3,4]')], 'upsert');
      const first = await readVector(collection);
      expect(first).toEqual([0.18257418, 0.36514837, 0.5477226, 0.73029673].map(closeTo));
      await subject.store.upsert(
        collection,
        [createPoint(1, '{}', JSON.stringify(first))],
        'upsert',
      );
      expect(await readVector(collection)).toEqual(first);
    });

    test('are a JSON object only in points whose keyword slot is filled', async () => {
      const collection = await subject.collection(NEW_LAYOUT);
      const filled = '{"":[1,0,0,0],"bm25":{"indices":[7,3],"values":[0.5,1]}}';
      await subject.store.upsert(
        collection,
        [createPoint(1, '{}', filled), createPoint(2, '{}')],
        'upsert',
      );
      const { points } = await subject.store.scroll(collection, { limit: 2 });
      expect(JSON.parse(points[0]?.vector ?? '')).toMatchObject({ '': [1, 0, 0, 0], bm25: {} });
      expect(JSON.parse(points[1]?.vector ?? '')).toEqual([1, 0, 0, 0]);
    });

    test('of a keyword slot contain what was written, in any order', async () => {
      const collection = await subject.collection(NEW_LAYOUT);
      const filled = '{"":[1,0,0,0],"bm25":{"indices":[7,3,5],"values":[0.5,1,0.25]}}';
      await subject.store.upsert(collection, [createPoint(1, '{}', filled)], 'upsert');
      const [stored] = (await subject.store.scroll(collection, { limit: 1, vector: ['bm25'] }))
        .points;
      const { indices, values } = JSON.parse(stored?.vector ?? '').bm25;
      const pairs = indices.map((index: number, position: number) => [index, values[position]]);
      expect(pairs.toSorted()).toEqual([
        [3, 1],
        [5, 0.25],
        [7, 0.5],
      ]);
    });

    test('of another dimension, or for a missing slot, are refused', async () => {
      const collection = await subject.collection(OLD_LAYOUT);
      const refused = expect.objectContaining({ name: 'RefusedByService', code: 400 });
      for (const vector of ['[1,2]', '{"":[1,0,0,0],"bm25":{"indices":[1],"values":[1]}}']) {
        const write = subject.store.upsert(collection, [createPoint(1, '{}', vector)], 'upsert');
        await expect(write).rejects.toEqual(refused);
      }
      expect(await subject.store.count(collection)).toBe(0);
    });
  });

  describe('numbers beyond 32 bits', () => {
    const beyondFloat = createPoint(2, '{}', '[1e39,0.0,0.0,1.0]');

    test('are stored as null, found by no search, and refused if copied', async () => {
      const { store } = subject;
      const collection = await subject.collection(OLD_LAYOUT);
      await store.upsert(collection, [createPoint(1, '{}'), beyondFloat], 'upsert');
      const [, stored] = (await store.scroll(collection, { limit: 2 })).points;
      if (!stored?.vector) throw new Error('The point has no vector');
      expect(JSON.parse(stored.vector)).toContain(null);
      const nearest = { vector: asJsonText<readonly number[]>('[1,0,0,0]') };
      const { hits } = await store.search(collection, { nearest, limit: 9, isExact: true });
      const found = hits.filter(({ score }) => Number.isFinite(score));
      expect(found.map(({ id }) => id)).toEqual(['1']);
      const copy = { ...stored, vector: stored.vector, id: pointId(3) };
      const copied = store.upsert(collection, [copy], 'upsert');
      await expect(copied).rejects.toMatchObject({ name: 'RefusedByService', code: 400 });
    });

    test('are counted and named, unlike points without a vector', async () => {
      const collection = await subject.collection(NEW_LAYOUT);
      const points = [createPoint(1, '{}'), beyondFloat, createPoint(3, '{}', '{}')];
      await subject.store.upsert(collection, points, 'upsert');
      const found = await findUnreadableVectors({ store: subject.store, collection });
      expect(found).toEqual({ count: 1, examples: ['2'] });
    });
  });

  describe('an insert', () => {
    test('never overwrites an existing point', async ({ skip }) => {
      skip(!(await subject.has('updateMode')), 'this version overwrites');
      const collection = await subject.collection();
      await subject.store.upsert(collection, [createPoint(1, '{"v":"newer"}')], 'upsert');
      const batch = [createPoint(1, '{"v":"older"}'), createPoint(2, '{"v":"copied"}')];
      await subject.store.upsert(collection, batch, 'insert_only');
      const { points } = await subject.store.scroll(collection, { limit: 9 });
      expect(points.map(({ payload }) => payload)).toEqual(['{"v":"newer"}', '{"v":"copied"}']);
    });
  });

  describe('the keyword model', () => {
    test('makes a keyword vector of a text if the store has the model', async ({ skip }) => {
      const collection = await subject.collection(NEW_LAYOUT);
      const encodes = await subject.store.encodesKeywords(collection, 'bm25');
      skip(!encodes, 'this store has no keyword model');
      const bm25 = { text: 'She plays the cello', model: KEYWORD_MODEL };
      const vector = JSON.stringify({ '': [1, 0, 0, 0], bm25 });
      await subject.store.upsert(collection, [createPoint(1, '{}', vector)], 'upsert');
      const { points } = await subject.store.scroll(collection, { limit: 1, vector: ['bm25'] });
      expect(JSON.parse(points[0]?.vector ?? '').bm25.indices).toHaveLength(2);
    });

    test('fills the slot with an empty vector for a text of stop words', async ({ skip }) => {
      const collection = await subject.collection(NEW_LAYOUT);
      skip(!(await subject.store.encodesKeywords(collection, 'bm25')), 'no keyword model');
      const document = `{"text":"the and of","model":"${KEYWORD_MODEL}"}`;
      const vector = `{"":[0,1,0,0],"bm25":${document}}`;
      await subject.store.upsert(collection, [createPoint(1, '{}', vector)], 'upsert');
      const { points } = await subject.store.scroll(collection, { limit: 1 });
      const expected = { '': [0, 1, 0, 0], bm25: { indices: [], values: [] } };
      expect(JSON.parse(points[0]?.vector ?? '')).toEqual(expected);
    });
  });

  describe('a search', () => {
    const vector = '[1,0,0,0]' as JsonText<readonly number[]>;
    const points = [
      createPoint(1, '{"user_id":"a","data":"rows"}', '[0.6,0.8,0,0]'),
      createPoint('9007199254740993', '{"user_id":"a","data":"sails"}', '[0.8,0.6,0,0]'),
      createPoint(3, '{"user_id":"b","data":"swims"}', '[1,0,0,0]'),
    ];

    test('finds the nearest points of a user, best first, with ids of any size', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(collection, points, 'upsert');
      const request = { nearest: { vector }, filter: filterByUser('a'), limit: 10 };
      const { hits, milliseconds } = await subject.store.search(collection, request);
      expect(hits.map(({ id, score }) => [id, score])).toEqual([
        ['9007199254740993', closeTo(0.8)],
        ['1', closeTo(0.6)],
      ]);
      expect(milliseconds).toBeGreaterThan(0);
    });

    test('returns scores only of the requested points that exist', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(collection, points, 'upsert');
      const requested = ['1', '7'].map((id) => verbatim(pointId(id)));
      const filter = {
        must: [...[filterByUser('a').must].flat(), { has_id: requested }],
      } as Filter;
      const { hits } = await subject.store.search(collection, {
        nearest: { vector },
        filter,
        limit: 9,
      });
      expect(hits.map(({ id }) => id)).toEqual(['1']);
    });

    test('finds points by the keywords of a text', async ({ skip }) => {
      const collection = await subject.collection(NEW_LAYOUT);
      skip(!(await subject.store.encodesKeywords(collection, 'bm25')), 'no keyword model');
      await subject.store.upsert(collection, points.map(addKeywordText), 'upsert');
      const nearest = { slot: 'bm25', text: asJsonText<string>('"who sails"') };
      const request = { nearest, filter: filterByUser('a'), limit: 10 };
      const { hits } = await subject.store.search(collection, request);
      expect(hits.map(({ id }) => id)).toEqual(['9007199254740993']);
    });
  });

  describe('counts', () => {
    test('are exact, also with a filter', async () => {
      const collection = await subject.collection();
      await subject.store.createPayloadIndex(collection, USER_INDEX);
      const points = [
        createPoint(1, '{"user_id":"a"}'),
        createPoint(2, '{"user_id":"a"}'),
        createPoint(3, '{"user_id":"b"}'),
        createPoint(4, '{"user_id":5}'),
        createPoint(5, '{}'),
      ];
      await subject.store.upsert(collection, points, 'upsert');
      expect(await subject.store.count(collection)).toBe(5);
      expect(await subject.store.count(collection, filterByUser('a'))).toBe(2);
      const unowned: Filter = { must: [{ is_empty: { key: 'user_id' } }] };
      expect(await subject.store.count(collection, unowned)).toBe(1);
      const hits = await subject.store.facet(collection, 'user_id', 9);
      expect(hits.toSorted((first, second) => second.count - first.count)).toEqual([
        { value: 'a', count: 2 },
        { value: 'b', count: 1 },
      ]);
      expect(await subject.store.facet(collection, 'user_id', 1)).toHaveLength(1);
    });

    test('by a key are refused without an index on it', async () => {
      const collection = await subject.collection();
      const attempt = subject.store.facet(collection, 'user_id', 9);
      await expect(attempt).rejects.toMatchObject({ name: 'RefusedByService', code: 400 });
    });
  });

  describe('a deletion', () => {
    test('removes points by id, and ignores unknown ids', async () => {
      const collection = await subject.collection();
      await subject.store.upsert(
        collection,
        [createPoint(1, '{}'), createPoint(UUID, '{}')],
        'upsert',
      );
      await subject.store.deletePoints(collection, { ids: [pointId(UUID), pointId(99)] });
      expect(await scrollIds(collection)).toEqual(['1']);
    });

    test('removes points by their payload', async () => {
      const collection = await subject.collection();
      const points = [createPoint(1, '{"user_id":"warm-up"}'), createPoint(2, '{"user_id":"a"}')];
      await subject.store.upsert(collection, points, 'upsert');
      await subject.store.deletePoints(collection, { filter: filterByUser('warm-up') });
      expect(await scrollIds(collection)).toEqual(['2']);
    });

    test('needs a filter for an id larger than 2^53', async () => {
      const collection = await subject.collection();
      const ids = ['9007199254740993', '9007199254740992'].map((id) => asJsonText<number>(id));
      const points = ids.map((id) => ({ ...createPoint(1, '{}'), id }));
      await subject.store.upsert(collection, points, 'upsert');
      const filter = { must: [{ has_id: [verbatim(points[0]?.id ?? pointId(0))] }] };
      await subject.store.deletePoints(collection, { filter });
      expect(await scrollIds(collection)).toEqual(['9007199254740992']);
    });
  });

  test('a retrieval omits unknown ids', async () => {
    const collection = await subject.collection();
    await subject.store.upsert(collection, [createPoint(1, '{}')], 'upsert');
    const found = await subject.store.retrieve(collection, [pointId(1), pointId(2)]);
    expect(found.map(({ id }) => id)).toEqual(['1']);
  });

  async function scrollIds(collection: string): Promise<string[]> {
    const { points } = await subject.store.scroll(collection, { limit: 100, vector: false });
    return points.map(({ id }) => id);
  }

  async function readVector(collection: string): Promise<number[]> {
    const { points } = await subject.store.scroll(collection, { limit: 1 });
    return JSON.parse(points[0]?.vector ?? '') as number[];
  }
});

const USER_INDEX = { field_name: 'user_id', field_schema: 'keyword' } as const;

function closeTo(value: number): unknown {
  return expect.closeTo(value, 6);
}
