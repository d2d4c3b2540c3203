// Adding a vector to a collection in use, from version 1.18: the behaviour that the migration relies on
import { expect, test } from 'vitest';
import { asJsonText } from '../../../../lib/migration/json/json-text.ts';
import { KEYWORD_MODEL } from '../../../../lib/migration/points.ts';
import type { Filter, VectorUpdate } from '../../../../lib/migration/ports/vector-store.ts';
import {
  createPoint,
  NEW_LAYOUT,
  OLD_LAYOUT,
  onEveryVectorStore,
  pointId,
} from '../../support/vector-stores.ts';

const IDF = { modifier: 'idf' } as const;
const UNFILLED: Filter = { must_not: [{ has_vector: 'bm25' }] };

onEveryVectorStore((subject) => {
  test('a slot can be added from 1.18 on, and is refused by earlier versions', async () => {
    const added = subject.store.addSparseVector(await subject.collection(OLD_LAYOUT), 'bm25', IDF);
    const refused = expect.objectContaining({ name: 'RefusedByService', code: 404 });
    if (await subject.has('vectorSlots')) await added;
    else await expect(added).rejects.toEqual(refused);
  });
});

onEveryVectorStore((subject) => {
  test('a slot can be added again with the same settings, but not with others', async () => {
    const { store } = subject;
    const collection = await subject.collection(OLD_LAYOUT);
    await store.addSparseVector(collection, 'bm25', IDF);
    await store.addSparseVector(collection, 'bm25', IDF);
    const changed = store.addSparseVector(collection, 'bm25', {});
    await expect(changed).rejects.toMatchObject({ name: 'RefusedByService', code: 400 });
    expect(await readSlots(collection)).toEqual({ bm25: IDF });
  });

  test('a slot is removed with its vectors, and can be removed again', async () => {
    const { store } = subject;
    const collection = await createWithPoints('{"data":"cello"}');
    await store.updateVectors(collection, [createKeywordUpdate(1, 'cello')]);
    await store.removeVector(collection, 'bm25');
    await store.removeVector(collection, 'bm25');
    expect(await readSlots(collection)).toEqual({});
    expect(await readVector(collection, 1)).toEqual([1, 0, 0, 0]);
    await store.addSparseVector(collection, 'bm25', IDF);
    expect(await store.count(collection, UNFILLED)).toBe(1);
  });

  test('a missing collection has no slot', async () => {
    const missing = await subject.collection('not-created');
    const refused = expect.objectContaining({ name: 'RefusedByService', code: 404 });
    await expect(subject.store.addSparseVector(missing, 'bm25', IDF)).rejects.toEqual(refused);
    await expect(subject.store.removeVector(missing, 'bm25')).rejects.toEqual(refused);
  });

  test('points without the slot are counted and found, with their dense vectors and payloads', async () => {
    const { store } = subject;
    const collection = await createWithPoints(
      '{"data":"cello"}',
      '{"data":"the of"}',
      '{"n":10.0}',
    );
    expect(await store.count(collection, UNFILLED)).toBe(3);
    const updates = [
      createKeywordUpdate(1, 'cello'),
      createKeywordUpdate(2, 'the of'),
      createKeywordUpdate(3, ''),
    ];
    await store.updateVectors(collection, updates);
    expect(await store.count(collection, UNFILLED)).toBe(0);
    const vectors = [await readVector(collection, 1), await readVector(collection, 3)];
    const dense = { '': [1, 0, 0, 0] };
    expect(vectors).toMatchObject([dense, { ...dense, bm25: { indices: [] } }]);
    expect((await store.retrieve(collection, [pointId(3)]))[0]?.payload).toBe('{"n":10.0}');
    await store.upsert(collection, [createPoint(4, '{}')], 'upsert');
    const { points } = await store.scroll(collection, { limit: 9, filter: UNFILLED });
    expect(points.map(({ id }) => id)).toEqual(['4']);
  });

  test('an upsert of the whole point empties the slot, but a change of its payload does not', async () => {
    const { store } = subject;
    const collection = await createWithPoints('{"data":"cello"}', '{"data":"violin"}');
    await store.updateVectors(collection, [
      createKeywordUpdate(1, 'cello'),
      createKeywordUpdate(2, 'violin'),
    ]);
    await store.upsert(collection, [createPoint(1, '{"data":"oboe"}')], 'upsert');
    await setPayload(collection, 2, { data: 'oboe' });
    const { points } = await store.scroll(collection, { limit: 9, filter: UNFILLED });
    expect(points.map(({ id }) => id)).toEqual(['1']);
  });

  // A user may change a text after the run has read it. Then the keywords of the old text must not be stored.
  test('an update is applied only if the text has not changed since it was read', async () => {
    const { store } = subject;
    const collection = await createWithPoints('{"data":"cello"}', '{"data":"violin, too"}');
    const [stale, fresh] = [createKeywordUpdate(1, 'oboe'), createKeywordUpdate(2, 'violin, too')];
    await store.updateVectors(collection, [stale, fresh]);
    const { points } = await store.scroll(collection, { limit: 9, filter: UNFILLED });
    expect(points.map(({ id }) => id)).toEqual(['1']);
  });

  test('an update of a deleted point gets a 404, and the other points are updated', async () => {
    const { store } = subject;
    const collection = await createWithPoints('{"data":"cello"}');
    const updates = [createKeywordUpdate(99, 'deleted'), createKeywordUpdate(1, 'cello')];
    const updated = store.updateVectors(collection, updates);
    await expect(updated).rejects.toMatchObject({ name: 'RefusedByService', code: 404 });
    expect(await store.count(collection, UNFILLED)).toBe(0);
  });

  test('values of vectors that the run computes are returned as they were written', async () => {
    const { store } = subject;
    const collection = await createWithPoints('{"data":"cello"}');
    await store.addSparseVector(collection, 'own', {});
    const values = [1, 16_777_215, 8_388_609, 65_537];
    const own = { own: { indices: [0, 1, 2, 3], values } };
    const update = { id: pointId(1), vector: asJsonText<never>(JSON.stringify(own)) };
    await store.updateVectors(collection, [update]);
    const { points } = await store.scroll(collection, { limit: 1, vector: ['own'] });
    const { indices, values: stored } = JSON.parse(points[0]?.vector ?? '').own;
    expect([0, 1, 2, 3].map((index) => stored[indices.indexOf(index)])).toEqual(values);
  });

  async function createWithPoints(...payloads: string[]): Promise<string> {
    const collection = await subject.collection(NEW_LAYOUT);
    const points = payloads.map((payload, index) => createPoint(index + 1, payload));
    await subject.store.upsert(collection, points, 'upsert');
    return collection;
  }

  async function readSlots(collection: string) {
    return (await subject.store.readCollectionInfo(collection))?.config.params.sparse_vectors;
  }

  async function readVector(collection: string, id: number): Promise<unknown> {
    const [found] = await subject.store.retrieve(collection, [pointId(id)]);
    return JSON.parse(found?.vector ?? 'null');
  }

  async function setPayload(collection: string, id: number, payload: object): Promise<void> {
    const response = await fetch(
      `${subject.url}/collections/${collection}/points/payload?wait=true`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'api-key': 'secret' },
        body: JSON.stringify({ payload, points: [id] }),
      },
    );
    expect(response.status).toBe(200);
  }
}, 'vectorSlots');

/** Creates an update that makes the store compute the keyword vector of a text, if the point still has that text. */
function createKeywordUpdate(id: number, text: string): VectorUpdate {
  const document = { bm25: { text, model: KEYWORD_MODEL } };
  const condition = { key: 'data', match: { value: text } };
  const filter = text !== '' && { filter: { must: [condition] } };
  return { id: pointId(id), vector: asJsonText(JSON.stringify(document)), ...filter };
}
