// Renews a turn beside its work: one call of a stage may take longer than a lease, and not every loop has a change to
// renew before. It begins and ends with the work, so that a step that died is not kept alive.
import { Refusal } from '../refusals.ts';

/** Calls again and again until it is stopped. */
export type Ticker = (everyMs: number, tick: () => Promise<void>) => () => void;

export const intervals: Ticker = (everyMs, tick) => {
  const timer = setInterval(() => void tick(), everyMs);
  return () => clearInterval(timer);
};

export interface Heartbeat {
  /** @throws Refusal when the turn is over */
  readonly renew: () => Promise<void>;
  readonly now: () => number;
  readonly leaseMs: number;
  readonly ticker: Ticker;
}

/** Of a lease; some may fail. */
const BEATS = 4;

/** @param work is told by the signal that the turn is over, or may be: nobody could be asked for as long as a lease lasts */
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
