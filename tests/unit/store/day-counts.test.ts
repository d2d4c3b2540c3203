// Which counts and sums a transaction changes when it is created, deleted or changed, and by how much; which ones a list reads.
import { describe, expect, test } from 'vitest';
import { LARGEST_AMOUNT } from '../../../lib/domain/money.ts';
import type { Database, Range } from '../../../lib/store/database.ts';
import { type Counted, createDayCounts } from '../../../lib/store/day-counts.ts';
import { createKeys, type Key } from '../../../lib/store/keys.ts';

// Following a transaction asks the database nothing.
const { counterWrites } = createDayCounts({} as Database, createKeys('home'));

const LUNCH: Counted = { date: '2024-02-29', type: 'expense', categoryId: 7, amount: 12.5 };

/** `family item counter` to what is added to it. */
function movesOf(before: readonly Counted[], after: readonly Counted[]): Record<string, unknown> {
  const moves = counterWrites(before, after).flatMap(({ Update }) => {
    const { Key, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = Update ?? {};
    return Object.entries(ExpressionAttributeNames).map(([placeholder, counter]) => [
      `${Key?.pk} ${Key?.sk} ${counter}`,
      ExpressionAttributeValues[placeholder.replace('#', ':')],
    ]);
  });
  return Object.fromEntries(moves);
}

const changed = (family: string, by: bigint) => ({
  ...{ [`${family} Y#2024 e2`]: by, [`${family} Y#2024 E2`]: by * 1250n },
  ...{ [`${family} M#2024-02 e29`]: by, [`${family} M#2024-02 E29`]: by * 1250n },
});

const counted = (by: bigint) => ({
  ...changed('home#DAYS', by),
  ...changed('home#DAYS#7', by),
});

describe('counterWrites', () => {
  test('one that comes is counted among all and in its category, by year and by month', () => {
    expect(movesOf([], [LUNCH])).toEqual(counted(1n));
  });

  test('one that goes is taken from the same counters', () => {
    expect(movesOf([LUNCH], [])).toEqual(counted(-1n));
  });

  test('one without a category is counted among all and among those without one', () => {
    expect(movesOf([], [{ ...LUNCH, categoryId: null }])).toEqual({
      ...changed('home#DAYS', 1n),
      ...changed('home#DAYS#none', 1n),
    });
  });

  test('one whose amount changes changes the sums alone', () => {
    expect(movesOf([LUNCH], [{ ...LUNCH, amount: 12.49 }])).toEqual({
      ...{ 'home#DAYS Y#2024 E2': -1n, 'home#DAYS M#2024-02 E29': -1n },
      ...{ 'home#DAYS#7 Y#2024 E2': -1n, 'home#DAYS#7 M#2024-02 E29': -1n },
    });
  });

  test('several that come change each item once', () => {
    expect(counterWrites([], [LUNCH, LUNCH, { ...LUNCH, date: '2024-02-01' }])).toHaveLength(4);
  });

  test('sums beyond the safe integers are exact', () => {
    const income: Counted = { ...LUNCH, type: 'income', amount: LARGEST_AMOUNT };
    const moves = movesOf(Array(3).fill(income), Array(94).fill(income));
    expect(moves['home#DAYS Y#2024 I2']).toBe(91n * 99_999_999_999_999n);
  });

  test('a sum of nothing is not stored', () => {
    expect(movesOf([], [{ ...LUNCH, amount: -0 }])).not.toHaveProperty('home#DAYS Y#2024 E2');
  });

  test('one that changes in nothing that is counted moves no counter', () => {
    expect(counterWrites([LUNCH], [{ ...LUNCH }])).toEqual([]);
  });

  test('one that moves within its month leaves the year alone', () => {
    expect(movesOf([LUNCH], [{ ...LUNCH, date: '2024-02-01' }])).toEqual({
      ...{ 'home#DAYS M#2024-02 e29': -1n, 'home#DAYS M#2024-02 E29': -1250n },
      ...{ 'home#DAYS M#2024-02 e1': 1n, 'home#DAYS M#2024-02 E1': 1250n },
      ...{ 'home#DAYS#7 M#2024-02 e29': -1n, 'home#DAYS#7 M#2024-02 E29': -1250n },
      ...{ 'home#DAYS#7 M#2024-02 e1': 1n, 'home#DAYS#7 M#2024-02 E1': 1250n },
    });
  });

  test('one that moves to another category stays where it is among all', () => {
    expect(movesOf([LUNCH], [{ ...LUNCH, categoryId: 8 }])).toEqual({
      ...changed('home#DAYS#7', -1n),
      ...changed('home#DAYS#8', 1n),
    });
  });

  test('one that becomes income moves from counter to counter, in one write an item', () => {
    const income = { ...LUNCH, categoryId: null, type: 'income' } as const;
    expect(movesOf([{ ...LUNCH, categoryId: null }], [income])).toEqual({
      ...changed('home#DAYS', -1n),
      ...{ 'home#DAYS Y#2024 i2': 1n, 'home#DAYS Y#2024 I2': 1250n },
      ...{ 'home#DAYS M#2024-02 i29': 1n, 'home#DAYS M#2024-02 I29': 1250n },
      ...changed('home#DAYS#none', -1n),
      ...{ 'home#DAYS#none Y#2024 i2': 1n, 'home#DAYS#none Y#2024 I2': 1250n },
      ...{ 'home#DAYS#none M#2024-02 i29': 1n, 'home#DAYS#none M#2024-02 I29': 1250n },
    });
    expect(counterWrites([{ ...LUNCH, categoryId: null }], [income])).toHaveLength(4);
  });
});

test('ofRange reads the years of the range alone, and its edge months', async () => {
  const asked: Range[] = [];
  const query = async (range: Range) => {
    asked.push(range);
    return [{ pk: 'home#DAYS#7', sk: 'Y#2024', i2: 3, e12: 1, I2: 5, E12: 10n ** 17n }];
  };
  const get = async ({ pk, sk }: Key) => ({ pk, sk, e29: 1, E29: 5 });
  const { ofRange } = createDayCounts({ query, get } as unknown as Database, createKeys('home'));
  const none = new Map();
  expect(await ofRange({ start: '2024-02-29', end: '2025-12-31' }, 7)).toEqual({
    years: [
      {
        year: '2024',
        ...{ income: new Map([[2, 3]]), expense: new Map([[12, 1]]) },
        cents: { income: new Map([[2, 5n]]), expense: new Map([[12, 10n ** 17n]]) },
      },
    ],
    edges: [
      {
        month: '2024-02',
        ...{ income: none, expense: new Map([[29, 1]]) },
        cents: { income: none, expense: new Map([[29, 5n]]) },
      },
    ],
  });
  expect(asked).toEqual([{ value: 'home#DAYS#7', between: ['Y#2024', 'Y#2025'] }]);
});
