// Finds the rows of a list in its date-sorted index: all of them, or those after or before a position.
import type { Range } from '../../shared/database.ts';
import { type DateRange, dateRange } from '../domain/day-histogram.ts';
import type { ListPosition } from '../domain/pagination.ts';
import type { TransactionFilter } from '../domain/transaction.ts';
import {
  firstKeyAfter,
  firstKeyOnDay,
  type IndexPartition,
  type Keys,
  lastKeyBefore,
  lastKeyOnDay,
} from './keys.ts';
import { STORED_ATTRIBUTES } from './transactions.ts';

/** Index partition and date range of a list. */
export interface Rows extends DateRange {
  readonly partition: IndexPartition;
}

export function locateRows(keys: Keys, filter: TransactionFilter): Rows {
  return { partition: keys.partition(filter), ...dateRange(filter.startDate, filter.endDate) };
}

/** True for a list of all transactions of its dates. */
export function isUnfiltered({ type, categoryId }: TransactionFilter): boolean {
  return type === undefined && categoryId === undefined;
}

/** Finds the rows after a position, or all of them, in either order. */
export function rangeAfter(
  rows: Rows,
  after: ListPosition | undefined,
  isOldestFirst: boolean,
): Range {
  const [first, last] = [firstKeyOnDay(rows.start), lastKeyOnDay(rows.end)];
  if (!after) return (isOldestFirst ? oldestFirst : newestFirst)(rows, first, last);
  const [next, previous] = [firstKeyAfter(after), lastKeyBefore(after)];
  return isOldestFirst
    ? oldestFirst(rows, next > first ? next : first, last)
    : newestFirst(rows, first, previous < last ? previous : last);
}

export function newestFirst(rows: Rows, first: string, last: string): Range {
  return { ...oldestFirst(rows, first, last), descending: true };
}

export function oldestFirst({ partition }: Rows, first: string, last: string): Range {
  return { ...partition, sortKey: 'date_key', between: [first, last], only: STORED_ATTRIBUTES };
}

// True for a range whose ends are crossed, which DynamoDB refuses.
export function isEmpty({ between }: Range): boolean {
  return between !== undefined && between[0] > between[1];
}
