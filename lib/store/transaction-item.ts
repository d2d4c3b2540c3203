// A transaction as the table keeps it. Date, creation and id stand in the key once; lists pay by the byte.
import type { Transaction, TransactionType } from '../domain/transaction.ts';
import type { Item } from './database.ts';
import { type Keys, parseDateKey } from './keys.ts';

interface StoredTransaction {
  readonly date_key: string;
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly category_id?: number;
  readonly notes?: string;
  readonly updated_at: number;
  readonly version: number;
}

export function toTransactionItem(keys: Keys, transaction: Transaction): Item {
  const stored: Omit<StoredTransaction, 'date_key'> = {
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    ...(transaction.categoryId === null ? {} : { category_id: transaction.categoryId }),
    ...(transaction.notes === null ? {} : { notes: transaction.notes }),
    updated_at: transaction.updatedAt,
    version: transaction.version,
  };
  return { ...keys.transaction(transaction.id), ...keys.indexed(transaction), ...stored };
}

export function fromTransactionItem(item: Item): Transaction {
  const stored = item as unknown as StoredTransaction;
  return {
    ...parseDateKey(stored.date_key),
    description: stored.description,
    amount: stored.amount,
    type: stored.type,
    categoryId: stored.category_id ?? null,
    notes: stored.notes ?? null,
    updatedAt: stored.updated_at,
    version: stored.version,
  };
}
