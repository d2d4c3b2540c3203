// Reads a list in parts, from its oldest row to its newest. A part takes months from the cache, and reads the dates between
// them with parallel queries. Each part makes progress, whatever the cache has and however large a month is.

import type { Database } from '../../shared/database.ts';
import { daysInMonth, monthOf, toDate } from '../domain/calendar-date.ts';
import {
  type CountedRange,
  type DateRange,
  listRangesOutside,
  selectMonths,
  splitByCount,
  sum,
} from '../domain/day-histogram.ts';
import { comparePositions, type ListPosition } from '../domain/pagination.ts';
import type { ExportPart, Transaction, TransactionFilter } from '../domain/transaction.ts';
import { type Keys, toLastPositionOn } from './keys.ts';
import { isEmpty, isUnfiltered, type ListRange, locateList, rangeAfter } from './list-ranges.ts';
import type { CachedMonths } from './month-cache.ts';
import { inParallel } from './parallel-reads.ts';
import { fromTransactionItem } from './transactions.ts';

export interface PartLimits {
  /** Maximum number of rows in a part: about as many as one query returns (1 MB). */
  readonly maxRows: number;
  /** Approximate number of rows that each of the parallel queries reads. */
  readonly maxRowsPerQuery: number;
  /** Minimum number of rows in a part for each query after the first. Fewer rows are not worth another query. */
  readonly minRowsPerQuery: number;
}

/**
 * A range of dates whose rows are in the cache, or are read with one query. For cached rows, `count` is the number of those after
 * the position at which the part starts.
 */
interface Segment extends CountedRange {
  /** Rows from the cache; undefined for dates that a query reads. */
  readonly cached?: readonly Transaction[];
}

interface Plan {
  readonly segments: readonly Segment[];
  /** Position at which the part ends; undefined for the last part. */
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

  /** Reads the oldest rows of the list, or the rows after a position. */
  async function read(filter: TransactionFilter, after?: ListPosition): Promise<ExportPart> {
    const list = locateList(keys, filter);
    // The cache has only whole months, so the range begins on the first day of the position's month.
    const firstDate = after ? toDate(monthOf(after.date), 1) : list.start;
    const range = { start: firstDate > list.start ? firstDate : list.start, end: list.end };
    if (range.start > range.end) return { items: [] };
    const { segments, end } = await planPart(filter, range, after);
    const parts = await inParallel(segments, (segment) =>
      readSegment(filter, { ...list, ...segment }, after),
    );
    const firstCutIndex = parts.findIndex(({ next }) => next);
    const items = parts
      .slice(0, firstCutIndex < 0 ? parts.length : firstCutIndex + 1)
      .flatMap((part) => part.items);
    // A single month may have more rows than a part.
    if (items.length > limits.maxRows) return takeFirstRows(items, limits.maxRows);
    return { items, next: parts[firstCutIndex]?.next ?? end };
  }

  /** Plans a part. A range within a single month that is not cached needs one query and no counts. */
  async function planPart(
    filter: TransactionFilter,
    range: DateRange,
    after?: ListPosition,
  ): Promise<Plan> {
    const singleQueryPlan: Plan = { segments: [{ ...range, count: 0 }] };
    const mayBeCached = isUnfiltered(filter) && cachedMonths.mayContain(range);
    if (monthOf(range.start) === monthOf(range.end) && !mayBeCached) return singleQueryPlan;
    const segments = await findSegments(filter, range, after);
    const selectedSegments = selectSegments(segments, limits.maxRows, after);
    const queryCount = selectedSegments.filter(({ cached }) => !cached).length;
    const rowCount = sum(selectedSegments.map(({ count }) => count));
    // If few rows lie between many cached months, one query that also reads the cached months is faster.
    if ((queryCount - 1) * limits.minRowsPerQuery > rowCount) return singleQueryPlan;
    const lastSegment =
      selectedSegments.length < segments.length ? selectedSegments.at(-1) : undefined;
    return { segments: selectedSegments, end: lastSegment && toLastPositionOn(lastSegment.end) };
  }

  /** Finds the cached months and the dates between them, oldest first. */
  async function findSegments(
    filter: TransactionFilter,
    range: DateRange,
    after?: ListPosition,
  ): Promise<Segment[]> {
    const { months, cached } = await cachedMonths.find(filter, range);
    const uncachedSegments = listRangesOutside(range, [...cached.keys()]).flatMap((gap) =>
      splitByCount(gap, selectMonths(gap, months), limits.maxRowsPerQuery),
    );
    const cachedSegments = [...cached].map(([month, rows]) => {
      const followingRows = rows.filter((row) => !after || comparePositions(row, after) > 0);
      return {
        start: toDate(month, 1),
        end: toDate(month, daysInMonth(month)),
        count: followingRows.length,
        cached: followingRows,
      };
    });
    return [...uncachedSegments, ...cachedSegments].toSorted((a, b) =>
      a.start < b.start ? -1 : 1,
    );
  }

  async function readSegment(
    filter: TransactionFilter,
    { cached, ...list }: ListRange & Segment,
    after?: ListPosition,
  ): Promise<ExportPart> {
    if (cached) return { items: cached.toSorted(comparePositions) };
    const range = rangeAfter(list, after, true);
    if (isEmpty(range)) return { items: [] };
    const { items: stored, end } = await database.queryOnce(range);
    const items = stored.map(fromTransactionItem);
    const next = end && items.at(-1);
    if (isUnfiltered(filter)) cachedMonths.keep(excludeCutMonths(list, after, next), items);
    return { items, next };
  }

  return { read };
}

/** Selects the first segments, as many as fit into a part. */
function selectSegments(
  segments: readonly Segment[],
  maxRows: number,
  after?: ListPosition,
): Segment[] {
  const selectedSegments: Segment[] = [];
  let count = 0;
  // A part must have at least one row. Rows of dates up to the position do not count: the previous part may have all of them.
  let hasRows = false;
  for (const segment of segments) {
    if (hasRows && count + segment.count > maxRows) return selectedSegments;
    selectedSegments.push(segment);
    count += segment.count;
    const mayBeInPreviousPart = !segment.cached && after && segment.start <= after.date;
    hasRows ||= segment.count > 0 && !mayBeInPreviousPart;
  }
  return selectedSegments;
}

function takeFirstRows(items: readonly Transaction[], count: number): ExportPart {
  return { items: items.slice(0, count), next: items[count - 1] };
}

/**
 * Leaves out the months of the two positions, because a query between them has read these months only in part. The month of the
 * last row is then not cached, so the next part reads that month with one query and no counts.
 */
function excludeCutMonths(
  { start, end }: DateRange,
  after: ListPosition | undefined,
  last: ListPosition | undefined,
): DateRange {
  // A range that starts on the second day of a month does not contain the whole month.
  const isStartCut = after && after.date >= start;
  return {
    start: isStartCut ? toDate(monthOf(after.date), 2) : start,
    end: last ? toDate(monthOf(last.date), 0) : end,
  };
}
