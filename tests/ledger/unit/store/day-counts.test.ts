// The counts and sums that a transaction changes when it is created or changed. contract/capacity.full.test.ts covers the counts
// that a list reads.
import { describe, expect, test } from 'vitest';
import { computeDigestShare } from '../../../../lib/ledger/domain/month-digest.ts';
import {
  type CountedTransaction,
  createDayCounts,
} from '../../../../lib/ledger/store/day-counts.ts';
import { createKeys } from '../../../../lib/ledger/store/keys.ts';
import type { Database } from '../../../../lib/shared/database.ts';

// The counters follow from the transactions alone, so no database is needed.
const { createCounterWrites } = createDayCounts({} as Database, createKeys('home'));

const FIRST = { id: 1, version: 1, createdAt: 0, updatedAt: 0 };
const LUNCH: CountedTransaction = {
  ...FIRST,
  date: '2024-02-29',
  type: 'expense',
  categoryId: 7,
  amount: 12.5,
};

/** Maps each item, as `family item`, to the changes of its counters. */
function listCounterChanges(
  before: readonly CountedTransaction[],
  after: readonly CountedTransaction[],
): Record<string, unknown> {
  const changes = createCounterWrites(before, after).map(({ Update }) => {
    const { Key, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = Update ?? {};
    const counters = Object.entries(ExpressionAttributeNames).map(([placeholder, counter]) => [
      counter,
      ExpressionAttributeValues[placeholder.replace('#', ':')],
    ]);
    return [`${Key?.pk} ${Key?.sk}`, Object.fromEntries(counters)];
  });
  return Object.fromEntries(changes);
}

// property/invariants.test.ts and property/summary.test.ts check the counters after arbitrary writes.
describe('createCounterWrites writes only what changes', () => {
  test.each<[string, CountedTransaction[], CountedTransaction[], items: number]>([
    ['for three new rows', [], [LUNCH, LUNCH, { ...LUNCH, date: '2024-02-01' }], 4],
    ['for a row that stays unchanged', [LUNCH], [{ ...LUNCH }], 0],
    ['for a row that moves within its month', [LUNCH], [{ ...LUNCH, date: '2024-02-01' }], 2],
    ['for a row that moves to another category', [LUNCH], [{ ...LUNCH, categoryId: 8 }], 4],
    ['for a row that becomes income', [LUNCH], [{ ...LUNCH, type: 'income' }], 4],
  ])('%s', (_, before, after, items) => {
    expect(createCounterWrites(before, after)).toHaveLength(items);
  });

  test('a change to the texts of a row changes only the digest of its month', () => {
    const after = { ...LUNCH, version: 2, updatedAt: 1 };
    expect(listCounterChanges([LUNCH], [after])).toEqual({
      'home#DAYS Y#2024': { d2: computeDigestShare(after) - computeDigestShare(LUNCH) },
    });
  });

  test('a change to the amount of a row changes only the sums', () => {
    const [yearChange, monthChange] = [{ E2: -1n }, { E29: -1n }];
    expect(listCounterChanges([LUNCH], [{ ...LUNCH, amount: 12.49 }])).toEqual({
      'home#DAYS Y#2024': yearChange,
      'home#DAYS M#2024-02': monthChange,
      'home#DAYS#7 Y#2024': yearChange,
      'home#DAYS#7 M#2024-02': monthChange,
    });
  });

  test('a sum of zero is not stored', () => {
    const changes = listCounterChanges([], [{ ...LUNCH, amount: -0 }]);
    expect(changes['home#DAYS M#2024-02']).toEqual({ e29: 1n });
  });
});
