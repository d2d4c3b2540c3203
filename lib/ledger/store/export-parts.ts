// Reads a list from its oldest row to its newest, in parts. A part takes months from the cache, and reads the dates between
// them with several queries in parallel. Each part makes progress, whatever is cached and however large a month is.

import type { Database } from '../../shared/database.ts';
import { daysInMonth, monthOf, toDate } from '../domain/calendar-date.ts';
import {
  type CountedRange,
  type DateRange,
  monthsIn,
  rangesOutside,
  splitByCount,
  sum,
} from '../domain/day-histogram.ts';
import { comparePositions, type ListPosition } from '../domain/pagination.ts';
import type { ExportPart, Transaction, TransactionFilter } from '../domain/transaction.ts';
import { type Keys, lastPositionOn } from './keys.ts';
import { isEmpty, isUnfiltered, locateRows, type Rows, rangeAfter } from './list-ranges.ts';
import type { CachedMonths } from './month-cache.ts';
import { inParallel } from './parallel-reads.ts';
import { fromTransactionItem } from './transactions.ts';

export interface PartLimits {
  /** Rows of a part: about as many as one query reads, which is 1 MB. */
  readonly maxRows: number;
  /** Rows of a query: dates are split into queries of about this size, which are sent in parallel. */
  readonly maxRowsPerQuery: number;
  /** Rows that a part must have for each query after the first: fewer are not worth a query. */
  readonly minRowsPerQuery: number;
}

/**
 * Dates whose rows are in the cache, or are read with one query. For dates in the cache, `count` is the number of rows after
 * the part's position.
 */
interface Stretch extends CountedRange {
  /** Rows from the cache; undefined for dates that a query reads. */
  readonly cached?: readonly Transaction[];
}

interface Plan {
  readonly stretches: readonly Stretch[];
  /** Position at which the part ends although more rows follow; undefined if the part has the rest of the list. */
  readonly end?: ListPosition | undefined;
}

export type ExportParts = ReturnType<typeof createExportParts>;

/** A part of 4,000 rows is read with at most 9 queries. */
const PART_LIMITS: PartLimits = { maxRows: 4_000, maxRowsPerQuery: 1_000, minRowsPerQuery: 500 };

export function createExportParts(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly cachedMonths: CachedMonths;
  readonly limits?: PartLimits | undefined;
}) {
  const { database, keys, cachedMonths, limits = PART_LIMITS } = options;

  /** Reads the oldest rows of the list, or the next ones after a position. */
  async function read(filter: TransactionFilter, after?: ListPosition): Promise<ExportPart> {
    const rows = locateRows(keys, filter);
    // The cache has only whole months, so the range begins with the whole month of the position.
    const from = after ? toDate(monthOf(after.date), 1) : rows.start;
    const range = { start: from > rows.start ? from : rows.start, end: rows.end };
    if (range.start > range.end) return { items: [] };
    const { stretches, end } = await plan(filter, range, after);
    const parts = await inParallel(stretches, (stretch) =>
      readStretch(filter, { ...rows, ...stretch }, after),
    );
    const full = parts.findIndex(({ next }) => next);
    const items = parts.slice(0, full < 0 ? parts.length : full + 1).flatMap((part) => part.items);
    // A month may have more rows than a part.
    if (items.length > limits.maxRows) return cutAfter(items, limits.maxRows);
    return { items, next: parts[full]?.next ?? end };
  }

  /**
   * Plans a part. The counts are read unless all dates lie in one month that is not in the cache: one query reads that month.
   */
  async function plan(
    filter: TransactionFilter,
    range: DateRange,
    after?: ListPosition,
  ): Promise<Plan> {
    const oneQuery: Plan = { stretches: [{ ...range, count: 0 }] };
    const mayBeCached = isUnfiltered(filter) && cachedMonths.mayHave(range);
    if (monthOf(range.start) === monthOf(range.end) && !mayBeCached) return oneQuery;
    const stretches = await findStretches(filter, range, after);
    const taken = takeStretches(stretches, limits.maxRows, after);
    const queries = taken.filter(({ cached }) => !cached).length;
    const rows = sum(taken.map(({ count }) => count));
    // If few rows lie between many months in the cache, one query that reads those months again is faster.
    if ((queries - 1) * limits.minRowsPerQuery > rows) return oneQuery;
    const last = taken.length < stretches.length ? taken.at(-1) : undefined;
    return { stretches: taken, end: last && lastPositionOn(last.end) };
  }

  /** Finds the months in the cache and the dates between them, oldest first. */
  async function findStretches(
    filter: TransactionFilter,
    range: DateRange,
    after?: ListPosition,
  ): Promise<Stretch[]> {
    const { months, cached } = await cachedMonths.find(filter, range);
    const between = rangesOutside(range, [...cached.keys()]).flatMap((gap) =>
      splitByCount(gap, monthsIn(gap, months), limits.maxRowsPerQuery),
    );
    const kept = [...cached].map(([month, rows]) => {
      const following = rows.filter((row) => !after || comparePositions(row, after) > 0);
      return {
        start: toDate(month, 1),
        end: toDate(month, daysInMonth(month)),
        count: following.length,
        cached: following,
      };
    });
    return [...between, ...kept].toSorted((one, other) => (one.start < other.start ? -1 : 1));
  }

  async function readStretch(
    filter: TransactionFilter,
    { cached, ...rows }: Rows & Stretch,
    after?: ListPosition,
  ): Promise<ExportPart> {
    if (cached) return { items: cached.toSorted(comparePositions) };
    const range = rangeAfter(rows, after, true);
    if (isEmpty(range)) return { items: [] };
    const { items: stored, end } = await database.queryOnce(range);
    const items = stored.map(fromTransactionItem);
    const next = end && items.at(-1);
    if (isUnfiltered(filter)) cachedMonths.keep(withoutCutMonths(rows, after, next), items);
    return { items, next };
  }

  return { read };
}

/** Takes the first stretches, up to the rows of a part. */
function takeStretches(
  stretches: readonly Stretch[],
  maxRows: number,
  after?: ListPosition,
): Stretch[] {
  const taken: Stretch[] = [];
  let count = 0;
  // A part must have a row. The rows of the dates in which it begins do not count, because all of them may be in the part
  // before.
  let hasRows = false;
  for (const stretch of stretches) {
    if (hasRows && count + stretch.count > maxRows) return taken;
    taken.push(stretch);
    count += stretch.count;
    hasRows ||= stretch.count > 0 && !(!stretch.cached && after && stretch.start <= after.date);
  }
  return taken;
}

function cutAfter(items: readonly Transaction[], count: number): ExportPart {
  return { items: items.slice(0, count), next: items[count - 1] };
}

/**
 * Leaves out the months of the two positions: a query after the one and up to the other has read only a part of them. Without
 * the month of the last row in the cache, the next part of that month alone needs no counts.
 */
function withoutCutMonths(
  { start, end }: DateRange,
  after: ListPosition | undefined,
  last: ListPosition | undefined,
): DateRange {
  // A range that starts on the second day of a month does not have the whole month.
  const isCut = after && after.date >= start;
  return {
    start: isCut ? toDate(monthOf(after.date), 2) : start,
    end: last ? toDate(monthOf(last.date), 0) : end,
  };
}
