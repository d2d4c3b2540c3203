// Rows of whole months, kept between the requests that a function answers. They need no invalidation and no lifetime: the
// digest of a month, which every search reads with the counts, says whether they are still the rows of that month.
import { sumDigest } from '../domain/month-digest.ts';
import type { Transaction } from '../domain/transaction.ts';

/** Names a month of a ledger. */
type Name = string;

interface Entry {
  readonly rows: readonly Transaction[];
  readonly size: number;
  /** Undefined until it is asked for: most rows are read once. */
  digest?: bigint;
}

export type MonthCache = ReturnType<typeof createMonthCache>;

/** About what a row takes besides its texts, in characters. */
const ROW_SIZE = 200;

/** @param maxSize in characters; beyond it, the least recently used months are dropped */
export function createMonthCache(maxSize: number) {
  /** The least recently used first. */
  const entries = new Map<Name, Entry>();
  let size = 0;

  /** The month's rows, if this is their digest. */
  function find(name: Name, digest: bigint): readonly Transaction[] | undefined {
    const entry = entries.get(name);
    if (!entry) return undefined;
    entry.digest ??= sumDigest(entry.rows);
    if (entry.digest !== digest) return undefined;
    entries.delete(name);
    entries.set(name, entry);
    return entry.rows;
  }

  /** True if it has a month with a name from the first to the last, current or not. */
  function hasBetween(first: Name, last: Name): boolean {
    return entries.keys().some((name) => first <= name && name <= last);
  }

  /** Rows may be stale (a lagging index): `find` ignores them, because their digest differs. */
  function keep(name: Name, rows: readonly Transaction[]): void {
    drop(name);
    entries.set(name, { rows, size: measure(rows) });
    size += measure(rows);
    for (const oldest of entries.keys()) {
      if (size <= maxSize) return;
      drop(oldest);
    }
  }

  function drop(name: Name): void {
    size -= entries.get(name)?.size ?? 0;
    entries.delete(name);
  }

  return { find, hasBetween, keep };
}

function measure(rows: readonly Transaction[]): number {
  return rows.reduce(
    (sum, { description, notes }) => sum + ROW_SIZE + description.length + (notes?.length ?? 0),
    0,
  );
}
