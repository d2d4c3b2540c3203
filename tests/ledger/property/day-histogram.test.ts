// For any range and offset, the histogram equals a count of the rows themselves.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { monthOf, yearOf } from '../../../lib/ledger/domain/calendar-date.ts';
import {
  countRowsByDay,
  countRowsByMonth,
  type DateRange,
  findDayAt,
  findMonthAt,
  findSlots,
  isWithinOneMonth,
  listEdgeMonths,
  type MonthCounts,
  type SlotCounts,
  sum,
  type YearCounts,
} from '../../../lib/ledger/domain/day-histogram.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../../../lib/ledger/domain/transaction.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { anyDate, crowdedDate } from '../support/calendar-arbitraries.ts';

interface Row {
  readonly date: string;
  readonly type: TransactionType;
}

const rows = fc.array(
  fc.record({ date: crowdedDate, type: fc.constantFrom(...TRANSACTION_TYPES) }),
  { maxLength: 40 },
);
const bound = fc.oneof(crowdedDate, anyDate);
const query = fc.record({
  start: fc.oneof(fc.constant('0001-01-01'), bound),
  end: fc.oneof(fc.constant('9999-12-31'), bound),
  type: fc.constantFrom(undefined, ...TRANSACTION_TYPES),
  offset: fc.nat({ max: 45 }),
});

function countBySlot(rows: readonly Row[], findSlot: (date: string) => number): SlotCounts {
  const counts = { income: new Map<number, number>(), expense: new Map<number, number>() };
  for (const { date, type } of rows) {
    counts[type].set(findSlot(date), (counts[type].get(findSlot(date)) ?? 0) + 1);
  }
  return counts;
}

function countByYear(rows: readonly Row[]): YearCounts[] {
  const byYear = Map.groupBy(rows, ({ date }) => yearOf(date));
  return [...byYear].map(([year, inYear]) => ({
    year,
    ...countBySlot(inYear, (date) => findSlots(date).ofYear),
  }));
}

function countInMonth(rows: readonly Row[], month: string): MonthCounts {
  const inMonth = rows.filter(({ date }) => monthOf(date) === month);
  return { month, ...countBySlot(inMonth, (date) => findSlots(date).ofMonth) };
}

/** Counts as a list does: from years and edge months for the total, and from one month to find the day. */
function findByHistogram(
  rows: readonly Row[],
  range: DateRange,
  type: Row['type'] | undefined,
  offset: number,
) {
  const years = isWithinOneMonth(range) ? [] : countByYear(rows);
  const edges = listEdgeMonths(range).map((month) => countInMonth(rows, month));
  const months = countRowsByMonth(range, { years, edgeMonths: edges }, type);
  const position = findMonthAt(months, offset);
  const days = position && countRowsByDay(range, countInMonth(rows, position.month), type);
  return {
    total: sum(months.map(([, count]) => count)),
    start: position && days && findDayAt(days, position.skip),
  };
}

function findByCounting(
  rows: readonly Row[],
  range: DateRange,
  type: Row['type'] | undefined,
  offset: number,
) {
  const dates = rows
    .filter((row) => type === undefined || row.type === type)
    .map(({ date }) => date)
    .filter((date) => date >= range.start && date <= range.end)
    .toSorted()
    .toReversed();
  const date = dates[offset];
  if (date === undefined) return { total: dates.length, start: undefined };
  const dayCount = dates.filter((each) => each === date).length;
  const start = { date, skip: offset - dates.indexOf(date), dayCount };
  return { total: dates.length, start };
}

test(`totals and positions by histogram equal those by counting (seed ${SEED})`, () => {
  const property = fc.property(rows, query, (ledger, { start, end, type, offset }) => {
    fc.pre(start <= end);
    const range = { start, end };
    expect(findByHistogram(ledger, range, type, offset)).toEqual(
      findByCounting(ledger, range, type, offset),
    );
  });
  fc.assert(property, seeded(5_000));
});
