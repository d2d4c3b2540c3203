// The day histogram: how many income and expense transactions each day has and what they add up to, on two levels. A year
// counts its months, a month its days. With this histogram a list finds its exact total, and the day on which any page starts,
// without reading the transactions before the page. A summary reads no transaction at all.
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

/** Counts by slot: slots are the months of a year, or the days of a month, from 1. */
export type SlotCounts = Readonly<Record<TransactionType, ReadonlyMap<number, number>>>;

/** The sums of the amounts by slot, in cents. */
export interface SlotSums {
  readonly cents: Readonly<Record<TransactionType, ReadonlyMap<number, bigint>>>;
}

export type YearCounts = SlotCounts & { readonly year: CalendarYear };
export type MonthCounts = SlotCounts & { readonly month: CalendarMonth };

/** A range of dates, both ends included. */
export interface DateRange {
  readonly start: CalendarDate;
  readonly end: CalendarDate;
}

/** Start of a page: after `skip` newer rows of a day that has `dayCount` rows. */
export interface PageStart {
  readonly date: CalendarDate;
  readonly skip: number;
  readonly dayCount: number;
}

/** Start of a page within a month whose days are not known yet: after `skip` newer rows of the month. */
export interface MonthStart {
  readonly month: CalendarMonth;
  readonly skip: number;
}

export function dateRange(start?: CalendarDate, end?: CalendarDate): DateRange {
  return { start: start ?? EARLIEST_DATE, end: end ?? LATEST_DATE };
}

/** Lists the months that are only partly in the range, which are therefore counted by day. */
export function edgeMonths({ start, end }: DateRange): CalendarMonth[] {
  const edges = new Set<CalendarMonth>();
  if (dayOfMonth(start) !== 1) edges.add(monthOf(start));
  if (dayOfMonth(end) !== daysInMonth(monthOf(end))) edges.add(monthOf(end));
  return [...edges];
}

/** True if the range is part of a single month, so that no year has to be read. */
export function isWithinOneMonth(range: DateRange): boolean {
  return monthOf(range.start) === monthOf(range.end) && edgeMonths(range).length > 0;
}

/** The counts of a date range: of its years, and of the months that are only partly in it. */
export interface RangeCounts<Sums = unknown> {
  readonly years: readonly (YearCounts & Sums)[];
  readonly edges: readonly (MonthCounts & Sums)[];
}

/** Counts of each month of the range, newest first; the edge months count only their days inside the range. */
export function countsByMonth(
  range: DateRange,
  counts: RangeCounts,
  type?: TransactionType,
): [CalendarMonth, number][] {
  return figuresByMonth(range, counts, (slots, slot) => countSlot(slots, slot, type), sum);
}

/** Totals of each month of the range, newest first; those of the edge months cover only the days inside the range. */
export function totalsByMonth(
  range: DateRange,
  counts: RangeCounts<SlotSums>,
  type?: TransactionType,
): [CalendarMonth, Totals][] {
  return figuresByMonth(range, counts, (slots, slot) => totalSlot(slots, slot, type), addTotals);
}

/** Totals of each day of the range, given all its months; days without transactions are left out. */
export function totalsByDay(
  range: DateRange,
  months: readonly (MonthCounts & SlotSums)[],
  type?: TransactionType,
): [CalendarDate, Totals][] {
  return months.flatMap((counts) =>
    slotsInRange(range, counts.month)
      .map((slot): [CalendarDate, Totals] => [
        toDate(counts.month, slot),
        totalSlot(counts, slot, type),
      ])
      .filter(([, { count }]) => count > 0),
  );
}

/** Counts of each day of the month that lies in the range, newest first. */
export function countsByDay(
  range: DateRange,
  month: MonthCounts,
  type?: TransactionType,
): [CalendarDate, number][] {
  return slotsInRange(range, month.month).map((slot) => [
    toDate(month.month, slot),
    countSlot(month, slot, type),
  ]);
}

/** Finds the month of the row at the offset (from 0, newest first); undefined past the end. */
export function monthAt(
  months: readonly [CalendarMonth, number][],
  offset: number,
): MonthStart | undefined {
  const hit = slotAt(months, offset);
  return hit && { month: hit.slot, skip: hit.skip };
}

/** Finds the day of the row at the offset (from 0, newest first); undefined past the end. */
export function dayAt(
  days: readonly [CalendarDate, number][],
  offset: number,
): PageStart | undefined {
  const hit = slotAt(days, offset);
  return hit && { date: hit.slot, skip: hit.skip, dayCount: hit.count };
}

/** Selects the counts of the months that the range touches. */
export function selectMonths(
  { start, end }: DateRange,
  months: readonly [CalendarMonth, number][],
) {
  return months.filter(([month]) => monthOf(start) <= month && month <= monthOf(end));
}

export interface CountedRange extends DateRange {
  readonly count: number;
}

/** Cuts the range between months, newest first, into parts of about `maxRows` rows. The parts cover the whole range. */
export function splitByCount(
  { start, end }: DateRange,
  months: readonly [CalendarMonth, number][],
  maxRows: number,
): CountedRange[] {
  const parts: CountedRange[] = [];
  let part = { end, count: 0 };
  let newer: CalendarMonth | undefined;
  for (const [month, count] of months) {
    if (newer !== undefined && part.count > 0 && part.count + count > maxRows) {
      parts.push({ start: toDate(newer, 1), ...part });
      // Rows of every month between the two parts are in the older one.
      part = { end: daysAfter(toDate(newer, 1), -1), count: 0 };
    }
    part.count += count;
    newer = month;
  }
  return [...parts, { start, ...part }];
}

/** Lists the ranges that remain when these whole months are removed from the range, newest first. */
export function rangesOutside(
  { start, end }: DateRange,
  months: readonly CalendarMonth[],
): DateRange[] {
  const ranges: DateRange[] = [];
  let newest = end;
  for (const month of months) {
    const last = toDate(month, daysInMonth(month));
    if (last < newest) ranges.push({ start: daysAfter(last, 1), end: newest });
    newest = daysAfter(toDate(month, 1), -1);
  }
  return newest < start ? ranges : [...ranges, { start, end: newest }];
}

export function isWholeMonthIn(month: CalendarMonth, { start, end }: DateRange): boolean {
  return start <= toDate(month, 1) && toDate(month, daysInMonth(month)) <= end;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The slot of a date within its year item and within its month item. */
export function slotsOf(date: CalendarDate): { ofYear: number; ofMonth: number } {
  return { ofYear: monthOfYear(date), ofMonth: dayOfMonth(date) };
}

export function yearRange({ start, end }: DateRange): { first: CalendarYear; last: CalendarYear } {
  return { first: yearOf(start), last: yearOf(end) };
}

function slotAt<Slot extends string>(counts: readonly [Slot, number][], offset: number) {
  let skip = offset;
  for (const [slot, number] of counts) {
    if (skip < number) return { slot, skip, count: number };
    skip -= number;
  }
  return undefined;
}

function figuresByMonth<Sums, Figure>(
  range: DateRange,
  { years, edges }: RangeCounts<Sums>,
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
  for (const edge of edges) {
    const days = slotsInRange(range, edge.month).map((slot) => readFigure(edge, slot));
    figures.set(edge.month, add(days));
  }
  return [...figures].sort(([a], [b]) => (a < b ? 1 : -1));
}

/** Lists the days of a month that are in the range, newest first. */
function slotsInRange({ start, end }: DateRange, month: CalendarMonth): number[] {
  const slots: number[] = [];
  for (let slot = daysInMonth(month); slot >= 1; slot -= 1) {
    const date = toDate(month, slot);
    if (date >= start && date <= end) slots.push(slot);
  }
  return slots;
}

function daysAfter(date: CalendarDate, days: number): CalendarDate {
  return fromDayNumber(toDayNumber(date) + days);
}

function totalSlot(slots: SlotCounts & SlotSums, slot: number, type?: TransactionType): Totals {
  const readCents = (each: TransactionType) =>
    (type ?? each) === each ? (slots.cents[each].get(slot) ?? 0n) : 0n;
  return {
    incomeCents: readCents('income'),
    expenseCents: readCents('expense'),
    count: countSlot(slots, slot, type),
  };
}

function countSlot(slots: SlotCounts, slot: number, type?: TransactionType): number {
  const income = slots.income.get(slot) ?? 0;
  const expense = slots.expense.get(slot) ?? 0;
  if (type) return type === 'income' ? income : expense;
  return income + expense;
}
