// Reads a whole ledger from the base table: the figures that it has recorded, and the same figures recomputed from its rows.

import type { Item } from '../../../shared/database.ts';
import { isCalendarDate } from '../../domain/calendar-date.ts';
import type { Category } from '../../domain/category.ts';
import { isAssignableId } from '../../domain/record.ts';
import { TRANSACTION_TYPES, type Transaction } from '../../domain/transaction.ts';
import { fromCategoryItem, TRANSACTION_COUNT } from '../categories.ts';
import { readCounters } from '../day-counts.ts';
import { type Keys, LAST_ID, type SequenceKind } from '../keys.ts';
import {
  type Counter,
  type Counters,
  counterName,
  countTransaction,
  emptyTally,
  type Tally,
} from '../tally.ts';
import { fromTransactionItem, toTransactionItem } from '../transactions.ts';

export interface LedgerFigures {
  readonly rows: number;
  readonly categories: readonly Category[];
  /** Category ids by the name that is reserved for them. */
  readonly guards: ReadonlyMap<string, number>;
  readonly recorded: Counters;
  readonly recomputed: Counters;
  /** Categories that rows refer to. */
  readonly referredCategoryIds: ReadonlySet<number>;
  /** External ids whose row and guard differ. */
  readonly wrongExternalIds: ReadonlyMap<string, ExternalIdOwners>;
  readonly wrongRows: readonly CheckedRow[];
  readonly lastIds: Readonly<Record<SequenceKind, number>>;
  readonly highestIds: Readonly<Record<SequenceKind, number>>;
}

export interface CheckedRow {
  readonly item: Item;
  /** The row as a transaction; undefined if its fields cannot be read. */
  readonly transaction: Transaction | undefined;
  /** Names of the attributes that are wrong. */
  readonly wrong: readonly string[];
}

/** The owners of an external id: ids of the rows that have it, and the transaction id in its guard. */
export interface ExternalIdOwners {
  readonly rows: readonly number[];
  readonly guard: number | undefined;
}

const KEY_ATTRIBUTES = [
  'sk',
  'all_key',
  'type_key',
  'category_key',
  'category_type_key',
  'date_key',
] as const;

/** Figures of the rows read so far: plain data, so that an interrupted reading can be saved and resumed. */
export interface RowFigures {
  readonly tally: Tally;
  readonly externalIds: Map<string, ExternalIdOwners>;
  readonly wrongRows: CheckedRow[];
}

export function emptyFigures(): RowFigures {
  return { tally: emptyTally(), externalIds: new Map(), wrongRows: [] };
}

/**
 * Reads the figures of a ledger from its items. Rows are never counted from an index: an index may lag behind, so that correct
 * counters would look too high. Memory holds one page of items at a time, one number for each day and category, and all
 * external ids.
 * @param previous the figures of the items that were read before
 */
export async function readLedgerFigures(
  keys: Keys,
  items: AsyncIterable<Item>,
  previous = emptyFigures(),
): Promise<LedgerFigures> {
  const { tally, externalIds, wrongRows } = previous;
  const categories: Category[] = [];
  const guards = new Map<string, number>();
  const recorded = new Map<string, Counter>();
  const lastIds = { transaction: 0, category: 0 };

  const readers: Record<string, (item: Item) => void> = {
    TRANSACTION(item) {
      const row = checkRow(keys, item);
      if (row.transaction) countTransaction(keys, tally, row.transaction);
      const { id, externalId } = row.transaction ?? {};
      if (id !== undefined && externalId) addRowOwner(externalId, id);
      if (row.wrong.length > 0) wrongRows.push(row);
    },
    CATEGORIES(item) {
      const category = fromCategoryItem(item);
      categories.push(category);
      record({
        key: keys.category(category.id),
        attribute: TRANSACTION_COUNT,
        count: BigInt(category.transactionCount),
      });
    },
    EXTERNAL_ID: ({ pk, transaction_id }) => {
      setGuardOwner(keys.parseExternalId(String(pk)), Number(transaction_id));
    },
    CATEGORY_NAMES: ({ sk, category_id }) => guards.set(String(sk), Number(category_id)),
    DAYS(item) {
      const key = { pk: String(item.pk), sk: String(item.sk) };
      for (const [attribute, count] of readCounters(item)) record({ key, attribute, count });
    },
    SEQUENCES({ sk, [LAST_ID]: last }) {
      lastIds[sk as SequenceKind] = Number(last);
    },
  };

  function addRowOwner(externalId: string, id: number): void {
    const { rows = [], guard } = externalIds.get(externalId) ?? {};
    externalIds.set(externalId, { rows: [...rows, id], guard });
  }

  function setGuardOwner(externalId: string, guard: number): void {
    externalIds.set(externalId, { rows: externalIds.get(externalId)?.rows ?? [], guard });
  }

  function record(counter: Counter): void {
    recorded.set(counterName(counter.key, counter.attribute), counter);
  }

  for await (const item of items) {
    readers[keys.parseKind(String(item.pk))]?.(item);
  }
  return {
    rows: tally.rows,
    categories: categories.sort((a, b) => a.id - b.id),
    guards,
    recorded,
    recomputed: tally.counters,
    referredCategoryIds: tally.categoryIds,
    wrongExternalIds: new Map([...externalIds].filter(([, owners]) => !isConsistent(owners))),
    wrongRows,
    lastIds,
    highestIds: {
      transaction: tally.highestId,
      category: Math.max(0, ...categories.map(({ id }) => id)),
    },
  };
}

function isConsistent({ rows, guard }: ExternalIdOwners): boolean {
  return rows.length === 1 && rows[0] === guard;
}

export function checkRow(keys: Keys, item: Item): CheckedRow {
  // Requests find a row by the id in its key, so the row has that id, whatever its date key says.
  const transaction = {
    ...fromTransactionItem(item),
    id: keys.parseTransactionId(String(item.pk)),
  };
  const unreadableNames = findUnreadableAttributes(transaction);
  if (unreadableNames.length > 0) return { item, transaction: undefined, wrong: unreadableNames };
  const expected = toTransactionItem(keys, transaction);
  const wrong = KEY_ATTRIBUTES.filter((name) => item[name] !== expected[name]);
  return { item, transaction, wrong };
}

function findUnreadableAttributes({ id, type, date, createdAt }: Transaction): string[] {
  return [
    ...(isAssignableId(id) ? [] : ['pk']),
    ...(isCalendarDate(date) && Number.isFinite(createdAt) ? [] : ['date_key']),
    ...(TRANSACTION_TYPES.includes(type) ? [] : ['type']),
  ];
}
