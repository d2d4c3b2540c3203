// Generates a household's whole ledger: thirty categories, and transactions of many years. The ids and times of transactions are
// in the order of their dates.

import {
  createHouseholdCategories,
  generateHouseholdTransactions,
  type HouseholdOptions,
} from '../../cli/ledger/seed/household.ts';
import type { Category } from '../../lib/ledger/domain/category.ts';
import type { Transaction } from '../../lib/ledger/domain/transaction.ts';

export type HouseholdLedgerOptions = Omit<HouseholdOptions, 'categoryIds'>;

/** Ids of categories and of transactions start at 1. */
export function createHouseholdLedger(options: HouseholdLedgerOptions): {
  readonly categories: readonly Category[];
  readonly transactions: Iterable<Transaction>;
} {
  const categories = createHouseholdCategories().map((fields, index) => ({
    ...fields,
    id: index + 1,
    transactionCount: 0,
    ...createTimestamps(options.lastDay, 0),
  }));
  const categoryIds = categories.map(({ id }) => id);
  return { categories, transactions: numberTransactions({ ...options, categoryIds }) };
}

function* numberTransactions(options: HouseholdOptions): Generator<Transaction> {
  let id = 0;
  for (const fields of generateHouseholdTransactions(options)) {
    id += 1;
    yield { ...fields, id, ...createTimestamps(fields.date, id) };
  }
}

function createTimestamps(date: string, sequence: number) {
  const at = Date.parse(`${date}T12:00:00Z`) + (sequence % 10_000_000);
  return { createdAt: at, updatedAt: at, version: 1 };
}
