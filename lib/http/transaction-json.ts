// A transaction as clients see it.
import type { NamedTransaction } from '../domain/transaction.ts';

/** Every field, null when empty; `category_name` only where there is a category. */
export function toTransactionJson(transaction: NamedTransaction) {
  return {
    id: transaction.id,
    description: transaction.description,
    amount: transaction.amount,
    type: transaction.type,
    category_id: transaction.categoryId,
    ...(transaction.categoryName === undefined ? {} : { category_name: transaction.categoryName }),
    transaction_date: transaction.date,
    notes: transaction.notes,
    created_at: new Date(transaction.createdAt).toISOString(),
    updated_at: new Date(transaction.updatedAt).toISOString(),
  };
}
