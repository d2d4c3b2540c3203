// The old major version of the memory backend: one unnamed vector, no keyword slot, and a graph beside the collection.
import { embed } from './embedding.ts';
import {
  countMemories,
  createMemory,
  type MemoryVersion,
  SCOPE_KEYS,
  searchWords,
  toPoint,
  type VersionSettings,
} from './memory-version.ts';

/** Reads the edges of a user's graph. */
type GraphReader = (userId: string) => Promise<unknown[]>;

export async function startOldVersion(
  settings: VersionSettings & { readonly graph?: GraphReader },
): Promise<MemoryVersion> {
  const { store, collection, dimensions, now, graph = async () => [] } = settings;
  if (!(await store.listCollections()).includes(collection)) {
    await store.createCollection(collection, {
      vectors: { size: dimensions, distance: 'Cosine', on_disk: false },
    });
    for (const field_name of SCOPE_KEYS) {
      await store.createPayloadIndex(collection, { field_name, field_schema: 'keyword' });
    }
  }

  async function add(userId: string, text: string): Promise<string[]> {
    const point = toPoint(embed(text, dimensions), createMemory(userId, text, now()));
    await store.upsert(collection, [point], 'upsert');
    return [JSON.parse(point.id)];
  }

  return {
    add,
    search: (userId, query) => searchWords(settings, userId, query),
    count: (userId) => countMemories(settings, userId),
    relationships: async (userId) => ({ relationships: await graph(userId) }),
  };
}
