// Spares the store while users work on it: reads as many points a second as the operator allows. Without such a limit, a copy
// pauses while answers take twice as long as at its beginning.
import { setTimeout } from 'node:timers/promises';
import type { VectorStore } from './adapters/qdrant.ts';
import type { Services } from './services.ts';

export interface Time {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** @param signal ends a pause */
export function realTime(signal: AbortSignal): Time {
  return {
    now: () => performance.now(),
    sleep: async (milliseconds) => {
      await setTimeout(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  };
}

const READ_LIMIT_EVERY_MS = 2_000;
const MAX_PAUSE_MS = 1_000;

/**
 * A token bucket that begins empty: a step that is killed and resumed again and again keeps to the limit, too. It holds at
 * most the points of one second.
 * @param readLimit in points a second; undefined where there is none. Read again every few seconds: it may be changed meanwhile
 */
export function createBucket(readLimit: () => Promise<number | undefined>, { now, sleep }: Time) {
  let tokens = 0;
  let filledAt = now();
  let limit: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();

  async function fill(wanted: number): Promise<void> {
    if (now() - readAt >= READ_LIMIT_EVERY_MS) {
      limit = await readLimit();
      readAt = now();
    }
    const earned = ((limit ?? 0) * (now() - filledAt)) / 1_000;
    filledAt = now();
    tokens = Math.min(Math.max(limit ?? 0, wanted), tokens + earned);
  }

  async function takeInTurn(points: number): Promise<void> {
    for (;;) {
      await fill(points);
      if (limit === undefined) return;
      if (tokens >= points) break;
      const missing = Math.ceil(((points - tokens) / limit) * 1_000);
      await sleep(Math.min(MAX_PAUSE_MS, missing));
    }
    tokens -= points;
  }

  return {
    /** Waits until so many points may be read. */
    async take(points: number): Promise<void> {
      const turn = last.then(() => takeInTurn(points));
      last = turn.catch(() => undefined);
      await turn;
    },
    /** Returns points that were taken from the budget but did not exist. */
    giveBack(points: number): void {
      tokens += points;
    },
  };
}

/** True if this takes clearly longer than that: twice the time, and more than a person would notice. */
export function isMuchSlower(milliseconds: number, before: number): boolean {
  return milliseconds > 2 * before && milliseconds > before + 20;
}

const ANSWERS = 5;
const MAX_FACTOR = 4;

/**
 * Pauses after an answer while all of the last ones took much longer than at the beginning: as long as the answer took, then
 * up to four times as long.
 * @param beginning what an answer took then; undefined in a copy that begins, which then tells it with `onBeginning`
 */
export function createSlowdown(
  options: { beginning: number | undefined; onBeginning: (milliseconds: number) => Promise<void> },
  { sleep }: Pick<Time, 'sleep'>,
) {
  let { beginning } = options;
  let factor = 0;
  let recent: readonly number[] = [];

  return async function afterAnswer(milliseconds: number): Promise<void> {
    recent = [...recent, milliseconds].slice(-ANSWERS);
    if (recent.length < ANSWERS) return;
    if (beginning === undefined) {
      beginning = recent.toSorted((one, other) => one - other)[Math.floor(ANSWERS / 2)] ?? 0;
      return await options.onBeginning(beginning);
    }
    const isSlow = isMuchSlower(Math.min(...recent), beginning);
    factor = isSlow ? Math.min(MAX_FACTOR, Math.max(1, factor * 2)) : Math.floor(factor / 2);
    if (factor > 0) await sleep(factor * milliseconds);
  };
}

type Bucket = ReturnType<typeof createBucket>;

/** For what is read outside of a step's work: at the rate that is given, else at that of the run. */
export function rateLimited<Kept extends Pick<Services, 'vectors' | 'runs'>>(
  services: Kept,
  { runId, maxRate }: { readonly runId: string; readonly maxRate?: number | undefined },
  time: Time = realTime(new AbortController().signal),
): Kept {
  const readLimit = async () =>
    maxRate === undefined ? await services.runs.maxRate(runId) : maxRate || undefined;
  const vectors = throttled(services.vectors, createBucket(readLimit, time), time);
  return { ...services, vectors };
}

/**
 * The store as the walks and searches of a step read it, and as keyword vectors are filled. What is asked for with a filter
 * is a few points, or is filled; a list of versions reads none.
 * @param afterAnswer of a page with vectors, or to vectors that were written
 */
export function throttled(
  store: VectorStore,
  bucket: Bucket,
  {
    now,
    afterAnswer,
  }: Pick<Time, 'now'> & { afterAnswer?: ((milliseconds: number) => Promise<void>) | undefined },
): VectorStore {
  return {
    ...store,
    scroll: async (collection, request) => {
      if (request.filter) return await store.scroll(collection, request);
      await bucket.take(request.limit);
      const begun = now();
      const page = await store.scroll(collection, request);
      const took = now() - begun;
      bucket.giveBack(request.limit - page.points.length);
      if (request.vector !== false) await afterAnswer?.(took);
      return page;
    },
    retrieve: async (collection, ids, parts) => {
      if (parts?.payload !== false) await bucket.take(ids.length);
      return await store.retrieve(collection, ids, parts);
    },
    updateVectors: async (collection, updates) => {
      await bucket.take(updates.length);
      const begun = now();
      await store.updateVectors(collection, updates);
      await afterAnswer?.(now() - begun);
    },
    search: async (collection, request) => {
      if (!('indices' in request.nearest)) await bucket.take(request.limit);
      return await store.search(collection, request);
    },
  };
}
