// The result of a list, reduced to what every implementation must return alike.
import { deepStrictEqual } from 'node:assert';
import type { TransactionListing } from '../../lib/ledger/service/transactions.ts';

export interface ListResult {
  readonly total: number;
  /** Ids of the page, newest first. */
  readonly ids: readonly number[];
}

export function toListResult({ items, pagination }: TransactionListing): ListResult {
  return { total: pagination.total, ids: items.map(({ id }) => id) };
}

/** @throws Error if the two results differ: the time of a wrong response means nothing */
export function assertSame(name: string, actual: ListResult, expected: ListResult): void {
  deepStrictEqual(actual, expected, `${name}: the responses differ`);
}
