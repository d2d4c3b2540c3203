// A write that conflicts decides again, with the record that is stored now.
import { expect, test } from 'vitest';
import { retryOnConflict } from '../../../../lib/ledger/service/retry-on-conflict.ts';
import { StaleRecordError } from '../../../../lib/shared/errors.ts';
import { createSleeplessRetryPolicy } from '../../../shared/support/sleepless-retry-policy.ts';

type Options = Parameters<typeof retryOnConflict<number, string>>[0];

function retryDecision(decide: Options['decide'], readAgain: Options['readAgain']) {
  const retryPolicy = createSleeplessRetryPolicy();
  const { deadlineMs: deadline, delays } = retryPolicy;
  return {
    result: retryOnConflict({ retryPolicy, deadline, existing: 1, readAgain, decide }),
    delays,
  };
}

test('a retry uses the record that the error of the write carries, or reads the record again after a delay', async () => {
  const versions: number[] = [];
  const decide = async (version: number) => {
    versions.push(version);
    if (version < 3) throw new StaleRecordError('stale', version + 1);
    if (version === 3) throw new StaleRecordError('stale');
    return 'decided';
  };
  const { result, delays } = retryDecision(decide, async () => 7);
  expect(await result).toBe('decided');
  expect(versions).toEqual([1, 2, 3, 7]);
  expect(delays).toHaveLength(1);
});

test.each([
  ['a record that was deleted meanwhile', new StaleRecordError('stale'), 'deleted'],
  ['any other failure', new Error('refused'), 'refused'],
])('%s ends the retries', async (_, error, message) => {
  const readAgain = () => Promise.reject(new Error('deleted'));
  await expect(retryDecision(() => Promise.reject(error), readAgain).result).rejects.toThrow(
    message,
  );
});
