// Points whose vector has components that are no numbers (NaN), for a client wrote numbers beyond 32 bits. The store keeps
// them, and returns null in their place: no search finds such a point, and no collection takes a copy of it.
import { toJsonText, verbatim } from './json/json-text.ts';
import { MAX_SEARCHED_IDS } from './point-writer.ts';
import { unnamedVectorOf } from './points.ts';
import {
  denseVectorOf,
  type Filter,
  type PointId,
  type ScrolledPoint,
} from './ports/vector-store.ts';
import { type CollectionPlace, readPages } from './scan.ts';

const MAX_EXAMPLES = 8;

interface UnreadableVectors {
  readonly count: number;
  /** Ids of some of them */
  readonly examples: readonly PointId[];
}

/** Reads the vectors that an exact search does not find, and no others: they are most of the collection's bytes. */
export async function findUnreadableVectors(place: CollectionPlace): Promise<UnreadableVectors> {
  const { store, collection } = place;
  const { size = 1 } = denseVectorOf(await store.collectionInfo(collection));
  const vector = toJsonText(Array.from({ length: size }, (_, at) => (at === 0 ? 1 : 0)));
  const examples: PointId[] = [];
  let count = 0;
  const pages = { limit: MAX_SEARCHED_IDS, payload: false, vector: false };
  for await (const { points } of readPages(place, pages)) {
    if (points.length === 0) continue;
    const ids = points.map(({ id }) => id);
    const filter = { must: [{ has_id: ids.map((id) => verbatim(id)) }] } as Filter;
    const request = { nearest: { vector }, filter, limit: ids.length, isExact: true };
    const { hits } = await store.search(collection, request);
    const found = new Set(hits.filter(({ score }) => Number.isFinite(score)).map(({ id }) => id));
    const others = ids.filter((id) => !found.has(id));
    if (others.length === 0) continue;
    const read = await store.retrieve(collection, others, { payload: false, vector: [''] });
    const unreadable = read.filter(isUnreadable);
    count += unreadable.length;
    examples.push(...unreadable.slice(0, MAX_EXAMPLES - examples.length).map(({ id }) => id));
  }
  return { count, examples };
}

/** A point that has no vector is found by no search either. */
function isUnreadable({ vector }: ScrolledPoint): boolean {
  return vector !== undefined && (unnamedVectorOf(vector) ?? '').includes('null');
}
