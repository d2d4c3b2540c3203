// Reads one page of a list: the counts tell the total and the day where the page starts, the index is read from there.
import { type CalendarMonth, toDate } from '../domain/calendar-date.ts';
import {
  countsByDay,
  countsByMonth,
  type DateRange,
  dateRange,
  dayAt,
  edgeMonths,
  type MonthCounts,
  type MonthStart,
  monthAt,
  needsNoYears,
  type PageStart,
  sum,
} from '../domain/day-histogram.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { TransactionFilter } from '../domain/transaction-query.ts';
import type { Database } from './database.ts';
import type { DayCounts } from './day-counts.ts';
import type { Keys } from './keys.ts';
import { readRows } from './page-rows.ts';
import { fromTransactionItem } from './transaction-item.ts';

export interface TransactionPage {
  /** Rows of the whole list. */
  readonly total: number;
  readonly items: readonly Transaction[];
}

export type TransactionPages = ReturnType<typeof createTransactionPages>;

export function createTransactionPages(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly dayCounts: DayCounts;
}) {
  const { database, keys, dayCounts } = options;

  /** Counts and rows are eventually consistent: right after a write either may be ahead of the other. */
  async function read(
    filter: TransactionFilter,
    offset: number,
    limit: number,
  ): Promise<TransactionPage> {
    const range = dateRange(filter.startDate, filter.endDate);
    if (range.start > range.end) return { total: 0, items: [] };

    const { edges, months } = await countMonths(filter, range);
    const total = sum(months.map(([, count]) => count));
    const monthStart = monthAt(months, offset);
    if (!monthStart) return { total, items: [] };

    const start = await findDay(filter, range, monthStart, edges);
    const partition = keys.partition(filter);
    const items = await readRows(database, { partition, range, start, limit });
    return { total, items: items.map(fromTransactionItem) };
  }

  async function countMonths({ categoryId, type }: TransactionFilter, range: DateRange) {
    const [years, edges] = await Promise.all([
      needsNoYears(range) ? [] : dayCounts.years(range, categoryId),
      Promise.all(edgeMonths(range).map((month) => dayCounts.month(month, categoryId))),
    ]);
    return { edges, months: countsByMonth(range, years, edges, type) };
  }

  async function findDay(
    { categoryId, type }: TransactionFilter,
    range: DateRange,
    { month, skip }: MonthStart,
    known: readonly MonthCounts[],
  ): Promise<PageStart> {
    const counts =
      known.find((each) => each.month === month) ?? (await dayCounts.month(month, categoryId));
    return dayAt(countsByDay(range, counts, type), skip) ?? before(month);
  }

  return { read };
}

// Where the year already counts a row that the month does not, the page goes on before the month.
function before(month: CalendarMonth): PageStart {
  return { date: toDate(month, 0), skip: 0, dayCount: 0 };
}
