// Renews the lock of a step while it works: one call may take longer than a lease. The heartbeat begins and ends with the
// work, so that the lock of a crashed step expires.
import { Refusal } from '../refusals.ts';

/** Calls again and again until it is stopped. */
export type Ticker = (everyMs: number, tick: () => Promise<void>) => () => void;

export const intervals: Ticker = (everyMs, tick) => {
  const timer = setInterval(() => void tick(), everyMs);
  return () => clearInterval(timer);
};

export interface Heartbeat {
  /** @throws Refusal when the lease is lost */
  readonly renew: () => Promise<void>;
  readonly now: () => number;
  readonly leaseMs: number;
  readonly ticker: Ticker;
}

/** Of a lease; some may fail. */
const BEATS = 4;

/** @param work gets a signal that the lock is lost, or may be: it could not be renewed for as long as a lease lasts */
export async function whileBeating<Result>(
  { renew, now, leaseMs, ticker }: Heartbeat,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  let renewedAt = now();
  let underWay: Promise<void> | undefined;

  async function beat(): Promise<void> {
    const begun = now();
    try {
      await renew();
      renewedAt = begun;
    } catch (error) {
      if (error instanceof Refusal || now() - renewedAt >= leaseMs) controller.abort(error);
    }
  }

  const stop = ticker(leaseMs / BEATS, async () => {
    underWay ??= beat().finally(() => {
      underWay = undefined;
    });
    await underWay;
  });
  try {
    return await work(controller.signal);
  } finally {
    stop();
    // A late one would renew what is released next.
    await underWay;
  }
}
