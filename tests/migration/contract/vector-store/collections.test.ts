// Collections and aliases: the behaviour of a store that the migration relies on
import type { Schemas } from '@qdrant/js-client-rest';
import { expect, test } from 'vitest';
import {
  copyConfiguration,
  readConfiguration,
  readFixedSettings,
} from '../../../../lib/migration/configuration.ts';
import type { CollectionSettings } from '../../../../lib/migration/ports/vector-store.ts';
import {
  createAlias,
  createPoint,
  NEW_LAYOUT,
  OLD_LAYOUT,
  onEveryVectorStore,
} from '../../support/vector-stores.ts';

const CONFIGURED: CollectionSettings = {
  vectors: {
    size: 4,
    distance: 'Cosine',
    on_disk: true,
    datatype: 'float16',
    hnsw_config: { m: 24 },
  },
  hnsw_config: { m: 32, ef_construct: 200, on_disk: true },
  quantization_config: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } },
  optimizers_config: { indexing_threshold: 5_000 },
  shard_number: 2,
  replication_factor: 2,
  write_consistency_factor: 2,
  on_disk_payload: false,
  strict_mode_config: { enabled: true, max_query_limit: 10_000 },
};

onEveryVectorStore((subject) => {
  test('the store reports its version and that it is ready', async () => {
    expect(await subject.store.fetchVersion()).toMatch(/^\d+\.\d+\.\d+/);
    expect(await subject.store.isReady()).toBe(true);
    expect(await subject.store.countNodes()).toBeGreaterThanOrEqual(1);
  });

  test('the collection info reports the dense vector, and the keyword slot if there is one', async () => {
    const old = await subject.store.readCollectionInfo(await subject.collection(OLD_LAYOUT));
    expect(old?.config.params.vectors).toMatchObject({ size: 4, distance: 'Cosine' });
    expect(old?.config.params.sparse_vectors ?? null).toBeNull();
    const current = await subject.store.readCollectionInfo(await subject.collection(NEW_LAYOUT));
    expect(current?.config.params.sparse_vectors?.bm25?.modifier).toBe('idf');
  });

  test("a collection gets another one's configuration and payload indexes", async () => {
    const from = await subject.collection(CONFIGURED);
    const index = { field_name: 'user_id', field_schema: { type: 'keyword', is_tenant: true } };
    await subject.store.createPayloadIndex(from, index as Schemas['CreateFieldIndex']);
    const to = await subject.collection();
    await copyConfiguration(subject.store, { from, to });
    await copyConfiguration(subject.store, { from, to });
    const [source, target] = await Promise.all([from, to].map(subject.store.readCollectionInfo));
    if (!source || !target) throw new Error('A collection is missing');
    expect(readConfiguration(target)).toEqual(readConfiguration(source));
    expect(readConfiguration(target)).toMatchObject({
      hnsw_config: { m: 32, on_disk: true },
      optimizers_config: { indexing_threshold: 5_000 },
      params: { replication_factor: 2, write_consistency_factor: 2, on_disk_payload: false },
      quantization_config: CONFIGURED.quantization_config,
      strict_mode_config: CONFIGURED.strict_mode_config,
      vectors: { '': { on_disk: true, hnsw_config: { m: 24 } } },
    });
    expect(target.payload_schema).toEqual(source.payload_schema);
    expect(target.config.params.sparse_vectors?.bm25?.modifier).toBe('idf');
    expect(readFixedSettings(source)).toEqual({ shard_number: 2, datatype: 'float16' });
    expect(readFixedSettings(target)).toEqual({ shard_number: 1, datatype: 'float32' });
  });

  test('reading or deleting a missing collection is not an error', async () => {
    const name = await subject.collection('not-created');
    expect(await subject.store.readCollectionInfo(name)).toBeUndefined();
    expect(await subject.store.collectionExists(name)).toBe(false);
    expect(await subject.store.deleteCollection(name)).toBe(false);
  });

  test('a count of the points of a missing collection gets a 404', async () => {
    const name = await subject.collection('not-created');
    await expect(subject.store.count(name)).rejects.toMatchObject({ code: 404 });
  });

  test('an existing collection is not created again', async () => {
    const name = await subject.collection();
    const repeated = subject.store.createCollection(name, NEW_LAYOUT);
    await expect(repeated).rejects.toMatchObject({ name: 'RefusedByService', code: 409 });
  });

  test('an alias exists and is followed, but is not listed as a collection, and no collection can take its name', async () => {
    const collection = await subject.collection();
    const alias = await subject.collection('not-created');
    await subject.store.upsert(collection, [createPoint(1, '{}')], 'upsert');
    await createAlias(subject.url, alias, collection);
    expect(await subject.store.collectionExists(alias)).toBe(true);
    expect(await subject.store.count(alias)).toBe(1);
    expect(await subject.store.listCollections()).not.toContain(alias);
    await expect(subject.store.createCollection(alias, OLD_LAYOUT)).rejects.toThrow(/[Aa]lias/);
  });

  test('aliases are deleted with their collection', async () => {
    const collection = await subject.collection();
    const alias = await subject.collection('not-created');
    await createAlias(subject.url, alias, collection);
    expect(await listAliasesOf(collection)).toEqual([alias]);
    await subject.store.deleteCollection(collection);
    expect(await listAliasesOf(collection)).toEqual([]);
  });

  async function listAliasesOf(collection: string): Promise<string[]> {
    const aliases = await subject.store.listAliases();
    return aliases
      .filter(({ collection_name }) => collection_name === collection)
      .map(({ alias_name }) => alias_name);
  }
});
