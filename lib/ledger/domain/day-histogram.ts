// The day histogram: the number and the sum of income and of expenses, for each month of a year and for each day of a month.
// A list takes its exact total and the day on which a page starts from the histogram, so it does not read the transactions
// before the page. A summary reads no transactions at all.
import {
  type CalendarDate,
  type CalendarMonth,
  type CalendarYear,
  dayOfMonth,
  daysInMonth,
  EARLIEST_DATE,
  fromDayNumber,
  LATEST_DATE,
  monthOf,
  monthOfYear,
  toDate,
  toDayNumber,
  toMonth,
  yearOf,
} from './calendar-date.ts';
import { addTotals, type Totals } from './summary.ts';
import type { TransactionType } from './transaction.ts';

/** Numbers of transactions by slot. A slot is a month of a year, or a day of a month, from 1. */
export type SlotCounts = Readonly<Record<TransactionType, ReadonlyMap<number, number>>>;

/** Sums of amounts by slot, in cents. */
export interface SlotSums {
  readonly cents: Readonly<Record<TransactionType, ReadonlyMap<number, bigint>>>;
}

export type YearCounts = SlotCounts & { readonly year: CalendarYear };
export type MonthCounts = SlotCounts & { readonly month: CalendarMonth };

/** A range of dates, inclusive. */
export interface DateRange {
  readonly start: CalendarDate;
  readonly end: CalendarDate;
}

/** The day on which a page starts. The day has `dayCount` rows, and its newest `skip` rows come before the page. */
export interface PageStart {
  readonly date: CalendarDate;
  readonly skip: number;
  readonly dayCount: number;
}

/** The month in which a page starts. The newest `skip` rows of the month come before the page. */
export interface MonthStart {
  readonly month: CalendarMonth;
  readonly skip: number;
}

export function createDateRange(start?: CalendarDate, end?: CalendarDate): DateRange {
  return { start: start ?? EARLIEST_DATE, end: end ?? LATEST_DATE };
}

/** Lists the months that are only partly in the range. They must be counted by day. */
export function listEdgeMonths({ start, end }: DateRange): CalendarMonth[] {
  const edgeMonths = new Set<CalendarMonth>();
  if (dayOfMonth(start) !== 1) edgeMonths.add(monthOf(start));
  if (dayOfMonth(end) !== daysInMonth(monthOf(end))) edgeMonths.add(monthOf(end));
  return [...edgeMonths];
}

/** True if the range is part of a single month: then the counts of years are not needed. */
export function isWithinOneMonth(range: DateRange): boolean {
  return monthOf(range.start) === monthOf(range.end) && listEdgeMonths(range).length > 0;
}

/** The counts that a date range needs: those of its years, and those of the months that are only partly in the range. */
export interface RangeCounts<Sums = unknown> {
  readonly years: readonly (YearCounts & Sums)[];
  readonly edgeMonths: readonly (MonthCounts & Sums)[];
}

/** Counts the rows of each month, newest first. Days outside the range are not counted. */
export function countRowsByMonth(
  range: DateRange,
  counts: RangeCounts,
  type?: TransactionType,
): [CalendarMonth, number][] {
  return collectByMonth(range, counts, (slots, slot) => readSlotCount(slots, slot, type), sum);
}

/** Sums up each month, newest first. Days outside the range are not counted. */
export function sumTotalsByMonth(
  range: DateRange,
  counts: RangeCounts<SlotSums>,
  type?: TransactionType,
): [CalendarMonth, Totals][] {
  return collectByMonth(
    range,
    counts,
    (slots, slot) => readSlotTotals(slots, slot, type),
    addTotals,
  );
}

/**
 * Sums up each day of the range that has transactions.
 * @param months all months of the range
 */
export function sumTotalsByDay(
  range: DateRange,
  months: readonly (MonthCounts & SlotSums)[],
  type?: TransactionType,
): [CalendarDate, Totals][] {
  return months.flatMap((counts) =>
    listDaysInRange(range, counts.month)
      .map((slot): [CalendarDate, Totals] => [
        toDate(counts.month, slot),
        readSlotTotals(counts, slot, type),
      ])
      .filter(([, { count }]) => count > 0),
  );
}

/** Counts the rows of each day of a month, newest first. Days outside the range are left out. */
export function countRowsByDay(
  range: DateRange,
  month: MonthCounts,
  type?: TransactionType,
): [CalendarDate, number][] {
  return listDaysInRange(range, month.month).map((slot) => [
    toDate(month.month, slot),
    readSlotCount(month, slot, type),
  ]);
}

/** Finds the month of the row at the offset (from 0, newest first); undefined past the end. */
export function findMonthAt(
  months: readonly [CalendarMonth, number][],
  offset: number,
): MonthStart | undefined {
  const monthPosition = findSlotAt(months, offset);
  return monthPosition && { month: monthPosition.slot, skip: monthPosition.skip };
}

/** Finds the day of the row at the offset (from 0, newest first); undefined past the end. */
export function findDayAt(
  days: readonly [CalendarDate, number][],
  offset: number,
): PageStart | undefined {
  const dayPosition = findSlotAt(days, offset);
  return (
    dayPosition && { date: dayPosition.slot, skip: dayPosition.skip, dayCount: dayPosition.count }
  );
}

/** Selects the counts of the months that are at least partly in the range. */
export function selectMonths(
  { start, end }: DateRange,
  months: readonly [CalendarMonth, number][],
) {
  return months.filter(([month]) => monthOf(start) <= month && month <= monthOf(end));
}

export interface CountedRange extends DateRange {
  readonly count: number;
}

/** Splits the range into parts of about `maxRows` rows, newest first. No month is split. The parts cover the whole range. */
export function splitByCount(
  { start, end }: DateRange,
  months: readonly [CalendarMonth, number][],
  maxRows: number,
): CountedRange[] {
  const parts: CountedRange[] = [];
  let part = { end, count: 0 };
  let newerMonth: CalendarMonth | undefined;
  for (const [month, count] of months) {
    if (newerMonth !== undefined && part.count > 0 && part.count + count > maxRows) {
      parts.push({ start: toDate(newerMonth, 1), ...part });
      // Months without rows between the two parts belong to the older part.
      part = { end: addDays(toDate(newerMonth, 1), -1), count: 0 };
    }
    part.count += count;
    newerMonth = month;
  }
  return [...parts, { start, ...part }];
}

/** Lists the ranges that remain when these whole months are removed from the range, newest first. */
export function listRangesOutside(
  { start, end }: DateRange,
  months: readonly CalendarMonth[],
): DateRange[] {
  const ranges: DateRange[] = [];
  let newestDate = end;
  for (const month of months) {
    const lastDay = toDate(month, daysInMonth(month));
    if (lastDay < newestDate) ranges.push({ start: addDays(lastDay, 1), end: newestDate });
    newestDate = addDays(toDate(month, 1), -1);
  }
  return newestDate < start ? ranges : [...ranges, { start, end: newestDate }];
}

export function isWholeMonthIn(month: CalendarMonth, { start, end }: DateRange): boolean {
  return start <= toDate(month, 1) && toDate(month, daysInMonth(month)) <= end;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Finds the slots that count a date: the month is a slot of the year, and the day is a slot of the month. */
export function findSlots(date: CalendarDate): { ofYear: number; ofMonth: number } {
  return { ofYear: monthOfYear(date), ofMonth: dayOfMonth(date) };
}

export function toYearRange({ start, end }: DateRange): {
  first: CalendarYear;
  last: CalendarYear;
} {
  return { first: yearOf(start), last: yearOf(end) };
}

function findSlotAt<Slot extends string>(counts: readonly [Slot, number][], offset: number) {
  let skip = offset;
  for (const [slot, number] of counts) {
    if (skip < number) return { slot, skip, count: number };
    skip -= number;
  }
  return undefined;
}

function collectByMonth<Sums, Figure>(
  range: DateRange,
  { years, edgeMonths }: RangeCounts<Sums>,
  readFigure: (slots: SlotCounts & Sums, slot: number) => Figure,
  add: (figures: readonly Figure[]) => Figure,
): [CalendarMonth, Figure][] {
  const figures = new Map<CalendarMonth, Figure>();
  for (const year of years) {
    for (let slot = 1; slot <= 12; slot += 1) {
      const month = toMonth(year.year, slot);
      if (month >= monthOf(range.start) && month <= monthOf(range.end)) {
        figures.set(month, readFigure(year, slot));
      }
    }
  }
  for (const edge of edgeMonths) {
    const days = listDaysInRange(range, edge.month).map((slot) => readFigure(edge, slot));
    figures.set(edge.month, add(days));
  }
  return [...figures].sort(([a], [b]) => (a < b ? 1 : -1));
}

/** Lists the days of a month that are in the range, newest first. */
function listDaysInRange({ start, end }: DateRange, month: CalendarMonth): number[] {
  const slots: number[] = [];
  for (let slot = daysInMonth(month); slot >= 1; slot -= 1) {
    const date = toDate(month, slot);
    if (date >= start && date <= end) slots.push(slot);
  }
  return slots;
}

function addDays(date: CalendarDate, days: number): CalendarDate {
  return fromDayNumber(toDayNumber(date) + days);
}

function readSlotTotals(
  slots: SlotCounts & SlotSums,
  slot: number,
  type?: TransactionType,
): Totals {
  const readCents = (each: TransactionType) =>
    (type ?? each) === each ? (slots.cents[each].get(slot) ?? 0n) : 0n;
  return {
    incomeCents: readCents('income'),
    expenseCents: readCents('expense'),
    count: readSlotCount(slots, slot, type),
  };
}

function readSlotCount(slots: SlotCounts, slot: number, type?: TransactionType): number {
  const income = slots.income.get(slot) ?? 0;
  const expense = slots.expense.get(slot) ?? 0;
  if (type) return type === 'income' ? income : expense;
  return income + expense;
}
