// A retry policy that does not wait: it records its delays, which only move its own clock.
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../lib/shared/retry.ts';

export interface SleeplessRetryPolicy extends RetryPolicy {
  /** Milliseconds of every sleep so far. */
  readonly delays: readonly number[];
}

export function createSleeplessRetryPolicy(): SleeplessRetryPolicy {
  const delays: number[] = [];
  let time = 0;
  return {
    ...DEFAULT_RETRY_POLICY,
    delays,
    random: () => 0.5,
    now: () => time,
    sleep: async (milliseconds) => {
      delays.push(milliseconds);
      time += milliseconds;
    },
  };
}
