// A transaction for tests in which its values do not matter.
import type { TransactionWithCategoryName } from '../../../lib/ledger/domain/transaction.ts';

export const TEA: TransactionWithCategoryName = {
  id: 1,
  date: '2026-01-01',
  description: 'Tea',
  amount: 1,
  type: 'expense',
  categoryId: null,
  categoryName: undefined,
  notes: null,
  createdAt: 0,
  updatedAt: 0,
  version: 1,
};
