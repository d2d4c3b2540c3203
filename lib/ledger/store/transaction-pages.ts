// Reads one page of a transaction list at a cost that does not grow with the list: the day histogram gives the
// total and the day on which the page starts, and the rows are read from there, from a date-sorted index.

import type { Database, Item, Range } from '../../shared/database.ts';
import { type CalendarMonth, daysInMonth, monthOf, toDate } from '../domain/calendar-date.ts';
import {
  countsByDay,
  countsByMonth,
  type DateRange,
  dateRange,
  dayAt,
  isWholeMonthIn,
  type MonthCounts,
  type MonthStart,
  monthAt,
  type PageStart,
  rangesOutside,
  splitByCount,
  sum,
} from '../domain/day-histogram.ts';
import { isComplete } from '../domain/month-digest.ts';
import { comparePositions, type ListPosition, type Page } from '../domain/pagination.ts';
import type { ExportPart, Transaction, TransactionFilter } from '../domain/transaction.ts';
import { type DayCounts, digestsByMonth, type MonthDigests } from './day-counts.ts';
import {
  firstKeyAfter,
  firstKeyOnDay,
  type IndexPartition,
  type Keys,
  lastKeyBefore,
  lastKeyOnDay,
  lastPositionOn,
} from './keys.ts';
import type { MonthCache } from './month-cache.ts';
import { fromTransactionItem, STORED_ATTRIBUTES } from './transactions.ts';

/** Start and length of a page: it begins after a number of rows, or after a given row. */
export interface PagePlace {
  readonly offset: number;
  readonly limit: number;
  readonly after?: ListPosition | undefined;
  readonly isOldestFirst?: boolean | undefined;
}

export interface MatchingRows {
  /** Rows that had to be read. */
  readonly candidates: number;
  readonly items: readonly Transaction[];
}

export type TransactionPages = ReturnType<typeof createTransactionPages>;

/** Cost of a second query, in rows that could be read instead. */
const ROWS_PER_QUERY = 8;
/** More rows than this are counted over instead of fetched: as many read units, but nothing to transfer and decode. */
const WORTH_COUNTING_OVER = 200;
/** Rows of one query of a search, which reads several at once. */
const ROWS_PER_PART = 1_000;
const READ_CONCURRENCY = 6;
/** Rows of a part of an export with months from the cache: about as many as a query reads. */
const MAX_PART_ROWS = 4_000;

export function createTransactionPages(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly dayCounts: DayCounts;
  readonly monthCache: MonthCache;
}) {
  const { database, keys, dayCounts, monthCache } = options;

  /** Counts and rows are eventually consistent: right after a write either may be ahead of the other. */
  async function read(filter: TransactionFilter, place: PagePlace): Promise<Page<Transaction>> {
    const { offset, limit, after, isOldestFirst = false } = place;
    const rows = locateRows(filter);
    if (rows.start > rows.end) return toPage([], 0, false);
    const startsAtRow = after !== undefined || offset === 0;
    const [{ total, months, edges }, following] = await Promise.all([
      countRows(filter, rows),
      // A page that begins at a row does not depend on the counts: one row more tells whether others follow.
      startsAtRow ? slice(rangeAfter(rows, after, isOldestFirst), 0, limit + 1) : [],
    ]);
    if (startsAtRow) {
      const isLonger = following.length > limit;
      // The rows may be ahead of the counts.
      return toPage(following.slice(0, limit), Math.max(total, following.length), isLonger);
    }
    const isLonger = offset + limit < total;
    if (!isOldestFirst) return toPage(await readAt(offset, limit), total, isLonger);
    // The same rows as the page that ends as far from the newest.
    const end = Math.max(0, total - offset);
    const start = Math.max(0, end - limit);
    return toPage((await readAt(start, end - start)).reverse(), total, isLonger);

    /** @param from rows that are newer */
    async function readAt(from: number, count: number): Promise<Item[]> {
      const rest = total - from;
      const monthStart = monthAt(months, from);
      if (!monthStart || count === 0) return [];
      if (rest <= count) {
        // The last page ends with the oldest row: the day on which it starts need not be known.
        const last = oldestFirst(rows, rows.start, lastKeyOnDay(rows.end));
        return (await slice(last, 0, rest)).reverse();
      }
      return await readFrom(await findDay(filter, rows, monthStart, edges), rows, count);
    }
  }

  /** The matching rows of whole lists, in no order; where the lists have more rows than `most`, only how many. */
  async function readMatching(
    filters: readonly TransactionFilter[],
    most: number,
    matches: (row: Transaction) => boolean,
  ): Promise<MatchingRows> {
    const plans = await inParallel(filters, planReading);
    const candidates = sum(plans.map((plan) => plan.candidates));
    if (candidates > most) return { candidates, items: [] };
    const cached = plans.flatMap((plan) => plan.cached.map((rows) => rows.filter(matches)));
    // Rows that do not match are dropped with their part.
    const found = await inParallel(
      plans.flatMap((plan) => plan.parts),
      async (part) => (await readPart(part)).filter(matches),
    );
    return { candidates, items: [...cached, ...found].flat() };
  }

  /** The months of a list that are in the cache, and the parts in which the rest is read. */
  async function planReading(filter: TransactionFilter): Promise<ReadingPlan> {
    const rows = locateRows(filter);
    if (rows.start > rows.end) return { candidates: 0, cached: [], parts: [] };
    const { total, months, cached } = await findCached(filter, rows);
    const parts = rangesOutside(rows, [...cached.keys()]).flatMap((range) =>
      splitByCount(range, monthsIn(range, months), ROWS_PER_PART),
    );
    return {
      candidates: total,
      cached: [...cached.values()],
      parts: parts.map((range) => ({ ...rows, ...range, isOfAll: isOfAll(filter) })),
    };
  }

  /** The counts of a range, and its whole months in the cache. Only months of all transactions have digests. */
  async function findCached(filter: TransactionFilter, range: DateRange) {
    const { total, months, years } = await countRows(filter, range);
    const digests = digestsByMonth(isOfAll(filter) ? years : []);
    const cached = new Map(months.flatMap((each) => findMonth(range, each, digests)));
    return { total, months, cached };
  }

  /** A digest that lacks rows of an earlier release proves nothing. */
  function findMonth(
    range: DateRange,
    [month, count]: readonly [CalendarMonth, number],
    digests: MonthDigests,
  ) {
    const digest = digests.get(month);
    if (digest === undefined || !isComplete(digest, count)) return [];
    if (!isWholeMonthIn(month, range)) return [];
    const rows = monthCache.find(keys.allOf(month), digest);
    return rows ? [[month, rows] as const] : [];
  }

  function keepMonths(range: DateRange, rows: readonly Transaction[]): void {
    for (const [month, ofMonth] of Map.groupBy(rows, ({ date }) => monthOf(date))) {
      if (isWholeMonthIn(month, range)) monthCache.keep(keys.allOf(month), ofMonth);
    }
  }

  async function readPart({ isOfAll, ...rows }: PlannedPart): Promise<Transaction[]> {
    const items = await newest(rows, Number.POSITIVE_INFINITY);
    const transactions = items.map(fromTransactionItem);
    if (isOfAll) keepMonths(rows, transactions);
    return transactions;
  }

  /**
   * The oldest rows of the list, or the next ones after a position: as many as one query reads, which is 1 MB, and those of the
   * months in the cache before and after them.
   */
  async function readExportPart(
    filter: TransactionFilter,
    after?: ListPosition,
  ): Promise<ExportPart> {
    const rows = locateRows(filter);
    const from = after ? toDate(monthOf(after.date), 1) : rows.start;
    const range = { ...rows, start: from > rows.start ? from : rows.start };
    if (range.start > range.end) return { items: [] };
    const { stretches, isLast } = await planExportPart(filter, range);
    const read = await inParallel(stretches, (stretch) =>
      readStretch(filter, { ...rows, ...stretch }, after),
    );
    const full = read.findIndex(({ next }) => next);
    const items = read.slice(0, full < 0 ? read.length : full + 1).flatMap((each) => each.items);
    const end = isLast ? undefined : lastPositionOn(stretches.at(-1)?.end ?? range.end);
    return { items, next: read[full]?.next ?? end };
  }

  /** The counts are read only if a month may be in the cache: without them, one query reads the next part. */
  async function planExportPart(filter: TransactionFilter, range: DateRange) {
    const [first, last] = [range.start, range.end].map((date) => keys.allOf(monthOf(date)));
    if (!isOfAll(filter) || !monthCache.hasBetween(first ?? '', last ?? '')) {
      return { stretches: [{ ...range, count: 0 }], isLast: true };
    }
    const { months, cached } = await findCached(filter, range);
    const stretches: Stretch[] = [
      ...rangesOutside(range, [...cached.keys()]).map((gap) => ({
        ...gap,
        count: sum(monthsIn(gap, months).map(([, count]) => count)),
      })),
      ...[...cached].map(([month, items]) => ({
        ...{ start: toDate(month, 1), end: toDate(month, daysInMonth(month)) },
        ...{ count: items.length, items },
      })),
    ].toSorted((one, other) => (one.start < other.start ? -1 : 1));
    const taken = takeStretches(stretches);
    return { stretches: taken, isLast: taken.length === stretches.length };
  }

  async function readStretch(
    filter: TransactionFilter,
    { items: cached, ...rows }: Rows & Stretch,
    after?: ListPosition,
  ): Promise<ExportPart> {
    const isAfter = (row: Transaction) => !after || comparePositions(row, after) > 0;
    if (cached) return { items: cached.filter(isAfter).toSorted(comparePositions) };
    const range = rangeAfter(rows, after, true);
    if (isEmpty(range)) return { items: [] };
    const { items: stored, end } = await database.queryOnce(range);
    const items = stored.map(fromTransactionItem);
    const next = end && items.at(-1);
    // Not the month in which the query ended: without it in the cache, the next part needs no counts.
    const whole = next ? { ...rows, end: toDate(monthOf(next.date), 0) } : rows;
    if (isOfAll(filter)) keepMonths(whole, items);
    return { items, next };
  }

  function locateRows(filter: TransactionFilter): Rows {
    return {
      partition: keys.partition(filter),
      ...dateRange(filter.startDate, filter.endDate),
    };
  }

  async function countRows({ categoryId, type }: TransactionFilter, range: DateRange) {
    const counts = await dayCounts.ofRange(range, categoryId);
    const months = countsByMonth(range, counts, type);
    return { total: sum(months.map(([, count]) => count)), months, ...counts };
  }

  async function findDay(
    { categoryId, type }: TransactionFilter,
    range: DateRange,
    { month, skip }: MonthStart,
    known: readonly MonthCounts[],
  ): Promise<PageStart> {
    const counts =
      known.find((each) => each.month === month) ?? (await dayCounts.month(month, categoryId));
    // If the year already counts a row that the month does not yet count, the page starts before the month.
    const beforeMonth = { date: toDate(month, 0), skip: 0, dayCount: 0 };
    return dayAt(countsByDay(range, counts, type), skip) ?? beforeMonth;
  }

  /** The rows of a page that starts on a day whose newer rows are skipped, from the nearer end of that day. */
  async function readFrom(start: PageStart, rows: Rows, limit: number): Promise<Item[]> {
    const { date, skip, dayCount } = start;
    const rest = dayCount - skip;
    const fromOlderEnd = rest < limit ? limit + ROWS_PER_QUERY : rest;
    if (skip + limit <= fromOlderEnd) {
      return await slice(newestFirst(rows, rows.start, lastKeyOnDay(date)), skip, limit);
    }
    const taken = Math.min(rest, limit);
    const [ofDay, older] = await Promise.all([
      slice(oldestFirst(rows, firstKeyOnDay(date), lastKeyOnDay(date)), rest - taken, taken),
      slice(newestFirst(rows, rows.start, firstKeyOnDay(date)), 0, limit - taken),
    ]);
    return [...ofDay.reverse(), ...older];
  }

  async function newest(rows: Rows, limit: number): Promise<Item[]> {
    return await slice(newestFirst(rows, rows.start, lastKeyOnDay(rows.end)), 0, limit);
  }

  async function slice(range: Range, skip: number, limit: number): Promise<Item[]> {
    if (limit === 0 || isEmpty(range)) return [];
    if (skip <= WORTH_COUNTING_OVER) return (await database.query(range, skip + limit)).slice(skip);
    const from = await database.countOver(range, skip);
    return from ? await database.query(range, limit, from) : [];
  }

  return { read, readMatching, readExportPart };
}

/** Runs as many at a time as one busy core answers within the time of a call. */
async function inParallel<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [n, item] of waiting) results[n] = await run(item);
  };
  await Promise.all(Array.from({ length: READ_CONCURRENCY }, worker));
  return results;
}

function isOfAll({ type, categoryId }: TransactionFilter): boolean {
  return type === undefined && categoryId === undefined;
}

function monthsIn({ start, end }: DateRange, months: readonly [CalendarMonth, number][]) {
  return months.filter(([month]) => monthOf(start) <= month && month <= monthOf(end));
}

/** The first ones, up to the rows of a part; of those that must be read, one that has rows. */
function takeStretches(stretches: readonly Stretch[]): Stretch[] {
  const taken: Stretch[] = [];
  let count = 0;
  let isRead = false;
  for (const stretch of stretches) {
    const mustRead = stretch.items === undefined && stretch.count > 0;
    if (count > 0 && (count + stretch.count > MAX_PART_ROWS || (isRead && mustRead))) return taken;
    taken.push(stretch);
    count += stretch.count;
    isRead ||= mustRead;
  }
  return taken;
}

function toPage(items: readonly Item[], total: number, hasMore: boolean): Page<Transaction> {
  return { items: items.map(fromTransactionItem), total, hasMore };
}

/** Index partition and date range of a list. */
interface Rows extends DateRange {
  readonly partition: IndexPartition;
}

/** A part of a list that is read at once. */
interface PlannedPart extends Rows {
  /** True if it has every transaction of its dates. */
  readonly isOfAll: boolean;
}

/** Dates of a list whose rows are in the cache, or are read with one query. */
interface Stretch extends DateRange {
  readonly count: number;
  readonly items?: readonly Transaction[];
}

interface ReadingPlan {
  /** Rows of the list. */
  readonly candidates: number;
  readonly cached: readonly (readonly Transaction[])[];
  readonly parts: readonly PlannedPart[];
}

/** The rows after a position, or all of them, in either order. */
function rangeAfter(rows: Rows, after: ListPosition | undefined, isOldestFirst: boolean): Range {
  const [first, last] = [firstKeyOnDay(rows.start), lastKeyOnDay(rows.end)];
  if (!after) return (isOldestFirst ? oldestFirst : newestFirst)(rows, first, last);
  const [next, previous] = [firstKeyAfter(after), lastKeyBefore(after)];
  return isOldestFirst
    ? oldestFirst(rows, next > first ? next : first, last)
    : newestFirst(rows, first, previous < last ? previous : last);
}

function newestFirst(rows: Rows, first: string, last: string): Range {
  return { ...oldestFirst(rows, first, last), descending: true };
}

function oldestFirst({ partition }: Rows, first: string, last: string): Range {
  return { ...partition, sortKey: 'date_key', between: [first, last], only: STORED_ATTRIBUTES };
}

// DynamoDB refuses a range whose ends are crossed.
function isEmpty({ between }: Range): boolean {
  return between !== undefined && between[0] > between[1];
}
