// Counts transactions from scratch: every counter of the table as it must stand for a set of rows.
import type { Transaction } from '../domain/transaction.ts';
import { TRANSACTION_COUNT } from './categories.ts';
import { countersOf } from './day-counts.ts';
import type { Key, Keys } from './keys.ts';

export interface Counter {
  readonly key: Key;
  readonly attribute: string;
  /** A number of transactions, or a sum of amounts in cents. */
  readonly count: bigint;
}

/** By `counterName`. */
export type Counters = ReadonlyMap<string, Counter>;

export function createTally(keys: Keys) {
  const counters = new Map<string, Counter>();
  const categoryIds = new Set<number>();
  let rows = 0;
  let highestId = 0;

  function add(transaction: Transaction): void {
    const { id, categoryId } = transaction;
    rows += 1;
    highestId = Math.max(highestId, id);
    for (const { key, attribute, by } of countersOf(keys, transaction))
      increase(key, attribute, by);
    if (categoryId === null) return;
    categoryIds.add(categoryId);
    increase(keys.category(categoryId), TRANSACTION_COUNT, 1n);
  }

  function increase(key: Key, attribute: string, by: bigint): void {
    const name = counterName(key, attribute);
    const count = (counters.get(name)?.count ?? 0n) + by;
    counters.set(name, { key, attribute, count });
  }

  return {
    add,
    counters: counters as Counters,
    /** Categories that rows refer to. */
    categoryIds: categoryIds as ReadonlySet<number>,
    rows: () => rows,
    highestId: () => highestId,
  };
}

export function counterName({ pk, sk }: Key, attribute: string): string {
  return `${pk} ${sk} ${attribute}`;
}
