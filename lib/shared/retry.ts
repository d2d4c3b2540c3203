// Retries with full jitter until a deadline. The caller decides which errors are retryable.
import { DeadlineExceededError } from './errors.ts';

export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** Time after the first attempt within which another may start, unless the caller sets a deadline. */
  readonly deadlineMs: number;
  readonly now: () => number;
  /** A random number from 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The shortest delay that the server asks for, for example with Retry-After. */
  readonly requestedDelayMs?: (error: unknown) => number;
  /** Called with each error that is followed by another attempt. */
  readonly onRetry?: (error: unknown) => void;
}

// The item with the counts of a year takes about 40 writes a second: 64 concurrent writes all succeed within this deadline.
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  firstDelayMs: 25,
  maxDelayMs: 1_000,
  deadlineMs: 6_000,
  now: () => performance.now(),
  random: Math.random,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/**
 * @param deadline latest start of an attempt, on the policy's clock
 * @throws the error of the last attempt, if it is not retryable or time is up; DeadlineExceededError if time is up before the
 * first attempt
 */
export async function retry<Result>(
  policy: RetryPolicy,
  isRetryable: (error: unknown) => boolean,
  attempt: () => Promise<Result>,
  deadline = policy.now() + policy.deadlineMs,
): Promise<Result> {
  if (policy.now() > deadline) throw new DeadlineExceededError('No time is left for another call');
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const delay = Math.max(computeDelay(policy, retries), policy.requestedDelayMs?.(error) ?? 0);
      if (!isRetryable(error) || policy.now() + delay > deadline) throw error;
      policy.onRetry?.(error);
      await policy.sleep(delay);
    }
  }
}

/** Disables retries by requesting a delay beyond every deadline. */
export function disableRetries(policy: RetryPolicy): RetryPolicy {
  return { ...policy, requestedDelayMs: () => Number.POSITIVE_INFINITY };
}

function computeDelay({ firstDelayMs, maxDelayMs, random }: RetryPolicy, retries: number): number {
  return random() * Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(retries, 30));
}
