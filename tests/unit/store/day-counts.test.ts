// Which counters a transaction moves when it comes, goes, or changes, and by how much; which ones a list reads.
import { describe, expect, test } from 'vitest';
import type { Database, Range } from '../../../lib/store/database.ts';
import { type Counted, createDayCounts } from '../../../lib/store/day-counts.ts';
import { createKeys } from '../../../lib/store/keys.ts';

// Following a transaction asks the database nothing.
const { follow } = createDayCounts({} as Database, createKeys('home'));

const LUNCH: Counted = { date: '2024-02-29', type: 'expense', categoryId: 7 };

/** `family item counter` to what is added to it. */
function movesOf(before: Counted | undefined, after: Counted | undefined): Record<string, unknown> {
  const moves = follow(before, after).flatMap(({ Update }) => {
    const { Key, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = Update ?? {};
    return Object.entries(ExpressionAttributeNames).map(([placeholder, counter]) => [
      `${Key?.pk} ${Key?.sk} ${counter}`,
      ExpressionAttributeValues[placeholder.replace('#', ':')],
    ]);
  });
  return Object.fromEntries(moves);
}

const counted = (by: number) => ({
  'home#DAYS Y#2024 e2': by,
  'home#DAYS M#2024-02 e29': by,
  'home#DAYS#7 Y#2024 e2': by,
  'home#DAYS#7 M#2024-02 e29': by,
});

describe('follow', () => {
  test('one that comes is counted among all and in its category, by year and by month', () => {
    expect(movesOf(undefined, LUNCH)).toEqual(counted(1));
  });

  test('one that goes is taken from the same counters', () => {
    expect(movesOf(LUNCH, undefined)).toEqual(counted(-1));
  });

  test('one without a category is counted among all and among those without one', () => {
    expect(movesOf(undefined, { ...LUNCH, categoryId: null })).toEqual({
      'home#DAYS Y#2024 e2': 1,
      'home#DAYS M#2024-02 e29': 1,
      'home#DAYS#none Y#2024 e2': 1,
      'home#DAYS#none M#2024-02 e29': 1,
    });
  });

  test('one that changes in nothing that is counted moves no counter', () => {
    expect(follow(LUNCH, { ...LUNCH })).toEqual([]);
  });

  test('one that moves within its month leaves the year alone', () => {
    expect(movesOf(LUNCH, { ...LUNCH, date: '2024-02-01' })).toEqual({
      'home#DAYS M#2024-02 e29': -1,
      'home#DAYS M#2024-02 e1': 1,
      'home#DAYS#7 M#2024-02 e29': -1,
      'home#DAYS#7 M#2024-02 e1': 1,
    });
  });

  test('one that moves to another category stays where it is among all', () => {
    expect(movesOf(LUNCH, { ...LUNCH, categoryId: 8 })).toEqual({
      'home#DAYS#7 Y#2024 e2': -1,
      'home#DAYS#7 M#2024-02 e29': -1,
      'home#DAYS#8 Y#2024 e2': 1,
      'home#DAYS#8 M#2024-02 e29': 1,
    });
  });

  test('one that becomes income moves from counter to counter, in one write an item', () => {
    const income = { ...LUNCH, categoryId: null, type: 'income' } as const;
    expect(movesOf({ ...LUNCH, categoryId: null }, income)).toEqual({
      'home#DAYS Y#2024 e2': -1,
      'home#DAYS Y#2024 i2': 1,
      'home#DAYS M#2024-02 e29': -1,
      'home#DAYS M#2024-02 i29': 1,
      'home#DAYS#none Y#2024 e2': -1,
      'home#DAYS#none Y#2024 i2': 1,
      'home#DAYS#none M#2024-02 e29': -1,
      'home#DAYS#none M#2024-02 i29': 1,
    });
    expect(follow({ ...LUNCH, categoryId: null }, income)).toHaveLength(4);
  });
});

test('years asks for those of the range alone, and tells income from expense', async () => {
  const asked: Range[] = [];
  const query = async (range: Range) => {
    asked.push(range);
    return [{ pk: 'home#DAYS#7', sk: 'Y#2024', i2: 3, e12: 1 }];
  };
  const { years } = createDayCounts({ query } as unknown as Database, createKeys('home'));
  expect(await years({ start: '2024-02-29', end: '2026-01-01' }, 7)).toEqual([
    { year: '2024', income: new Map([[2, 3]]), expense: new Map([[12, 1]]) },
  ]);
  expect(asked).toEqual([{ value: 'home#DAYS#7', between: ['Y#2024', 'Y#2026'] }]);
});
