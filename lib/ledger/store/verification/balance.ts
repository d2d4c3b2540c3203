// Reduces the figures of one ledger to a single sum: recomputed figures minus recorded ones, each multiplied by its hash. The
// sum is zero exactly when all figures agree, unless hashes collide. The sum has the same size for every ledger, so one scan can
// verify all ledgers of a table. `findDrifts` names the differences, but needs every figure in memory.
import { createHash } from 'node:crypto';
import type { Item, Key } from '../../../shared/database.ts';
import { fromCategoryItem, TRANSACTION_COUNT } from '../categories.ts';
import { listCounters, readCounters } from '../day-counts.ts';
import { createKeys, LAST_ID, SEQUENCE_KINDS, type SequenceKind } from '../keys.ts';
import { counterName } from '../tally.ts';
import { checkRow } from './figures.ts';

export type Balance = ReturnType<typeof createBalance>;

export function createBalance(ledgerId: string) {
  const keys = createKeys(ledgerId);
  let sum = 0n;
  let rowCount = 0;
  let wrongRowCount = 0;
  const lastIds = { transaction: 0, category: 0 };
  const highestIds = { transaction: 0, category: 0 };

  const readers: Readonly<Record<string, (item: Item) => void>> = {
    TRANSACTION(item) {
      rowCount += 1;
      const { transaction, wrong } = checkRow(keys, item);
      if (wrong.length > 0) wrongRowCount += 1;
      if (!transaction) return;
      const { id, categoryId, externalId } = transaction;
      for (const { key, attribute, increment } of listCounters(keys, transaction))
        count(key, attribute, increment);
      if (categoryId !== null) count(keys.category(categoryId), TRANSACTION_COUNT, 1n);
      if (externalId) sum += hashFigure('external id', externalId, id);
      raiseHighestId('transaction', id);
    },
    CATEGORIES(item) {
      const { id, name, transactionCount } = fromCategoryItem(item);
      count(keys.category(id), TRANSACTION_COUNT, -BigInt(transactionCount));
      sum += hashFigure('name', name, id);
      raiseHighestId('category', id);
    },
    DAYS(item) {
      const key = { pk: String(item.pk), sk: String(item.sk) };
      for (const [attribute, value] of readCounters(item)) count(key, attribute, -value);
    },
    EXTERNAL_ID({ pk, transaction_id }) {
      sum -= hashFigure('external id', keys.parseExternalId(String(pk)), Number(transaction_id));
    },
    CATEGORY_NAMES({ sk, category_id }) {
      sum -= hashFigure('name', String(sk), Number(category_id));
    },
    SEQUENCES({ sk, [LAST_ID]: last }) {
      lastIds[sk as SequenceKind] = Number(last);
    },
  };

  function count(key: Key, attribute: string, increment: bigint): void {
    if (increment !== 0n) sum += hashFigure(counterName(key, attribute)) * increment;
  }

  function raiseHighestId(kind: SequenceKind, id: number): void {
    highestIds[kind] = Math.max(highestIds[kind], id);
  }

  return {
    /** Adds an item. Each item must be added once, in any order. */
    add: (item: Item): void => readers[keys.parseKind(String(item.pk))]?.(item),
    isBalanced: (): boolean =>
      sum === 0n &&
      wrongRowCount === 0 &&
      SEQUENCE_KINDS.every((kind) => highestIds[kind] <= lastIds[kind]),
    hasAssignedIds: (): boolean => SEQUENCE_KINDS.some((kind) => lastIds[kind] > 0),
    countRows: (): number => rowCount,
  };
}

/** Hashes a figure to 128 bits: even billions of figures do not cancel out by chance. */
function hashFigure(...parts: readonly (string | number)[]): bigint {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  return (hash.readBigUInt64BE(0) << 64n) + hash.readBigUInt64BE(8);
}
