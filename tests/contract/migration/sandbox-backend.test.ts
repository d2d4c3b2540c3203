// The traps of the real thing that the sandbox's backend has as well, as far as no test of a step meets them.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createQdrant, type VectorStore } from '../../../lib/migration/adapters/qdrant.ts';
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
  return {
    ids,
    vector: JSON.parse(point?.vector ?? 'null'),
    payload: JSON.parse(point?.payload ?? 'null'),
    collections: (await store.listCollections()).toSorted(),
  };
}

it('the old version drops the keyword vector of a point it writes into a new collection', async () => {
  await startNewVersion(settings('memories'));
  const version = await startOldVersion(settings('memories'));
  await version.add('ada', SENTENCE);
  const [point] = (await store.scroll('memories', { limit: 1 })).points;
  expect(JSON.parse(point?.vector ?? '')).toHaveLength(8);
});

it('the new version silently falls back to meaning alone in a collection without the slot', async () => {
  await startOldVersion(settings('memories_v3'));
  const { ids, vector } = await firstWrite();
  expect(ids).toHaveLength(1);
  expect(vector).toHaveLength(8);
});

it('the new version has no companion and the text as it was without the language model', async () => {
  const { payload, collections } = await firstWrite({ noLanguageModel: true });
  expect(payload.text_lemmatized).toBe(payload.data);
  expect(collections).toEqual(['memories_v3']);
});
