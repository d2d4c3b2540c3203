// Caches the rows of whole months in a function's memory, for its next requests. Cached rows need neither invalidation nor
// expiry: a request reads the month's digest with the counts, and uses the cached rows only if they have the same digest.
import { type CalendarMonth, monthOf } from '../domain/calendar-date.ts';
import { type DateRange, isWholeMonthIn } from '../domain/day-histogram.ts';
import { isCompleteDigest, sumDigest } from '../domain/month-digest.ts';
import type { Transaction, TransactionFilter } from '../domain/transaction.ts';
import { type DayCounts, type MonthDigests, mapDigestsByMonth } from './day-counts.ts';
import type { Keys } from './keys.ts';
import { isUnfiltered } from './list-ranges.ts';

/** Names a month of a ledger. */
type MonthName = string;

interface Entry {
  readonly rows: readonly Transaction[];
  readonly size: number;
  /** Computed on the first lookup, because most months are read only once. */
  digest?: bigint;
}

export type MonthCache = ReturnType<typeof createMonthCache>;
export type CachedMonths = ReturnType<typeof createCachedMonths>;

/** Approximate size of a row without its description and notes, in characters. */
const ROW_SIZE = 200;

/** @param maxSize maximum size of all rows, in characters; the least recently used months are dropped first */
export function createMonthCache(maxSize: number) {
  /** Entries, the least recently used first. */
  const entries = new Map<MonthName, Entry>();
  let size = 0;

  /** Finds the month's rows if they have this digest. */
  function find(name: MonthName, digest: bigint): readonly Transaction[] | undefined {
    const entry = entries.get(name);
    if (!entry) return undefined;
    entry.digest ??= sumDigest(entry.rows);
    if (entry.digest !== digest) return undefined;
    entries.delete(name);
    entries.set(name, entry);
    return entry.rows;
  }

  /** True if a month between the two names is cached, whether or not its rows are current. */
  function hasBetween(first: MonthName, last: MonthName): boolean {
    return entries.keys().some((name) => first <= name && name <= last);
  }

  /** Keeps the rows of a month. Rows from a lagging index may be stale; their digest differs, so `find` ignores them. */
  function keep(name: MonthName, rows: readonly Transaction[]): void {
    drop(name);
    entries.set(name, { rows, size: measureSize(rows) });
    size += measureSize(rows);
    for (const oldest of entries.keys()) {
      if (size <= maxSize) return;
      drop(oldest);
    }
  }

  function drop(name: MonthName): void {
    size -= entries.get(name)?.size ?? 0;
    entries.delete(name);
  }

  return { find, hasBetween, keep };
}

/** The months of one ledger in the cache. */
export function createCachedMonths(options: {
  readonly keys: Keys;
  readonly dayCounts: DayCounts;
  readonly monthCache: MonthCache;
}) {
  const { keys, dayCounts, monthCache } = options;

  /**
   * Reads the counts of a range, and finds which of its whole months are cached, newest first. With a filter, finds none, because
   * only months of all transactions have digests.
   */
  async function find(filter: TransactionFilter, range: DateRange) {
    const { total, months, years } = await dayCounts.countList(filter, range);
    const digests = mapDigestsByMonth(isUnfiltered(filter) ? years : []);
    const cached = new Map(months.flatMap((each) => findMonth(range, each, digests)));
    return { total, months, cached };
  }

  /** Finds a whole month in the cache. A digest that does not include all rows proves nothing. */
  function findMonth(
    range: DateRange,
    [month, count]: readonly [CalendarMonth, number],
    digests: MonthDigests,
  ) {
    const digest = digests.get(month);
    if (digest === undefined || !isCompleteDigest(digest, count)) return [];
    if (!isWholeMonthIn(month, range)) return [];
    const rows = monthCache.find(keys.cachedMonth(month), digest);
    return rows ? [[month, rows] as const] : [];
  }

  /** True if the cache may have a month of the range, whether or not its rows are current. Does not read the table. */
  function mayContain({ start, end }: DateRange): boolean {
    return monthCache.hasBetween(keys.cachedMonth(monthOf(start)), keys.cachedMonth(monthOf(end)));
  }

  /** @param rows all transactions of the range; months that are only partly in it are not kept */
  function keep(range: DateRange, rows: readonly Transaction[]): void {
    for (const [month, monthRows] of Map.groupBy(rows, ({ date }) => monthOf(date))) {
      if (isWholeMonthIn(month, range)) monthCache.keep(keys.cachedMonth(month), monthRows);
    }
  }

  return { find, mayContain, keep };
}

function measureSize(rows: readonly Transaction[]): number {
  return rows.reduce(
    (sum, { description, notes }) => sum + ROW_SIZE + description.length + (notes?.length ?? 0),
    0,
  );
}
