// Reads one page of a transaction list at a cost that does not grow with the list. The day histogram gives the total and the
// day on which the page starts. From that day on, rows are read from a date-sorted index. A search reads whole lists, several
// parts in parallel.

import type { Database, Item, Range } from '../../shared/database.ts';
import { toDate } from '../domain/calendar-date.ts';
import {
  countRowsByDay,
  type DateRange,
  findDayAt,
  findMonthAt,
  listRangesOutside,
  type MonthCounts,
  type MonthStart,
  type PageStart,
  selectMonths,
  splitByCount,
  sum,
} from '../domain/day-histogram.ts';
import type { ListPosition, Page } from '../domain/pagination.ts';
import type { Transaction, TransactionFilter } from '../domain/transaction.ts';
import type { DayCounts } from './day-counts.ts';
import { type Keys, toFirstKeyOnDay, toLastKeyOnDay } from './keys.ts';
import {
  isEmpty,
  isUnfiltered,
  type ListRange,
  locateList,
  newestFirst,
  oldestFirst,
  rangeAfter,
} from './list-ranges.ts';
import type { CachedMonths } from './month-cache.ts';
import { inParallel } from './parallel-reads.ts';
import { fromTransactionItem } from './transactions.ts';

/** Start and length of a page. The page begins after the row at `after` or, without `after`, after `offset` rows. */
export interface PageWindow {
  readonly offset: number;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
  readonly isOldestFirst?: boolean | undefined;
}

export interface MatchingRows {
  /** Number of rows in the lists, whether or not they match. If there are too many, `items` is empty. */
  readonly candidates: number;
  readonly items: readonly Transaction[];
}

export type TransactionPages = ReturnType<typeof createTransactionPages>;

/** A second query costs as much as reading this many rows. */
const QUERY_COST_IN_ROWS = 8;
/** Maximum number of rows that are fetched to be skipped. Counting more rows takes the same read units, but transfers nothing. */
const MAX_FETCHED_SKIPS = 200;
/** Number of rows that each of a search's parallel queries reads. */
const ROWS_PER_PART = 1_000;

export function createTransactionPages(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly dayCounts: DayCounts;
  readonly cachedMonths: CachedMonths;
}) {
  const { database, keys, dayCounts, cachedMonths } = options;

  /** Reads a page. Counts and rows are eventually consistent: right after a write either may be ahead of the other. */
  async function read(filter: TransactionFilter, window: PageWindow): Promise<Page<Transaction>> {
    const { offset, limit, after, isOldestFirst = false } = window;
    const list = locateList(keys, filter);
    if (list.start > list.end) return toPage([], 0, false);
    const startsAtRow = after !== undefined || offset === 0;
    const [{ total, months, edgeMonths }, followingRows] = await Promise.all([
      dayCounts.countList(filter, list),
      // A page that begins at a row does not depend on the counts: one additional row shows whether more rows follow the page.
      startsAtRow ? readSlice(rangeAfter(list, after, isOldestFirst), 0, limit + 1) : [],
    ]);
    if (startsAtRow) {
      const hasMore = followingRows.length > limit;
      // The rows may be ahead of the counts.
      return toPage(followingRows.slice(0, limit), Math.max(total, followingRows.length), hasMore);
    }
    const hasMore = offset + limit < total;
    if (!isOldestFirst) return toPage(await readAtOffset(offset, limit), total, hasMore);
    // A list sorted oldest first is the reverse of the list sorted newest first.
    const end = Math.max(0, total - offset);
    const start = Math.max(0, end - limit);
    return toPage((await readAtOffset(start, end - start)).reverse(), total, hasMore);

    /** @param from number of newer rows, which are skipped */
    async function readAtOffset(from: number, count: number): Promise<Item[]> {
      const remaining = total - from;
      const monthStart = findMonthAt(months, from);
      if (!monthStart || count === 0) return [];
      if (remaining <= count) {
        // The last page is read from the oldest row backward, so the day on which it starts is not needed.
        const lastPageRange = oldestFirst(list, list.start, toLastKeyOnDay(list.end));
        return (await readSlice(lastPageRange, 0, remaining)).reverse();
      }
      return await readFromDay(await findDay(filter, list, monthStart, edgeMonths), list, count);
    }
  }

  /** Reads the matching rows of whole lists, unordered. If the lists have more than `maxRows` rows, returns only their number. */
  async function readMatching(
    filters: readonly TransactionFilter[],
    maxRows: number,
    matches: (row: Transaction) => boolean,
  ): Promise<MatchingRows> {
    const plans = await inParallel(filters, planReading);
    const candidates = sum(plans.map((plan) => plan.candidates));
    if (candidates > maxRows) return { candidates, items: [] };
    const cachedRows = plans.flatMap((plan) => plan.cached.map((rows) => rows.filter(matches)));
    // Filters each part as it arrives, so that memory does not hold the rows that do not match.
    const uncachedRows = await inParallel(
      plans.flatMap((plan) => plan.parts),
      async (part) => (await readPart(part)).filter(matches),
    );
    return { candidates, items: [...cachedRows, ...uncachedRows].flat() };
  }

  /** Finds the cached months of a list, and plans the parts in which the other rows are read. */
  async function planReading(filter: TransactionFilter): Promise<ReadingPlan> {
    const list = locateList(keys, filter);
    if (list.start > list.end) return { candidates: 0, cached: [], parts: [] };
    const { total, months, cached } = await cachedMonths.find(filter, list);
    const parts = listRangesOutside(list, [...cached.keys()]).flatMap((range) =>
      splitByCount(range, selectMonths(range, months), ROWS_PER_PART),
    );
    return {
      candidates: total,
      cached: [...cached.values()],
      parts: parts.map((range) => ({ ...list, ...range, isWhole: isUnfiltered(filter) })),
    };
  }

  async function readPart({ isWhole, ...list }: PlannedPart): Promise<Transaction[]> {
    const items = await readNewest(list, Number.POSITIVE_INFINITY);
    const transactions = items.map(fromTransactionItem);
    if (isWhole) cachedMonths.keep(list, transactions);
    return transactions;
  }

  async function findDay(
    { categoryId, type }: TransactionFilter,
    range: DateRange,
    { month, skip }: MonthStart,
    knownMonths: readonly MonthCounts[],
  ): Promise<PageStart> {
    const counts =
      knownMonths.find((each) => each.month === month) ??
      (await dayCounts.readMonth(month, categoryId));
    // The year's item may already count a new row that the month's item does not. The page then starts before the month.
    const beforeMonth = { date: toDate(month, 0), skip: 0, dayCount: 0 };
    return findDayAt(countRowsByDay(range, counts, type), skip) ?? beforeMonth;
  }

  /**
   * Reads the rows of a page, beginning with the day on which the page starts. Skips the newer rows of that day, or reads the day
   * from its older end if that is cheaper.
   */
  async function readFromDay(start: PageStart, list: ListRange, limit: number): Promise<Item[]> {
    const { date, skip, dayCount } = start;
    const remaining = dayCount - skip;
    const costFromOlderEnd = remaining < limit ? limit + QUERY_COST_IN_ROWS : remaining;
    if (skip + limit <= costFromOlderEnd) {
      return await readSlice(newestFirst(list, list.start, toLastKeyOnDay(date)), skip, limit);
    }
    const takenCount = Math.min(remaining, limit);
    const [dayRows, olderRows] = await Promise.all([
      readSlice(
        oldestFirst(list, toFirstKeyOnDay(date), toLastKeyOnDay(date)),
        remaining - takenCount,
        takenCount,
      ),
      readSlice(newestFirst(list, list.start, toFirstKeyOnDay(date)), 0, limit - takenCount),
    ]);
    return [...dayRows.reverse(), ...olderRows];
  }

  async function readNewest(list: ListRange, limit: number): Promise<Item[]> {
    return await readSlice(newestFirst(list, list.start, toLastKeyOnDay(list.end)), 0, limit);
  }

  async function readSlice(range: Range, skip: number, limit: number): Promise<Item[]> {
    if (limit === 0 || isEmpty(range)) return [];
    if (skip <= MAX_FETCHED_SKIPS) return (await database.query(range, skip + limit)).slice(skip);
    const from = await database.findPositionAfter(range, skip);
    return from ? await database.query(range, limit, from) : [];
  }

  return { read, readMatching };
}

function toPage(items: readonly Item[], total: number, hasMore: boolean): Page<Transaction> {
  return { items: items.map(fromTransactionItem), total, hasMore };
}

/** A part of a list, read by one query. */
interface PlannedPart extends ListRange {
  /** True if the part has every transaction of its dates. */
  readonly isWhole: boolean;
}

interface ReadingPlan {
  /** Number of rows in the list. */
  readonly candidates: number;
  readonly cached: readonly (readonly Transaction[])[];
  readonly parts: readonly PlannedPart[];
}
