// How often and how long is waited, on a clock that only waiting moves.
import { describe, expect, test } from 'vitest';
import { DeadlineExceededError } from '../../lib/errors.ts';
import { type Pace, retrying, withinOneDeadline } from '../../lib/retry.ts';

/** A clock that only sleeping moves. */
function fakePace(options: Partial<Pace> = {}) {
  let now = 0;
  const slept: number[] = [];
  const pace: Pace = {
    ...{ firstDelayMs: 10, longestDelayMs: 100, deadlineMs: 1_000, random: () => 0.5 },
    now: () => now,
    sleep: async (milliseconds) => {
      slept.push(milliseconds);
      now += milliseconds;
    },
    ...options,
  };
  return { pace, slept };
}

/** Fails so often, then gives its number of tries. */
function failing(times: number) {
  let tries = 0;
  return async () => {
    tries += 1;
    if (tries <= times) throw new Error(`failure ${tries}`);
    return tries;
  };
}

const always = () => true;

describe('retrying', () => {
  test('does not wait when the first try succeeds', async () => {
    const { pace, slept } = fakePace();
    expect([await retrying(pace, always, failing(0)), slept]).toEqual([1, []]);
  });

  test('waits longer before each try, up to a bound', async () => {
    const { pace, slept } = fakePace();
    expect(await retrying(pace, always, failing(6))).toBe(7);
    expect(slept).toEqual([5, 10, 20, 40, 50, 50]);
  });

  test.each([
    [0, [0, 0, 0]],
    [0.25, [2.5, 5, 10]],
    [0.999, [9.99, 19.98, 39.96]],
  ])('spreads the waits over the whole of the delay (random %d)', async (random, expected) => {
    const { pace, slept } = fakePace({ random: () => random });
    await retrying(pace, always, failing(3));
    expect(slept).toEqual(expected);
  });

  test('gives up at once on what is not worth another try', async () => {
    const { pace, slept } = fakePace();
    await expect(retrying(pace, () => false, failing(1))).rejects.toThrow('failure 1');
    expect(slept).toEqual([]);
  });

  test('asks about every failure', async () => {
    const { pace } = fakePace();
    const untilThird = (error: unknown) => (error as Error).message !== 'failure 3';
    await expect(retrying(pace, untilThird, failing(9))).rejects.toThrow('failure 3');
  });

  test('starts no try after the deadline, and throws what the last one threw', async () => {
    const { pace, slept } = fakePace({ deadlineMs: 100 });
    await expect(retrying(pace, always, failing(99))).rejects.toThrow('failure 5');
    expect(slept).toEqual([5, 10, 20, 40]);
  });

  test('waits no endless time after very many tries', async () => {
    const { pace, slept } = fakePace({ deadlineMs: 1e9 });
    await retrying(pace, always, failing(2_000));
    expect(slept.at(-1)).toBe(50);
  });
});

test('two things retried within one deadline wait no longer together than one', async () => {
  const { pace, slept } = fakePace({ deadlineMs: 100 });
  const both = withinOneDeadline(pace, async () => {
    await retrying(pace, always, failing(3));
    await retrying(pace, always, failing(99));
  });
  await expect(both).rejects.toThrow();
  expect(slept.reduce((sum, delay) => sum + delay, 0)).toBeLessThanOrEqual(100);
  expect(slept.slice(0, 3)).toEqual([5, 10, 20]);
});

test('nothing more is started once the deadline of all is over, however well each call went', async () => {
  const { pace } = fakePace({ deadlineMs: 100 });
  const started: number[] = [];
  const slow = async (call: number) => {
    started.push(call);
    await pace.sleep(60);
  };
  const all = withinOneDeadline(pace, async () => {
    for (const call of [1, 2, 3]) await retrying(pace, always, () => slow(call));
  });
  await expect(all).rejects.toThrow(DeadlineExceededError);
  expect(started).toEqual([1, 2]);
});
