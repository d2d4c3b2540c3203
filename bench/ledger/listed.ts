// The result of a list, reduced to the figures on which every way of listing must agree.
import { deepStrictEqual } from 'node:assert';
import type { TransactionListing } from '../../lib/ledger/service/transactions.ts';

export interface Listed {
  readonly total: number;
  /** Ids of the page, newest first. */
  readonly ids: readonly number[];
}

export function listed({ items, pagination }: TransactionListing): Listed {
  return { total: pagination.total, ids: items.map(({ id }) => id) };
}

/** @throws Error if the two results differ, because the time of a wrong answer means nothing */
export function assertSame(what: string, ours: Listed, theirs: Listed): void {
  deepStrictEqual(ours, theirs, `${what}: the answers differ`);
}
