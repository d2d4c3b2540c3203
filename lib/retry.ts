// Tries again with full jitter inside a deadline. What is worth another try is the caller's to say.
import { AsyncLocalStorage } from 'node:async_hooks';
import { DeadlineExceededError } from './errors.ts';

export interface Pace {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** No try starts later than this after the first one, or after the start of `withinOneDeadline`. */
  readonly deadlineMs: number;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The least delay that the failed side asks for, such as by Retry-After. */
  readonly askedDelayMs?: (error: unknown) => number;
  /** Told of a failure that is followed by another try. */
  readonly onAnother?: (error: unknown) => void;
}

// A month of a histogram takes some 40 writes a second; the deadline lets 64 at once all through.
// A request has two use cases at most, each with a last try of up to 3 s: they end before the function does (20 s).
export const STANDARD_PACE: Pace = {
  firstDelayMs: 25,
  longestDelayMs: 1_000,
  deadlineMs: 6_000,
  now: () => performance.now(),
  random: Math.random,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

const sharedDeadline = new AsyncLocalStorage<number>();

/** Whatever is retried inside the work has one deadline in common, so that waits and slow answers do not add up. */
export function withinOneDeadline<Result>(
  pace: Pace,
  work: () => Promise<Result>,
): Promise<Result> {
  return sharedDeadline.run(pace.now() + pace.deadlineMs, work);
}

/** @throws what the last try threw, when it is not worth another or time is up; DeadlineExceededError before a first try */
export async function retrying<Result>(
  pace: Pace,
  isWorthAnother: (error: unknown) => boolean,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const start = pace.now();
  const deadline = sharedDeadline.getStore() ?? start + pace.deadlineMs;
  if (start > deadline) throw new DeadlineExceededError('No time is left for another call');
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const delay = Math.max(jittered(pace, tries), pace.askedDelayMs?.(error) ?? 0);
      if (!isWorthAnother(error) || pace.now() + delay > deadline) throw error;
      pace.onAnother?.(error);
      await pace.sleep(delay);
    }
  }
}

function jittered({ firstDelayMs, longestDelayMs, random }: Pace, tries: number): number {
  return random() * Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(tries, 30));
}
