// Finds the key ranges of a list in its date-sorted index: the whole list, or its rows after or before a position.
import type { Range } from '../../shared/database.ts';
import { createDateRange, type DateRange } from '../domain/day-histogram.ts';
import type { ListPosition } from '../domain/pagination.ts';
import type { TransactionFilter } from '../domain/transaction.ts';
import {
  type IndexPartition,
  type Keys,
  toFirstKeyAfter,
  toFirstKeyOnDay,
  toLastKeyBefore,
  toLastKeyOnDay,
} from './keys.ts';
import { STORED_ATTRIBUTES } from './transactions.ts';

/** Index partition and date range of a list. */
export interface ListRange extends DateRange {
  readonly partition: IndexPartition;
}

export function locateList(keys: Keys, filter: TransactionFilter): ListRange {
  return {
    partition: keys.partition(filter),
    ...createDateRange(filter.startDate, filter.endDate),
  };
}

/** True for a list of all transactions in its date range. */
export function isUnfiltered({ type, categoryId }: TransactionFilter): boolean {
  return type === undefined && categoryId === undefined;
}

/** Finds the key range of the rows after a position; without a position, of the whole list. */
export function rangeAfter(
  list: ListRange,
  after: ListPosition | undefined,
  isOldestFirst: boolean,
): Range {
  const [first, last] = [toFirstKeyOnDay(list.start), toLastKeyOnDay(list.end)];
  if (!after) return (isOldestFirst ? oldestFirst : newestFirst)(list, first, last);
  const [keyAfter, keyBefore] = [toFirstKeyAfter(after), toLastKeyBefore(after)];
  return isOldestFirst
    ? oldestFirst(list, keyAfter > first ? keyAfter : first, last)
    : newestFirst(list, first, keyBefore < last ? keyBefore : last);
}

export function newestFirst(list: ListRange, first: string, last: string): Range {
  return { ...oldestFirst(list, first, last), descending: true };
}

export function oldestFirst({ partition }: ListRange, first: string, last: string): Range {
  return {
    ...partition,
    sortKey: 'date_key',
    between: [first, last],
    projection: STORED_ATTRIBUTES,
  };
}

// True if the range ends before it starts. DynamoDB refuses such a range.
export function isEmpty({ between }: Range): boolean {
  return between !== undefined && between[0] > between[1];
}
