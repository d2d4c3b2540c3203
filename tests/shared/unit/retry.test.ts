// Retries: how often they wait and how long, on a clock that only waiting moves.
import { describe, expect, test } from 'vitest';
import { DeadlineExceededError } from '../../../lib/shared/errors.ts';
import { type RetryPolicy, retry } from '../../../lib/shared/retry.ts';

/** Creates a policy that records its sleeps, which alone move its clock. */
function createPolicy(options: Partial<RetryPolicy> = {}) {
  let now = 0;
  const slept: number[] = [];
  const policy: RetryPolicy = {
    firstDelayMs: 10,
    maxDelayMs: 100,
    deadlineMs: 1_000,
    random: () => 0.5,
    now: () => now,
    sleep: async (milliseconds) => {
      slept.push(milliseconds);
      now += milliseconds;
    },
    ...options,
  };
  return { policy, slept };
}

/** Returns a function that fails `times` times, and then returns the number of attempts. */
function createFailingCall(times: number) {
  let attempts = 0;
  return async () => {
    attempts += 1;
    if (attempts <= times) throw new Error(`failure ${attempts}`);
    return attempts;
  };
}

const always = () => true;

describe('retry', () => {
  test('does not wait if the first attempt succeeds', async () => {
    const { policy, slept } = createPolicy();
    expect([await retry(policy, always, createFailingCall(0)), slept]).toEqual([1, []]);
  });

  test('waits longer before each attempt, up to a limit', async () => {
    const { policy, slept } = createPolicy();
    expect(await retry(policy, always, createFailingCall(6))).toBe(7);
    expect(slept).toEqual([5, 10, 20, 40, 50, 50]);
  });

  test.each([
    [0, [0, 0, 0]],
    [0.25, [2.5, 5, 10]],
    [0.999, [9.99, 19.98, 39.96]],
  ])('spreads the waits over the whole of the delay (random %d)', async (random, expected) => {
    const { policy, slept } = createPolicy({ random: () => random });
    await retry(policy, always, createFailingCall(3));
    expect(slept).toEqual(expected);
  });

  test('gives up at once if a retry cannot help', async () => {
    const { policy, slept } = createPolicy();
    await expect(retry(policy, () => false, createFailingCall(1))).rejects.toThrow('failure 1');
    expect(slept).toEqual([]);
  });

  test('checks after every failure whether a retry can help', async () => {
    const { policy } = createPolicy();
    const untilThird = (error: unknown) => (error as Error).message !== 'failure 3';
    await expect(retry(policy, untilThird, createFailingCall(9))).rejects.toThrow('failure 3');
  });

  test('starts no attempt after the deadline, and throws what the last one threw', async () => {
    const { policy, slept } = createPolicy({ deadlineMs: 100 });
    await expect(retry(policy, always, createFailingCall(99))).rejects.toThrow('failure 5');
    expect(slept).toEqual([5, 10, 20, 40]);
  });

  test('keeps its wait bounded after very many attempts', async () => {
    const { policy, slept } = createPolicy({ deadlineMs: 1e9 });
    await retry(policy, always, createFailingCall(2_000));
    expect(slept.at(-1)).toBe(50);
  });
});

describe('within a deadline that the caller sets', () => {
  test('two operations together wait no longer than one', async () => {
    const { policy, slept } = createPolicy({ deadlineMs: 1_000 });
    await retry(policy, always, createFailingCall(3), 100);
    await expect(retry(policy, always, createFailingCall(99), 100)).rejects.toThrow();
    expect(slept.reduce((sum, delay) => sum + delay, 0)).toBeLessThanOrEqual(100);
    expect(slept.slice(0, 3)).toEqual([5, 10, 20]);
  });

  test('no attempt starts after the deadline, even if every earlier call succeeded', async () => {
    const { policy } = createPolicy({ deadlineMs: 1_000 });
    const started: number[] = [];
    const slow = async (call: number) => {
      started.push(call);
      await policy.sleep(60);
    };
    await retry(policy, always, () => slow(1), 100);
    await retry(policy, always, () => slow(2), 100);
    await expect(retry(policy, always, () => slow(3), 100)).rejects.toThrow(DeadlineExceededError);
    expect(started).toEqual([1, 2]);
  });
});
