// Counts transactions from scratch: every counter of the table as it must stand for a set of rows.
import type { Transaction } from '../domain/transaction.ts';
import { TRANSACTION_COUNT } from './categories.ts';
import { countersOf } from './day-counts.ts';
import type { Key, Keys } from './keys.ts';

export interface Counter {
  readonly key: Key;
  readonly attribute: string;
  readonly count: number;
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
    for (const { key, attribute } of countersOf(keys, transaction)) increment(key, attribute);
    if (categoryId === null) return;
    categoryIds.add(categoryId);
    increment(keys.category(categoryId), TRANSACTION_COUNT);
  }

  function increment(key: Key, attribute: string): void {
    const name = counterName(key, attribute);
    const count = (counters.get(name)?.count ?? 0) + 1;
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
