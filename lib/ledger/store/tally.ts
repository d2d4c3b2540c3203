// Counts transactions from scratch. The results are the values that the counters in the table must have.

import type { Key } from '../../shared/database.ts';
import type { Transaction } from '../domain/transaction.ts';
import { TRANSACTION_COUNT } from './categories.ts';
import { listCounters } from './day-counts.ts';
import type { Keys } from './keys.ts';

export interface Counter {
  readonly key: Key;
  readonly attribute: string;
  /** A number of transactions, or a sum of amounts in cents. */
  readonly count: bigint;
}

/** Counters by `counterName`. */
export type Counters = ReadonlyMap<string, Counter>;

/** The counts of the transactions that were added to the tally so far. */
export interface Tally {
  readonly counters: Map<string, Counter>;
  /** Categories that rows refer to. */
  readonly categoryIds: Set<number>;
  rows: number;
  highestId: number;
}

export function emptyTally(): Tally {
  return { counters: new Map(), categoryIds: new Set(), rows: 0, highestId: 0 };
}

export function countTransaction(keys: Keys, tally: Tally, transaction: Transaction): void {
  const { counters, categoryIds } = tally;
  const { id, categoryId } = transaction;
  tally.rows += 1;
  tally.highestId = Math.max(tally.highestId, id);
  for (const { key, attribute, increment } of listCounters(keys, transaction)) {
    addToCounter(key, attribute, increment);
  }
  if (categoryId === null) return;
  categoryIds.add(categoryId);
  addToCounter(keys.category(categoryId), TRANSACTION_COUNT, 1n);

  function addToCounter(key: Key, attribute: string, increment: bigint): void {
    const name = counterName(key, attribute);
    const count = (counters.get(name)?.count ?? 0n) + increment;
    counters.set(name, { key, attribute, count });
  }
}

export function counterName({ pk, sk }: Key, attribute: string): string {
  return `${pk} ${sk} ${attribute}`;
}
