// Pages of a sorted list. A client requests a page by its number, or by the row before it. When rows are created or deleted,
// numbered pages shift. The page after a given row does not.
import type { CalendarDate } from './calendar-date.ts';

export const ROW_ORDERS = ['date', '-date', 'amount', '-amount'] as const;
export type RowOrder = (typeof ROW_ORDERS)[number];

/** The position of a row in a list sorted by date. Rows with the same date are sorted by time of creation, then by id. */
export interface ListPosition {
  readonly date: CalendarDate;
  readonly createdAt: number;
  readonly id: number;
}

/** The position of a row in a list of any order. It remains valid when the row is deleted. */
export interface RowPosition extends ListPosition {
  readonly amount: number;
}

/** The last row of a page, and the order of the list. */
export interface PageEnd extends RowPosition {
  readonly order: RowOrder;
}

/** A request for the page after a row, or for a numbered page; without either, for the first page. */
export interface PageRequest {
  readonly page?: number | undefined;
  readonly perPage: number;
  readonly after?: RowPosition | undefined;
  /** The default is newest first. */
  readonly order?: RowOrder | undefined;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  /** Number of rows on all pages. */
  readonly total: number;
  /** True if more rows follow. */
  readonly hasMore: boolean;
}

export interface Pagination {
  /** Number of the page, from 1; null for a page after a given row. */
  readonly page: number | null;
  readonly perPage: number;
  readonly total: number;
  /** Number of pages; 0 for an empty list. */
  readonly pages: number;
  readonly hasNext: boolean;
  readonly hasPrev: boolean;
  /** The row after which the next page begins; null on the last page. */
  readonly next: PageEnd | null;
}

export function paginate(
  { page = 1, perPage, after, order = '-date' }: PageRequest,
  { items, total, hasMore }: Page<RowPosition>,
): Pagination {
  const pages = Math.ceil(total / perPage);
  const lastRow = hasMore ? items.at(-1) : undefined;
  return {
    page: after ? null : page,
    perPage,
    total,
    pages,
    hasNext: hasMore,
    hasPrev: after !== undefined || page > 1,
    next: lastRow ? { ...lastRow, order } : null,
  };
}

/** Computes the number of rows before the page. */
export function computePageOffset({ page = 1, perPage }: PageRequest): number {
  return (page - 1) * perPage;
}

/** Takes a page from all rows of a list, which the caller has sorted in the requested order. */
export function takePage<Row extends RowPosition>(
  rows: readonly Row[],
  request: PageRequest,
): Page<Row> {
  const { after, perPage, order } = request;
  const compare = createComparator(order);
  const followingIndex = after
    ? rows.findIndex((row) => compare(row, after) > 0)
    : computePageOffset(request);
  const start = followingIndex < 0 ? rows.length : followingIndex;
  const end = start + perPage;
  return { items: rows.slice(start, end), total: rows.length, hasMore: end < rows.length };
}

/** Returns the comparator for an order. In an order by amount, rows with equal amounts are sorted newest first. */
export function createComparator(
  order: RowOrder = '-date',
): (a: RowPosition, b: RowPosition) => number {
  const orders = {
    date: (a, b) => comparePositions(a, b),
    '-date': (a, b) => comparePositions(b, a),
    amount: (a, b) => a.amount - b.amount || comparePositions(b, a),
    '-amount': (a, b) => b.amount - a.amount || comparePositions(b, a),
  } satisfies Record<RowOrder, (a: RowPosition, b: RowPosition) => number>;
  return orders[order];
}

/** Compares positions, oldest first. */
export function comparePositions(a: ListPosition, b: ListPosition): number {
  if (a.date !== b.date) return a.date < b.date ? -1 : 1;
  return a.createdAt - b.createdAt || a.id - b.id;
}
