// The day histogram: how many income and expense transactions each day has, on two levels. A year counts its
// months, a month its days. With it a list finds its exact total, and the day on which any page starts, without
// reading the transactions before the page.
import {
  type CalendarDate,
  type CalendarMonth,
  type CalendarYear,
  dayOfMonth,
  daysInMonth,
  EARLIEST_DATE,
  LATEST_DATE,
  monthOf,
  monthOfYear,
  toDate,
  toMonth,
  yearOf,
} from './calendar-date.ts';
import type { TransactionType } from './transaction.ts';

/** Counts by slot: slots are the months of a year, or the days of a month, from 1. */
export type SlotCounts = Readonly<Record<TransactionType, ReadonlyMap<number, number>>>;

export type YearCounts = SlotCounts & { readonly year: CalendarYear };
export type MonthCounts = SlotCounts & { readonly month: CalendarMonth };

/** Both ends included. */
export interface DateRange {
  readonly start: CalendarDate;
  readonly end: CalendarDate;
}

/** Where a page starts: after `skip` newer rows of a day that holds `dayCount` of them. */
export interface PageStart {
  readonly date: CalendarDate;
  readonly skip: number;
  readonly dayCount: number;
}

/** The same without its day: `skip` newer rows of the month come first. */
export interface MonthStart {
  readonly month: CalendarMonth;
  readonly skip: number;
}

export function dateRange(start?: CalendarDate, end?: CalendarDate): DateRange {
  return { start: start ?? EARLIEST_DATE, end: end ?? LATEST_DATE };
}

/** The months that are only partly in the range: they are counted by their days. */
export function edgeMonths({ start, end }: DateRange): CalendarMonth[] {
  const edges = new Set<CalendarMonth>();
  if (dayOfMonth(start) !== 1) edges.add(monthOf(start));
  if (dayOfMonth(end) !== daysInMonth(monthOf(end))) edges.add(monthOf(end));
  return [...edges];
}

/** Whether the range has no whole month, so that no count of a year is needed. */
export function needsNoYears(range: DateRange): boolean {
  return monthOf(range.start) === monthOf(range.end) && edgeMonths(range).length > 0;
}

/** Counts of each month of the range, newest first; of its edge months only the days inside count. */
export function countsByMonth(
  range: DateRange,
  years: readonly YearCounts[],
  edges: readonly MonthCounts[],
  type?: TransactionType,
): [CalendarMonth, number][] {
  const counts = new Map<CalendarMonth, number>();
  for (const year of years) {
    for (let slot = 1; slot <= 12; slot += 1) {
      const month = toMonth(year.year, slot);
      if (month >= monthOf(range.start) && month <= monthOf(range.end)) {
        counts.set(month, count(year, slot, type));
      }
    }
  }
  for (const edge of edges) {
    const days = countsByDay(range, edge, type);
    counts.set(edge.month, sum(days.map(([, number]) => number)));
  }
  return [...counts].sort(([one], [other]) => (one < other ? 1 : -1));
}

/** Counts of each day of the month that lies in the range, newest first. */
export function countsByDay(
  range: DateRange,
  month: MonthCounts,
  type?: TransactionType,
): [CalendarDate, number][] {
  const days: [CalendarDate, number][] = [];
  for (let slot = daysInMonth(month.month); slot >= 1; slot -= 1) {
    const date = toDate(month.month, slot);
    if (date >= range.start && date <= range.end) days.push([date, count(month, slot, type)]);
  }
  return days;
}

/** The month of the row at the offset (from 0, newest first); undefined past the end. */
export function monthAt(
  months: readonly [CalendarMonth, number][],
  offset: number,
): MonthStart | undefined {
  const hit = slotAt(months, offset);
  return hit && { month: hit.slot, skip: hit.skip };
}

/** The day of the row at the offset (from 0, newest first); undefined past the end. */
export function dayAt(
  days: readonly [CalendarDate, number][],
  offset: number,
): PageStart | undefined {
  const hit = slotAt(days, offset);
  return hit && { date: hit.slot, skip: hit.skip, dayCount: hit.count };
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The slot of a date within its year item and within its month item. */
export function slotsOf(date: CalendarDate): { ofYear: number; ofMonth: number } {
  return { ofYear: monthOfYear(date), ofMonth: dayOfMonth(date) };
}

export function yearsOf({ start, end }: DateRange): { first: CalendarYear; last: CalendarYear } {
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

function count(slots: SlotCounts, slot: number, type?: TransactionType): number {
  const income = slots.income.get(slot) ?? 0;
  const expense = slots.expense.get(slot) ?? 0;
  if (type) return type === 'income' ? income : expense;
  return income + expense;
}
