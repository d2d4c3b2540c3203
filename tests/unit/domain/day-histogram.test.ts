// Exact totals and the day of any page from counts alone.
import { describe, expect, test } from 'vitest';
import {
  countsByDay,
  countsByMonth,
  dateRange,
  dayAt,
  edgeMonths,
  type MonthCounts,
  monthAt,
  needsNoYears,
  type YearCounts,
} from '../../../lib/domain/day-histogram.ts';

type Slots = Readonly<Record<number, number>>;

function counts(income: Slots, expense: Slots) {
  const toMap = (slots: Slots) =>
    new Map(Object.entries(slots).map(([slot, count]) => [Number(slot), count]));
  return { income: toMap(income), expense: toMap(expense) };
}

const YEAR: YearCounts = { year: '2024', ...counts({ 1: 2, 12: 1 }, { 1: 3, 2: 4 }) };
const FEBRUARY: MonthCounts = { month: '2024-02', ...counts({}, { 1: 1, 28: 1, 29: 2 }) };

describe('edgeMonths: of which months the range takes a part only', () => {
  test.each([
    [undefined, undefined, []],
    ['2024-01-01', '2024-02-29', []],
    ['2024-01-01', '2024-02-28', ['2024-02']],
    ['2024-01-02', '2024-02-29', ['2024-01']],
    ['2024-01-02', '2024-02-28', ['2024-01', '2024-02']],
    ['2024-02-10', '2024-02-20', ['2024-02']],
    ['2023-02-28', '2023-02-28', ['2023-02']],
  ])('%s to %s', (start, end, months) => {
    expect(edgeMonths(dateRange(start, end))).toEqual(months);
  });
});

test.each([
  ['2024-02-02', '2024-02-29', true],
  ['2024-02-01', '2024-02-29', false],
  ['2024-01-31', '2024-02-01', false],
])('%s to %s needs no years: %s', (start, end, expected) => {
  expect(needsNoYears(dateRange(start, end))).toBe(expected);
});

describe('countsByMonth', () => {
  const nonEmpty = (months: [string, number][]) => months.filter(([, count]) => count > 0);

  test('newest month first, income and expense together or apart', () => {
    const range = dateRange('2024-01-01', '2024-12-31');
    expect(nonEmpty(countsByMonth(range, { years: [YEAR], edges: [] }))).toEqual([
      ['2024-12', 1],
      ['2024-02', 4],
      ['2024-01', 5],
    ]);
    expect(nonEmpty(countsByMonth(range, { years: [YEAR], edges: [] }, 'income'))).toEqual([
      ['2024-12', 1],
      ['2024-01', 2],
    ]);
  });

  test('of an edge month only the days inside count', () => {
    const range = dateRange('2024-02-28', '2024-12-31');
    expect(nonEmpty(countsByMonth(range, { years: [YEAR], edges: [FEBRUARY] }))).toEqual([
      ['2024-12', 1],
      ['2024-02', 3],
    ]);
  });

  test('months outside the range do not count', () => {
    expect(
      nonEmpty(countsByMonth(dateRange('2024-03-01', '2024-11-30'), { years: [YEAR], edges: [] })),
    ).toEqual([]);
  });
});

test('countsByDay: every day of the month in the range, newest first', () => {
  expect(countsByDay(dateRange('2024-02-28', '2024-03-09'), FEBRUARY)).toEqual([
    ['2024-02-29', 2],
    ['2024-02-28', 1],
  ]);
  expect(countsByDay(dateRange('2024-02-28', '2024-03-09'), FEBRUARY, 'income')).toEqual([
    ['2024-02-29', 0],
    ['2024-02-28', 0],
  ]);
});

describe('where an offset stands', () => {
  const days: [string, number][] = [
    ['2024-02-29', 2],
    ['2024-02-28', 0],
    ['2024-02-27', 3],
  ];

  test.each([
    [0, { date: '2024-02-29', skip: 0, dayCount: 2 }],
    [1, { date: '2024-02-29', skip: 1, dayCount: 2 }],
    [2, { date: '2024-02-27', skip: 0, dayCount: 3 }],
    [4, { date: '2024-02-27', skip: 2, dayCount: 3 }],
    [5, undefined],
  ])('row %i', (offset, start) => expect(dayAt(days, offset)).toEqual(start));

  test('in which month', () => {
    const months: [string, number][] = [
      ['2024-02', 5],
      ['2023-07', 1],
    ];
    expect([monthAt(months, 4), monthAt(months, 5), monthAt(months, 6)]).toEqual([
      { month: '2024-02', skip: 4 },
      { month: '2023-07', skip: 0 },
      undefined,
    ]);
  });
});
