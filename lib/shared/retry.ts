// Retries with full jitter until a deadline. The caller decides which errors are retryable.
import { DeadlineExceededError } from './errors.ts';

export interface RetryPolicy {
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
  /** No attempt starts later than this after the first one, unless the caller sets a deadline. */
  readonly deadlineMs: number;
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** The shortest delay that the server requests, such as by Retry-After. */
  readonly requestedDelayMs?: (error: unknown) => number;
  /** Called with an error that is followed by another attempt. */
  readonly onRetry?: (error: unknown) => void;
}

// The counts of one year take some 40 writes a second; within the deadline 64 concurrent writes all succeed.
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  firstDelayMs: 25,
  longestDelayMs: 1_000,
  deadlineMs: 6_000,
  now: () => performance.now(),
  random: Math.random,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/**
 * @param deadline on the policy's clock
 * @throws the error of the last attempt, when it is not retryable or time is up; DeadlineExceededError before a first attempt
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
      const delay = Math.max(jittered(policy, retries), policy.requestedDelayMs?.(error) ?? 0);
      if (!isRetryable(error) || policy.now() + delay > deadline) throw error;
      policy.onRetry?.(error);
      await policy.sleep(delay);
    }
  }
}

/** One attempt for each call. */
export function withoutRetries(policy: RetryPolicy): RetryPolicy {
  return { ...policy, requestedDelayMs: () => Number.POSITIVE_INFINITY };
}

function jittered({ firstDelayMs, longestDelayMs, random }: RetryPolicy, retries: number): number {
  return random() * Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(retries, 30));
}
