// Writes points to a collection, in batches that the store accepts, and only while the store is healthy and the step holds the
// lock.
import type { VectorStore } from './adapters/qdrant.ts';
import { isSame } from './fate.ts';
import { verbatim } from './json/json-text.ts';
import { readMember } from './json/memory-payload.ts';
import { fetchById } from './pairs.ts';
import { addKeywordText, chooseTolerance, dropKeywords, KEYWORD_SLOT } from './points.ts';
import {
  type CollectionInfo,
  type Filter,
  type Point,
  type PointPayload,
  readDenseVector,
  type ScrolledPoint,
} from './ports/vector-store.ts';
import { isRefusedWith, Refusal } from './refusals.ts';
import type { CollectionPlace } from './scan.ts';

/** Origin of the keyword vectors of written points */
type KeywordFilling =
  /** The store makes the vectors from the text. */
  | 'by-store'
  /** The slot stays empty, because the store cannot make them: these points rank below new ones. */
  | 'left-empty'
  /** The collection has no slot for the vectors, which are dropped. */
  | 'no-slot';

/**
 * Every method returns when its write is durable. Each first reads the state that the write depends on, and makes that state a
 * condition of the write as well; stores before 1.17 ignore conditions.
 * @param renewLease renews the lock; throws when another invocation has taken over
 */
export function createPointWriter(
  { to, keywords }: Omit<CopySettings, 'from'>,
  renewLease?: () => Promise<void>,
) {
  const { store, collection } = to;
  const { assertMayWrite, writeInBatches } = createBatchWriter(to, renewLease);

  /** Leaves existing points unchanged. */
  async function insert(newPoints: readonly ScrolledPoint[]): Promise<void> {
    const existingPoints = await fetchById(to, newPoints, { payload: false, vector: false });
    const points = newPoints.filter(({ id }) => !existingPoints.has(id)).map(toPoint);
    await writeInBatches(points, (batch) => store.upsert(collection, batch, 'insert_only'));
  }

  /** Skips points that users, or another program, have changed since they were read. */
  async function replaceUnchanged(changes: readonly Replacement[]): Promise<void> {
    const unchangedPoints = new Map(
      (await findUnchanged(changes.map(({ current }) => current))).map((point) => [
        point.id,
        point,
      ]),
    );
    const points = changes.flatMap(({ replacement }) =>
      unchangedPoints.has(replacement.id) ? toPoint(replacement) : [],
    );
    await writeInBatches(points, async (batch) => {
      const condition = filterUnchanged(batch.flatMap(({ id }) => unchangedPoints.get(id) ?? []));
      await writeWithFilterIfAccepted(
        () => store.upsert(collection, batch, 'update_only', condition),
        () => store.upsert(collection, batch, 'upsert'),
      );
    });
  }

  async function removeUnchanged(points: readonly ScrolledPoint[]): Promise<void> {
    const unchangedPoints = await findUnchanged(points);
    if (unchangedPoints.length === 0) return;
    await assertMayWrite();
    await writeWithFilterIfAccepted(
      () => store.deletePoints(collection, { filter: filterUnchanged(unchangedPoints) }),
      () => store.deletePoints(collection, { ids: unchangedPoints.map(({ id }) => id) }),
    );
  }

  /** Finds the points that have not changed since they were read. */
  async function findUnchanged(
    points: readonly ScrolledPoint[],
  ): Promise<readonly ScrolledPoint[]> {
    const currentPoints = await fetchById(to, points, { payload: true, vector: false });
    return points.filter((point) => isSame(currentPoints.get(point.id), point));
  }

  function toPoint({ id, vector, payload }: ScrolledPoint): Point {
    if (vector === undefined) {
      throw new Refusal('RefusedByService', `The store returned point ${id} without its vector.`);
    }
    const point = { id, vector, payload };
    if (keywords === 'no-slot') return dropKeywords(point);
    return keywords === 'by-store' ? addKeywordText(point) : point;
  }

  return { insert, replaceUnchanged, removeUnchanged };
}

/**
 * Writes batches to one collection.
 * @param renewLease renews the lock; throws when another invocation has taken over. Absent for a probe's own collection.
 */
export function createBatchWriter(
  place: CollectionPlace<Pick<VectorStore, 'readCollectionInfo'>>,
  renewLease?: () => Promise<void>,
) {
  let maxBatchSize = PAGE_SIZE;

  // The lock is renewed last: the health check may outlast a lease, and then another step may have begun.
  async function assertMayWrite(): Promise<void> {
    await readHealthyInfo(place);
    await renewLease?.();
  }

  // If the store refuses a batch as too large, this batch and all later ones are halved.
  async function writeInBatches<Item>(
    items: readonly Item[],
    write: (batch: readonly Item[]) => Promise<void>,
  ): Promise<void> {
    for (let start = 0; start < items.length; ) {
      const batch = items.slice(start, start + maxBatchSize);
      await assertMayWrite();
      const isWritten = await write(batch).then(
        () => true,
        (error: unknown) => {
          if (!isRefusedWith(error, 413) || batch.length === 1) throw error;
          return false;
        },
      );
      if (isWritten) start += batch.length;
      else maxBatchSize = Math.ceil(batch.length / 2);
    }
  }

  return { assertMayWrite, writeInBatches };
}

/** A point as it was read, and its replacement */
interface Replacement {
  readonly current: ScrolledPoint;
  readonly replacement: ScrolledPoint;
}

/** Builds a filter for points with these ids whose text is still the same, judging by mem0's hash of it. */
function filterUnchanged(points: readonly ScrolledPoint[]): Filter {
  return {
    should: points.map(({ id, payload }) => ({
      must: [{ has_id: [verbatim(id)] }, ...matchHash(payload)],
    })),
  };
}

/** @returns a condition on the hash; none if mem0 did not write the hash */
function matchHash(payload: PointPayload) {
  const hash = readMember(payload, 'hash');
  if (typeof hash === 'string') return [{ key: 'hash', match: { value: hash } }];
  return hash === undefined || hash === null ? [{ is_empty: { key: 'hash' } }] : [];
}

/** Writes without a filter if the store refuses the filter: in strict mode it may refuse keys without an index. */
async function writeWithFilterIfAccepted(
  write: () => Promise<void>,
  writeWithoutFilter: () => Promise<void>,
): Promise<void> {
  await write().catch(async (error: unknown) => {
    if (!isRefusedWith(error, 400)) throw error;
    await writeWithoutFilter();
  });
}

/** Yellow and grey collections count as healthy: they are being optimized. Red means that the store is out of space. */
export function whyUnhealthy({ status, optimizer_status }: CollectionInfo): string | undefined {
  if (status !== 'red' && optimizer_status === 'ok') return undefined;
  const optimizer = JSON.stringify(optimizer_status).slice(0, 300);
  return `The collection is ${status}, its optimizer ${optimizer}.`;
}

/** @returns undefined if the collection does not exist. @throws Refusal if it is unhealthy */
export async function readHealthyInfo({
  store,
  collection,
}: CollectionPlace<Pick<VectorStore, 'readCollectionInfo'>>): Promise<CollectionInfo | undefined> {
  const info = await store.readCollectionInfo(collection);
  const problem = info && whyUnhealthy(info);
  if (problem) throw new Refusal('RefusedByService', `${collection}: ${problem}`);
  return info;
}

/** Points per page of a copy; the preflight refuses a store with a lower limit. */
export const PAGE_SIZE = 256;
/** Most ids, and most filter conditions, of one search; the preflight refuses a store with lower limits. */
export const MAX_SEARCHED_IDS = 512;
export const MAX_CONDITIONS = 3;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface CopySettings {
  readonly from: CollectionPlace;
  readonly to: CollectionPlace;
  readonly pageSize: number;
  readonly keywords: KeywordFilling;
  /** Largest difference between two vector components that count as equal */
  readonly tolerance?: number;
}

/** Chooses settings that suit the store's version, its limits, and the size of its points. */
export async function chooseCopySettings(
  store: VectorStore,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<CopySettings> {
  const infos = await Promise.all([from, to].map((name) => store.readCollectionInfo(name)));
  const existingInfos = infos.filter((info) => info !== undefined);
  const maxPageSize = Math.min(PAGE_SIZE, ...existingInfos.flatMap(listLimits));
  const { points } = await store.scroll(from, { limit: maxPageSize });
  const sampleBytes = points.reduce(
    (sum, { payload, vector = '' }) => sum + Buffer.byteLength(payload) + vector.length,
    0,
  );
  const pointsPerBody = Math.floor(
    (MAX_BODY_BYTES * Math.max(1, points.length)) / Math.max(1, sampleBytes),
  );
  return {
    from: { store, collection: from },
    to: { store, collection: to },
    pageSize: Math.max(1, Math.min(maxPageSize, pointsPerBody)),
    keywords: await decideKeywordFilling(store, to),
    tolerance: chooseTolerance(
      existingInfos.map((info) => readDenseVector(info).datatype ?? 'float32'),
    ),
  };
}

export async function decideKeywordFilling(
  store: VectorStore,
  target: string,
): Promise<KeywordFilling> {
  const info = await store.readCollectionInfo(target);
  if (!info?.config.params.sparse_vectors?.[KEYWORD_SLOT]) return 'no-slot';
  return (await store.encodesKeywords(target, KEYWORD_SLOT)) ? 'by-store' : 'left-empty';
}

/** Lists the limits that the store's strict mode sets for scrolls and batches. */
export function listLimits({ config }: CollectionInfo): number[] {
  const strictMode = config.strict_mode_config;
  if (!strictMode?.enabled) return [];
  return [strictMode.max_query_limit, strictMode.upsert_max_batchsize].filter(
    (limit) => typeof limit === 'number',
  );
}
