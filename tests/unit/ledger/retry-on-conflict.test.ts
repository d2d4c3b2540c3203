// Deciding again on what is recorded now.
import { describe, expect, test } from 'vitest';
import { StaleRecordError } from '../../../lib/errors.ts';
import { retryOnConflict } from '../../../lib/ledger/retry-on-conflict.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../lib/retry.ts';

const retryPolicy: RetryPolicy = { ...DEFAULT_RETRY_POLICY, now: () => 0, sleep: async () => {} };
const OPTIONS = { retryPolicy, deadline: retryPolicy.deadlineMs };

/** Decides on the record it is given, if that is the latest one. */
function decideOn(latest: number) {
  const seen: number[] = [];
  const decide = async (version: number) => {
    seen.push(version);
    if (version !== latest) throw new StaleRecordError('stale');
    return 'decided';
  };
  return { seen, decide };
}

describe('retryOnConflict', () => {
  test('decides on what was read first', async () => {
    const { seen, decide } = decideOn(1);
    const readAgain = () => Promise.reject(new Error('read without need'));
    expect(await retryOnConflict({ ...OPTIONS, existing: 1, readAgain, decide })).toBe('decided');
    expect(seen).toEqual([1]);
  });

  test('reads again and decides again while the record moves on', async () => {
    const { seen, decide } = decideOn(3);
    let version = 1;
    const readAgain = async () => (version += 1);
    expect(await retryOnConflict({ ...OPTIONS, existing: 1, readAgain, decide })).toBe('decided');
    expect(seen).toEqual([1, 2, 3]);
  });

  test('decides at once, and without reading, on what the failed write has told', async () => {
    const seen: number[] = [];
    const slept: number[] = [];
    const decide = async (version: number) => {
      seen.push(version);
      if (version < 3) throw new StaleRecordError('stale', version + 1);
      if (version === 3) throw new StaleRecordError('stale');
      return 'decided';
    };
    const sleep = async (milliseconds: number) => void slept.push(milliseconds);
    const readAgain = async () => 7;
    const impatient = { ...retryPolicy, sleep };
    expect(
      await retryOnConflict({ ...OPTIONS, retryPolicy: impatient, existing: 1, readAgain, decide }),
    ).toBe('decided');
    expect(seen).toEqual([1, 2, 3, 7]);
    expect(slept).toHaveLength(1);
  });

  test('ends with the deadline, however fresh what it is told', async () => {
    let time = 0;
    const decide = async () => {
      time += 1_000;
      throw new StaleRecordError('stale', 1);
    };
    const hurried = { ...retryPolicy, now: () => time };
    const readAgain = () => Promise.reject(new Error('read without need'));
    const settling = retryOnConflict({
      ...OPTIONS,
      retryPolicy: hurried,
      existing: 1,
      readAgain,
      decide,
    });
    await expect(settling).rejects.toThrow(StaleRecordError);
    expect(time).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs + 1_000);
  });

  test('a record that is gone by then ends it', async () => {
    const { decide } = decideOn(2);
    const readAgain = () => Promise.reject(new Error('gone'));
    await expect(retryOnConflict({ ...OPTIONS, existing: 1, readAgain, decide })).rejects.toThrow(
      'gone',
    );
  });

  test('any other failure ends it', async () => {
    const decide = () => Promise.reject(new Error('refused'));
    const readAgain = async () => 1;
    await expect(retryOnConflict({ ...OPTIONS, existing: 1, readAgain, decide })).rejects.toThrow(
      'refused',
    );
  });
});
