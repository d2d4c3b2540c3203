// The new major version of the memory backend. It searches by meaning and keywords if the collection has the keyword slot, and
// silently by meaning alone if not. The slot is checked once, at startup; the companion collection is created with the first
// entity.
import { hasKeywords, readUnnamedVector } from '../../lib/migration/points.ts';
import type { PointVector } from '../../lib/migration/ports/vector-store.ts';
import { encodeBm25 } from '../qdrant/bm25.ts';
import { embed } from './embedding.ts';
import {
  countMemories,
  countShared,
  createMemory,
  filterByUser,
  type MemoryVersion,
  readText,
  SCOPE_KEYS,
  splitWords,
  toPoint,
  type VersionSettings,
} from './memory-version.ts';

/** mem0 omits results with a lower score. */
const MIN_SCORE = 0.1;

/** Faults of the deployed image; none by default. */
export interface Shortcomings {
  /** The keyword model is missing from the image, so no keyword vectors are made. */
  readonly noKeywordModel?: boolean;
  /** The language model is missing, so entities are not found and words are not lemmatized. */
  readonly noLanguageModel?: boolean;
  /** Number of texts, from the first, in which the extraction finds nothing worth remembering. */
  readonly emptyExtractions?: number;
  /** The slot is created without IDF, the weight of rare words. */
  readonly slotWithoutIdf?: boolean;
  /** The configuration names a different embedding model, whose vectors have this many dimensions. */
  readonly otherDimensions?: number;
  /** The configuration names a different embedding model, with as many dimensions as the old one. */
  readonly otherEmbeddings?: boolean;
}

export async function startNewVersion(
  settings: VersionSettings & { readonly shortcomings?: Shortcomings },
): Promise<MemoryVersion> {
  const { store, collection, now, shortcomings = {} } = settings;
  const dimensions = shortcomings.otherDimensions ?? settings.dimensions;
  let emptyExtractions = shortcomings.emptyExtractions ?? 0;

  async function ensureCollection(name: string): Promise<void> {
    if ((await store.listCollections()).includes(name)) return;
    const slot = shortcomings.slotWithoutIdf ? {} : { modifier: 'idf' as const };
    await store.createCollection(name, {
      vectors: { size: dimensions, distance: 'Cosine', on_disk: false },
      sparse_vectors: { bm25: slot },
    });
    for (const field_name of SCOPE_KEYS) {
      await store.createPayloadIndex(name, { field_name, field_schema: 'keyword' });
    }
  }

  await ensureCollection(collection);
  const params = (await store.readCollectionInfo(collection))?.config.params;
  const isHybrid = params?.sparse_vectors?.bm25 !== undefined && !shortcomings.noKeywordModel;

  function embedDense(text: string): number[] {
    const input = shortcomings.otherEmbeddings ? [...text].reverse().join('') : text;
    return embed(input, dimensions);
  }

  function createVectors(text: string): unknown {
    const dense = embedDense(text);
    if (!isHybrid) return dense;
    const sparse = encodeBm25(text);
    return { '': dense, bm25: { indices: [...sparse.indices], values: [...sparse.values] } };
  }

  async function add(userId: string, text: string): Promise<string[]> {
    if (emptyExtractions > 0) {
      emptyExtractions -= 1;
      return [];
    }
    const text_lemmatized = shortcomings.noLanguageModel ? text : lemmatize(text);
    const memory = { ...createMemory(userId, text, now()), text_lemmatized };
    const point = toPoint(createVectors(text), memory);
    await store.upsert(collection, [point], 'upsert');
    if (!shortcomings.noLanguageModel) await addEntities(userId, text, point.id);
    return [JSON.parse(point.id)];
  }

  async function addEntities(userId: string, text: string, memoryId: string): Promise<void> {
    const names = text.match(/(?<=\s)\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*/gu) ?? [];
    if (names.length === 0) return;
    const companion = `${collection}_entities`;
    await ensureCollection(companion);
    const points = names.map((data) =>
      toPoint(createVectors(data), {
        data,
        entity_type: 'PROPER',
        linked_memory_ids: [JSON.parse(memoryId)],
        user_id: userId,
      }),
    );
    await store.upsert(companion, points, 'upsert');
  }

  // Ranks by vector similarity, and also by shared words if a memory has a keyword vector.
  async function search(userId: string, query: string) {
    const filter = filterByUser(userId);
    const { points } = await store.scroll(collection, { limit: 1_000, filter });
    const queryVector = embedDense(query);
    return points
      .map(({ id, vector, payload }) => {
        const memory = readText(payload);
        const words = hasKeywords(vector) ? countShared(splitWords(memory), splitWords(query)) : 0;
        return { id: JSON.parse(id), memory, score: cosine(vector, queryVector) + words };
      })
      .filter(({ score }) => score >= MIN_SCORE)
      .sort((left, right) => right.score - left.score);
  }

  return {
    add,
    search,
    count: (userId) => countMemories(settings, userId),
    relationships: async () => ({ relationships: [], deprecated: true }),
  };
}

// The dot product is the cosine, because both are unit vectors.
function cosine(vector: PointVector | undefined, queryVector: readonly number[]): number {
  const dense: number[] = JSON.parse((vector && readUnnamedVector(vector)) ?? '[]');
  return dense.reduce((sum, value, n) => sum + value * (queryVector[n] ?? 0), 0);
}

// A simple lemmatizer is enough: its output only has to differ from the text.
function lemmatize(text: string): string {
  return text.toLowerCase().replace(/(\p{L}{3,})s\b/gu, '$1');
}
