// Limits the load on a store that users work on: at most as many points per second are read as the operator allows, and a copy
// pauses while responses take more than twice as long as at its start.
import { setTimeout } from 'node:timers/promises';
import type { VectorStore } from './adapters/qdrant.ts';
import type { Services } from './services.ts';

export interface Time {
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

/** @param signal ends a pause early */
export function createRealTime(signal: AbortSignal): Time {
  return {
    now: () => performance.now(),
    sleep: async (milliseconds) => {
      await setTimeout(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
    },
  };
}

/** Interval at which the limit is read again */
const LIMIT_REFRESH_MS = 2_000;
const MAX_PAUSE_MS = 1_000;

/**
 * A token bucket with room for the points of one second. It starts empty, so that even a step that is killed and resumed
 * repeatedly keeps to the limit.
 * @param readLimit reads the limit in points per second; undefined if unlimited. Called every few seconds: the limit may change
 */
export function createBucket(readLimit: () => Promise<number | undefined>, { now, sleep }: Time) {
  let tokens = 0;
  let filledAt = now();
  let limit: number | undefined;
  let limitReadAt = Number.NEGATIVE_INFINITY;
  let lastTurn: Promise<void> = Promise.resolve();

  async function fill(points: number): Promise<void> {
    if (now() - limitReadAt >= LIMIT_REFRESH_MS) {
      limit = await readLimit();
      limitReadAt = now();
    }
    const earned = ((limit ?? 0) * (now() - filledAt)) / 1_000;
    filledAt = now();
    tokens = Math.min(Math.max(limit ?? 0, points), tokens + earned);
  }

  async function takeInTurn(points: number): Promise<void> {
    for (;;) {
      await fill(points);
      if (limit === undefined) return;
      if (tokens >= points) break;
      const waitMs = Math.ceil(((points - tokens) / limit) * 1_000);
      await sleep(Math.min(MAX_PAUSE_MS, waitMs));
    }
    tokens -= points;
  }

  return {
    /** Waits until this many points can be read. */
    async take(points: number): Promise<void> {
      const turn = lastTurn.then(() => takeInTurn(points));
      lastTurn = turn.catch(() => undefined);
      await turn;
    },
    /** Returns tokens for points that were requested but did not exist. */
    giveBack(points: number): void {
      tokens += points;
    },
  };
}

/** True if the time has more than doubled, and has grown by more than 20 ms */
export function isMuchSlower(milliseconds: number, baseline: number): boolean {
  return milliseconds > 2 * baseline && milliseconds > baseline + 20;
}

const COMPARED_RESPONSES = 5;
const MAX_PAUSE_FACTOR = 4;

/**
 * Pauses after a response if all recent responses took much longer than those at the start. The first pause lasts as long as the
 * response took, later ones up to four times as long.
 * @param baselineMs duration of a response at the start; if undefined, it is measured and passed to `onBaseline`
 */
export function createSlowdown(
  options: { baselineMs: number | undefined; onBaseline: (milliseconds: number) => Promise<void> },
  { sleep }: Pick<Time, 'sleep'>,
) {
  let { baselineMs } = options;
  let pauseFactor = 0;
  let recentDurations: readonly number[] = [];

  return async function afterResponse(milliseconds: number): Promise<void> {
    recentDurations = [...recentDurations, milliseconds].slice(-COMPARED_RESPONSES);
    if (recentDurations.length < COMPARED_RESPONSES) return;
    if (baselineMs === undefined) {
      baselineMs =
        recentDurations.toSorted((first, second) => first - second)[
          Math.floor(COMPARED_RESPONSES / 2)
        ] ?? 0;
      return await options.onBaseline(baselineMs);
    }
    const isSlow = isMuchSlower(Math.min(...recentDurations), baselineMs);
    pauseFactor = isSlow
      ? Math.min(MAX_PAUSE_FACTOR, Math.max(1, pauseFactor * 2))
      : Math.floor(pauseFactor / 2);
    if (pauseFactor > 0) await sleep(pauseFactor * milliseconds);
  };
}

type Bucket = ReturnType<typeof createBucket>;

/** Limits reads outside a step to the given rate, by default the run's; 0 means unlimited. */
export function limitReads<Limited extends Pick<Services, 'vectors' | 'runs'>>(
  services: Limited,
  { runId, maxRate }: { readonly runId: string; readonly maxRate?: number | undefined },
  time: Time = createRealTime(new AbortController().signal),
): Limited {
  const readLimit = async () =>
    maxRate === undefined ? await services.runs.maxRate(runId) : maxRate || undefined;
  const vectors = throttleStore(services.vectors, createBucket(readLimit, time), time);
  return { ...services, vectors };
}

/**
 * Limits reads and vector updates, but not scrolls with a filter: they read few points, or points whose updates are limited.
 * @param afterResponse called with the duration of a read that included vectors, or of a vector update
 */
export function throttleStore(
  store: VectorStore,
  bucket: Bucket,
  {
    now,
    afterResponse,
  }: Pick<Time, 'now'> & { afterResponse?: ((milliseconds: number) => Promise<void>) | undefined },
): VectorStore {
  return {
    ...store,
    scroll: async (collection, request) => {
      if (request.filter) return await store.scroll(collection, request);
      await bucket.take(request.limit);
      const startedAt = now();
      const page = await store.scroll(collection, request);
      const duration = now() - startedAt;
      bucket.giveBack(request.limit - page.points.length);
      if (request.vector !== false) await afterResponse?.(duration);
      return page;
    },
    retrieve: async (collection, ids, parts) => {
      if (parts?.payload !== false) await bucket.take(ids.length);
      return await store.retrieve(collection, ids, parts);
    },
    updateVectors: async (collection, updates) => {
      await bucket.take(updates.length);
      const startedAt = now();
      await store.updateVectors(collection, updates);
      await afterResponse?.(now() - startedAt);
    },
    search: async (collection, request) => {
      if (!('indices' in request.nearest)) await bucket.take(request.limit);
      return await store.search(collection, request);
    },
  };
}
