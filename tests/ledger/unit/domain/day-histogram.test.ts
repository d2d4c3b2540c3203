// The months that a date range covers in whole or in part. property/day-histogram.test.ts compares totals and page starts with a
// plain count of rows.
import { expect, test } from 'vitest';
import {
  createDateRange,
  isWithinOneMonth,
  listEdgeMonths,
  listRangesOutside,
  splitByCount,
} from '../../../../lib/ledger/domain/day-histogram.ts';

test.each([
  [undefined, undefined, []],
  ['2024-01-01', '2024-02-29', []],
  ['2024-01-01', '2024-02-28', ['2024-02']],
  ['2024-01-02', '2024-02-29', ['2024-01']],
  ['2024-01-02', '2024-02-28', ['2024-01', '2024-02']],
  ['2024-02-10', '2024-02-20', ['2024-02']],
  ['2023-02-28', '2023-02-28', ['2023-02']],
])('the range from %s to %s covers only a part of the months %j', (start, end, months) => {
  expect(listEdgeMonths(createDateRange(start, end))).toEqual(months);
});

test.each([
  ['2024-02-02', '2024-02-29', true],
  ['2024-02-01', '2024-02-29', false],
  ['2024-01-31', '2024-02-01', false],
])('the range from %s to %s is part of one month: %s', (start, end, expected) => {
  expect(isWithinOneMonth(createDateRange(start, end))).toBe(expected);
});

const COUNTS_BY_MONTH: [string, number][] = [
  ['2026-03', 3],
  ['2026-02', 0],
  ['2026-01', 4],
  ['2024-12', 9],
  ['2024-11', 1],
];

test.each([
  [100, [['2024-11-05', '2026-03-20', 17]]],
  [
    7,
    [
      ['2026-01-01', '2026-03-20', 7],
      ['2024-12-01', '2025-12-31', 9],
      ['2024-11-05', '2024-11-30', 1],
    ],
  ],
])('parts of about %i rows cover the range', (maxRows, expected) => {
  const range = createDateRange('2024-11-05', '2026-03-20');
  const parts = splitByCount(range, COUNTS_BY_MONTH, maxRows);
  expect(parts.map(({ start, end, count }) => [start, end, count])).toEqual(expected);
  expect(splitByCount(range, [], maxRows)).toEqual([{ ...range, count: 0 }]);
});

test.each([
  [[], [['2024-11-05', '2026-03-20']]],
  [
    ['2026-02', '2024-12'],
    [
      ['2026-03-01', '2026-03-20'],
      ['2025-01-01', '2026-01-31'],
      ['2024-11-05', '2024-11-30'],
    ],
  ],
  // There are no dates between consecutive months.
  [
    ['2026-02', '2026-01', '2025-12'],
    [
      ['2026-03-01', '2026-03-20'],
      ['2024-11-05', '2025-11-30'],
    ],
  ],
])('listRangesOutside returns the range without the months %j', (months, expected) => {
  const ranges = listRangesOutside(createDateRange('2024-11-05', '2026-03-20'), months);
  expect(ranges.map(({ start, end }) => [start, end])).toEqual(expected);
});

test('listRangesOutside returns nothing if the months cover the whole range, even at the ends of the calendar', () => {
  expect(listRangesOutside(createDateRange('2024-02-01', '2024-02-29'), ['2024-02'])).toEqual([]);
  expect(listRangesOutside(createDateRange('9999-12-01'), ['9999-12'])).toEqual([]);
  expect(listRangesOutside(createDateRange(undefined, '0001-01-31'), ['0001-01'])).toEqual([]);
});
