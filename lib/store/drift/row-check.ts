// Judges a stored row by its own fields: whether it can be read, and whether its keys say what its fields say.
import { isCalendarDate } from '../../domain/calendar-date.ts';
import { isAssignableId } from '../../domain/record-id.ts';
import { TRANSACTION_TYPES, type Transaction } from '../../domain/transaction.ts';
import type { Item } from '../database.ts';
import type { Keys } from '../keys.ts';
import { fromTransactionItem, toTransactionItem } from '../transaction-item.ts';

/** A row whose keys do not all follow from its fields. */
export interface WrongRow {
  readonly item: Item;
  readonly transaction: Transaction;
  /** The attributes at fault; none on a row that is in order. */
  readonly wrong: readonly string[];
}

/** A row whose fields cannot be told, so that nobody knows where it belongs. */
export interface UnreadableRow {
  readonly item: Item;
  readonly transaction: undefined;
  readonly wrong: readonly string[];
}

const KEY_ATTRIBUTES = [
  'sk',
  'all_key',
  'type_key',
  'category_key',
  'category_type_key',
  'date_key',
] as const;

export function checkRow(keys: Keys, item: Item): WrongRow | UnreadableRow {
  // The id in the row's own key is the one it is found by.
  const transaction = { ...fromTransactionItem(item), id: keys.transactionId(String(item.pk)) };
  const unreadable = unreadableAttributes(transaction);
  if (unreadable.length > 0) return { item, transaction: undefined, wrong: unreadable };
  const expected = toTransactionItem(keys, transaction);
  return {
    item,
    transaction,
    wrong: KEY_ATTRIBUTES.filter((name) => item[name] !== expected[name]),
  };
}

function unreadableAttributes({ id, type, date, createdAt }: Transaction): string[] {
  return [
    ...(isAssignableId(id) ? [] : ['pk']),
    ...(isCalendarDate(date) && Number.isFinite(createdAt) ? [] : ['date_key']),
    ...(TRANSACTION_TYPES.includes(type) ? [] : ['type']),
  ];
}
