// Writes to a collection that is being filled: only while the store is healthy and the step holds the lock, in batches
// no larger than the store takes.

import type { VectorStore } from './adapters/qdrant.ts';
import { isSame } from './fate.ts';
import { verbatim } from './json/json-text.ts';
import { memberOf } from './json/memory-payload.ts';
import { fetchById } from './pairs.ts';
import { KEYWORD_SLOT, vectorTolerance, withKeywordText, withoutKeywords } from './points.ts';
import {
  type CollectionInfo,
  denseVectorOf,
  type Filter,
  type Point,
  type PointPayload,
  type ScrolledPoint,
} from './ports/vector-store.ts';
import { isRefusedWith, Refusal } from './refusals.ts';
import type { CollectionPlace } from './scan.ts';

/** How points that are written get their keyword vectors. */
type KeywordFilling =
  /** The store makes them of the text. */
  | 'by-store'
  /** There is a slot, but the store cannot: these points would rank below new ones. */
  | 'left-empty'
  /** The collection has no slot: keyword vectors are dropped. */
  | 'no-slot';

/**
 * Every method returns when its write is durable. What a write depends on is asked for first, and is its condition as well: a
 * store before 1.17 ignores conditions.
 * @param renew renews the lock; throws when another invocation has taken over
 */
export function createPointWriter(
  { to, keywords }: Omit<CopySettings, 'from'>,
  renew?: () => Promise<void>,
) {
  const { store, collection } = to;
  const { mayWrite, inBatches } = createBatchWriter(to, renew);

  /** Points that exist are left as they are. */
  async function insert(scrolled: readonly ScrolledPoint[]): Promise<void> {
    const found = await fetchById(to, scrolled, { payload: false, vector: false });
    const points = scrolled.filter(({ id }) => !found.has(id)).map(toPoint);
    await inBatches(points, (batch) => store.upsert(collection, batch, 'insert_only'));
  }

  /** Skips points that changed since they were read: users, or a program that was not stopped, may write meanwhile. */
  async function replaceUnchanged(changes: readonly Replacement[]): Promise<void> {
    const same = new Map(
      (await stillAs(changes.map(({ seen }) => seen))).map((one) => [one.id, one]),
    );
    const points = changes.flatMap(({ by }) => (same.has(by.id) ? toPoint(by) : []));
    await inBatches(points, async (batch) => {
      const condition = unchanged(batch.flatMap(({ id }) => same.get(id) ?? []));
      await whereFiltersAreTaken(
        () => store.upsert(collection, batch, 'update_only', condition),
        () => store.upsert(collection, batch, 'upsert'),
      );
    });
  }

  async function removeUnchanged(seen: readonly ScrolledPoint[]): Promise<void> {
    const same = await stillAs(seen);
    if (same.length === 0) return;
    await mayWrite();
    await whereFiltersAreTaken(
      () => store.deletePoints(collection, { filter: unchanged(same) }),
      () => store.deletePoints(collection, { ids: same.map(({ id }) => id) }),
    );
  }

  /** Those that are still as they were read. */
  async function stillAs(seen: readonly ScrolledPoint[]): Promise<readonly ScrolledPoint[]> {
    const found = await fetchById(to, seen, { payload: true, vector: false });
    return seen.filter((point) => isSame(found.get(point.id), point));
  }

  function toPoint({ id, vector, payload }: ScrolledPoint): Point {
    if (vector === undefined) {
      throw new Refusal('RefusedByService', `Point ${id} came without its vector.`);
    }
    const point = { id, vector, payload };
    if (keywords === 'no-slot') return withoutKeywords(point);
    return keywords === 'by-store' ? withKeywordText(point) : point;
  }

  return { insert, replaceUnchanged, removeUnchanged };
}

/**
 * Writes many things to one collection.
 * @param renew renews the lock; throws when another invocation has taken over. Without it, the collection is a trial's own.
 */
export function createBatchWriter(
  place: CollectionPlace<Pick<VectorStore, 'collectionInfo'>>,
  renew?: () => Promise<void>,
) {
  let maxBatch = PAGE_SIZE;

  // Only what is written to has to be healthy. The lock last: asking for the health may take longer than a lease lasts, and
  // then another step is at work.
  async function mayWrite(): Promise<void> {
    await healthyInfo(place);
    await renew?.();
  }

  // The size that the store takes is found once, by halving, and kept.
  async function inBatches<Item>(
    items: readonly Item[],
    write: (batch: readonly Item[]) => Promise<void>,
  ): Promise<void> {
    for (let at = 0; at < items.length; ) {
      const batch = items.slice(at, at + maxBatch);
      await mayWrite();
      const isWritten = await write(batch).then(
        () => true,
        (error: unknown) => {
          if (!isRefusedWith(error, 413) || batch.length === 1) throw error;
          return false;
        },
      );
      if (isWritten) at += batch.length;
      else maxBatch = Math.ceil(batch.length / 2);
    }
  }

  return { mayWrite, inBatches };
}

interface Replacement {
  readonly seen: ScrolledPoint;
  readonly by: ScrolledPoint;
}

/** Points that still have these ids and, by mem0's own hash of it, that text. */
function unchanged(seen: readonly ScrolledPoint[]): Filter {
  return {
    should: seen.map(({ id, payload }) => ({
      must: [{ has_id: [verbatim(id)] }, ...sameHash(payload)],
    })),
  };
}

/** None where it is of another kind than mem0 writes. */
function sameHash(payload: PointPayload) {
  const hash = memberOf(payload, 'hash');
  if (typeof hash === 'string') return [{ key: 'hash', match: { value: hash } }];
  return hash === undefined || hash === null ? [{ is_empty: { key: 'hash' } }] : [];
}

/** In strict mode a store may refuse a filter over what has no index. */
async function whereFiltersAreTaken(
  write: () => Promise<void>,
  otherwise: () => Promise<void>,
): Promise<void> {
  await write().catch(async (error: unknown) => {
    if (!isRefusedWith(error, 400)) throw error;
    await otherwise();
  });
}

/** Red is a collection whose store has run out of space; yellow and grey ones are being optimized. */
export function whyUnhealthy({ status, optimizer_status }: CollectionInfo): string | undefined {
  if (status !== 'red' && optimizer_status === 'ok') return undefined;
  const optimizer = JSON.stringify(optimizer_status).slice(0, 300);
  return `The collection is ${status}, its optimizer ${optimizer}.`;
}

/** Undefined when there is none of that name. @throws Refusal naming the collection when it is in trouble */
export async function healthyInfo({
  store,
  collection,
}: CollectionPlace<Pick<VectorStore, 'collectionInfo'>>): Promise<CollectionInfo | undefined> {
  const info = await store.collectionInfo(collection);
  const trouble = info && whyUnhealthy(info);
  if (trouble) throw new Refusal('RefusedByService', `${collection}: ${trouble}`);
  return info;
}

/** Points per page of a copy; the preflight refuses a store with a lower limit. */
export const PAGE_SIZE = 256;
/** Ids that one search is limited to, and conditions of one filter; the preflight refuses a store with lower limits. */
export const MAX_SEARCHED_IDS = 512;
export const MAX_CONDITIONS = 3;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface CopySettings {
  readonly from: CollectionPlace;
  readonly to: CollectionPlace;
  readonly pageSize: number;
  readonly keywords: KeywordFilling;
  /** Up to which two components are the same. */
  readonly tolerance?: number;
}

/** Settings that fit the version of the store, its limits and the size of its points */
export async function copySettings(
  store: VectorStore,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<CopySettings> {
  const infos = await Promise.all([from, to].map((name) => store.collectionInfo(name)));
  const present = infos.filter((info) => info !== undefined);
  const allowed = Math.min(PAGE_SIZE, ...present.flatMap(listLimits));
  const { points } = await store.scroll(from, { limit: allowed });
  const bytes = points.reduce(
    (sum, { payload, vector = '' }) => sum + Buffer.byteLength(payload) + vector.length,
    0,
  );
  const fitting = Math.floor((MAX_BODY_BYTES * Math.max(1, points.length)) / Math.max(1, bytes));
  return {
    from: { store, collection: from },
    to: { store, collection: to },
    pageSize: Math.max(1, Math.min(allowed, fitting)),
    keywords: await decideKeywordFilling(store, to),
    tolerance: vectorTolerance(present.map((info) => denseVectorOf(info).datatype ?? 'float32')),
  };
}

export async function decideKeywordFilling(
  store: VectorStore,
  target: string,
): Promise<KeywordFilling> {
  const info = await store.collectionInfo(target);
  if (!info?.config.params.sparse_vectors?.[KEYWORD_SLOT]) return 'no-slot';
  return (await store.encodesKeywords(target, KEYWORD_SLOT)) ? 'by-store' : 'left-empty';
}

// Strict mode caps scrolls and batches; what both collections allow is what is asked for.
function listLimits({ config }: CollectionInfo): number[] {
  const strict = config.strict_mode_config;
  if (!strict?.enabled) return [];
  return [strict.max_query_limit, strict.upsert_max_batchsize].filter(
    (limit) => typeof limit === 'number',
  );
}
