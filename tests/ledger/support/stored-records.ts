// Records as a ledger stores them, for tests that load them straight into the table.
import type { Category } from '../../../lib/ledger/domain/category.ts';
import type { Transaction } from '../../../lib/ledger/domain/transaction.ts';

const METADATA = { createdAt: 0, updatedAt: 0, version: 1 };

/** Creates an active category; the bulk loader sets its count. */
export function createStoredCategory(id: number, name: string): Category {
  const fields = { description: null, color: null, isActive: true, transactionCount: 0 };
  return { ...METADATA, ...fields, id, name };
}

/** Creates an expense without a category, unless the fields differ. */
export function createStoredTransaction(id: number, fields: Partial<Transaction>): Transaction {
  const expense = { description: 'x', amount: 1, type: 'expense', categoryId: null } as const;
  return { ...METADATA, ...expense, notes: null, date: '2026-01-01', ...fields, id };
}
