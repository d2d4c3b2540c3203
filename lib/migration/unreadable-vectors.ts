// Finds points whose vectors have NaN components, because a client wrote numbers that a 32-bit float cannot represent. The store
// returns null for such components. No search finds these points, and no collection accepts a copy of one.
import { toJsonText, verbatim } from './json/json-text.ts';
import { MAX_SEARCHED_IDS } from './point-writer.ts';
import { readUnnamedVector } from './points.ts';
import {
  type Filter,
  type PointId,
  readDenseVector,
  type ScrolledPoint,
} from './ports/vector-store.ts';
import { type CollectionPlace, readPages } from './scan.ts';

const MAX_EXAMPLES = 8;

interface UnreadableVectors {
  readonly count: number;
  /** Ids of up to eight of these points */
  readonly examples: readonly PointId[];
}

/** Reads only vectors that an exact search does not find, because vectors are most of a collection's bytes. */
export async function findUnreadableVectors(place: CollectionPlace): Promise<UnreadableVectors> {
  const { store, collection } = place;
  const { size = 1 } = readDenseVector(await store.readCollectionInfo(collection));
  const vector = toJsonText(Array.from({ length: size }, (_, index) => (index === 0 ? 1 : 0)));
  const examples: PointId[] = [];
  let count = 0;
  const pageRequest = { limit: MAX_SEARCHED_IDS, payload: false, vector: false };
  for await (const { points } of readPages(place, pageRequest)) {
    if (points.length === 0) continue;
    const ids = points.map(({ id }) => id);
    const filter = { must: [{ has_id: ids.map((id) => verbatim(id)) }] } as Filter;
    const searchRequest = { nearest: { vector }, filter, limit: ids.length, isExact: true };
    const { hits } = await store.search(collection, searchRequest);
    const foundIds = new Set(
      hits.filter(({ score }) => Number.isFinite(score)).map(({ id }) => id),
    );
    const missingIds = ids.filter((id) => !foundIds.has(id));
    if (missingIds.length === 0) continue;
    const missingPoints = await store.retrieve(collection, missingIds, {
      payload: false,
      vector: [''],
    });
    const unreadablePoints = missingPoints.filter(isUnreadable);
    count += unreadablePoints.length;
    examples.push(...unreadablePoints.slice(0, MAX_EXAMPLES - examples.length).map(({ id }) => id));
  }
  return { count, examples };
}

/** False for a point without a vector, which no search finds either */
function isUnreadable({ vector }: ScrolledPoint): boolean {
  return vector !== undefined && (readUnnamedVector(vector) ?? '').includes('null');
}
