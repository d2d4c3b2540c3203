// The traps of the real thing that the sandbox's backend has as well, so that a rehearsal meets them.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
import { ofUser } from '../../../sandbox/memory-backend/memory-version.ts';
import { type Shortcomings, startNewVersion } from '../../../sandbox/memory-backend/new-version.ts';
import { startOldVersion } from '../../../sandbox/memory-backend/old-version.ts';
import { type QdrantSandbox, startQdrantSandbox } from '../../../sandbox/qdrant/server.ts';

const SENTENCE = 'My colleague Grace Hopper lives in Amsterdam and plays the cello';

let qdrant: QdrantSandbox;
let store: VectorStore;

beforeEach(async () => {
  qdrant = await startQdrantSandbox();
  store = createQdrant({ url: qdrant.url });
});

afterEach(() => qdrant.close());

function settings(collection: string) {
  return { store, collection, dimensions: 8, now: () => new Date('2026-03-01T09:00:00Z') };
}

async function firstWrite(shortcomings: Shortcomings = {}) {
  const version = await startNewVersion({ ...settings('memories_v3'), shortcomings });
  const ids = await version.add('ada', SENTENCE);
  const [point] = (await store.scroll('memories_v3', { limit: 1 })).points;
  const info = await store.collectionInfo('memories_v3');
  return {
    ids,
    vector: JSON.parse(point?.vector ?? 'null'),
    payload: JSON.parse(point?.payload ?? 'null'),
    slot: info?.config.params.sparse_vectors?.bm25,
    collections: (await store.listCollections()).toSorted(),
  };
}

describe('the old version', () => {
  it('makes its collection when it starts, without the slot', async () => {
    await startOldVersion(settings('memories'));
    const params = (await store.collectionInfo('memories'))?.config.params;
    expect(params?.vectors).toMatchObject({ size: 8, distance: 'Cosine' });
    expect(params?.sparse_vectors?.bm25).toBeUndefined();
  });

  it('drops the keyword vector of a point it writes into a new collection', async () => {
    await startNewVersion(settings('memories'));
    const version = await startOldVersion(settings('memories'));
    await version.add('ada', SENTENCE);
    const [point] = (await store.scroll('memories', { limit: 1 })).points;
    expect(JSON.parse(point?.vector ?? '')).toHaveLength(8);
  });

  it('counts no more than its listing returns', async () => {
    const version = await startOldVersion({ ...settings('memories'), statsCap: 2 });
    for (const n of [1, 2, 3]) await version.add('ada', `Fact ${n}`);
    expect(await version.count('ada')).toBe(2);
    expect(await store.count('memories', ofUser('ada'))).toBe(3);
  });
});

describe('the new version', () => {
  it('makes its collection with the slot, and the companion with the first entity', async () => {
    const { vector, payload, slot, collections } = await firstWrite();
    expect(slot).toEqual({ modifier: 'idf' });
    expect(vector).toMatchObject({ '': expect.any(Array), bm25: { indices: expect.any(Array) } });
    expect(payload.text_lemmatized).not.toBe(payload.data);
    expect(collections).toEqual(['memories_v3', 'memories_v3_entities']);
  });

  it('falls back to meaning alone, without a word, in a collection without the slot', async () => {
    await startOldVersion(settings('memories_v3'));
    const { ids, vector } = await firstWrite();
    expect(ids).toHaveLength(1);
    expect(vector).toHaveLength(8);
  });

  it('writes no keyword vector without the model, and says nothing', async () => {
    const { vector, slot } = await firstWrite({ noKeywordModel: true });
    expect(slot).toEqual({ modifier: 'idf' });
    expect(vector).toHaveLength(8);
  });

  it('has no companion and the text as it was without the language model', async () => {
    const { payload, collections } = await firstWrite({ noLanguageModel: true });
    expect(payload.text_lemmatized).toBe(payload.data);
    expect(collections).toEqual(['memories_v3']);
  });

  it('may find nothing to remember', async () => {
    const { ids, collections } = await firstWrite({ emptyExtractions: 1 });
    expect(ids).toEqual([]);
    expect(collections).toEqual(['memories_v3']);
  });

  it('may weigh wrongly, or use another model of embeddings', async () => {
    expect((await firstWrite({ slotWithoutIdf: true })).slot?.modifier).toBeUndefined();
    await store.deleteCollection('memories_v3');
    await store.deleteCollection('memories_v3_entities');
    expect((await firstWrite({ otherDimensions: 4 })).vector['']).toHaveLength(4);
  });
});
