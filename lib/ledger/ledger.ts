// A ledger: its use cases over one table.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { type Pace, STANDARD_PACE, withinOneDeadline } from '../retry.ts';
import { createCategoryStore } from '../store/categories.ts';
import { createCategoryNames } from '../store/category-names.ts';
import { createDatabase } from '../store/database.ts';
import { createDayCounts } from '../store/day-counts.ts';
import { createKeys } from '../store/keys.ts';
import { createSequences } from '../store/sequences.ts';
import { createTransactionPages } from '../store/transaction-pages.ts';
import { createTransactionStore } from '../store/transactions.ts';
import { type Categories, createCategories } from './categories.ts';
import { createTransactions, type Transactions } from './transactions.ts';

export interface Ledger {
  readonly transactions: Transactions;
  readonly categories: Categories;
}

export function createLedger(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
  readonly timeZone: string;
  readonly clock?: () => Date;
  readonly pace?: Pace;
}): Ledger {
  const { client, tableName, timeZone, clock = () => new Date(), pace = STANDARD_PACE } = options;
  const keys = createKeys(options.ledgerId);
  const database = createDatabase({ client, tableName, pace });
  const sequences = createSequences(database, keys);
  const dayCounts = createDayCounts(database, keys);
  const names = createCategoryNames(database, keys);
  const categories = createCategoryStore({ database, keys, names });
  const transactions = createTransactionStore({ database, keys, dayCounts, categories });
  const pages = createTransactionPages({ database, keys, dayCounts });
  const shared = { names, sequences, pace, clock };
  return {
    transactions: inTime(
      pace,
      createTransactions({ store: transactions, pages, categories, timeZone, ...shared }),
    ),
    categories: inTime(pace, createCategories({ store: categories, ...shared })),
  };
}

type UseCases = Readonly<Record<string, (...input: never[]) => Promise<unknown>>>;

/** The same use cases, each with one deadline for all the calls that it makes. */
function inTime<Cases extends UseCases>(pace: Pace, useCases: Cases): Cases {
  const bounded = Object.entries(useCases).map(([name, useCase]) => [
    name,
    (...input: never[]) => withinOneDeadline(pace, () => useCase(...input)),
  ]);
  return Object.fromEntries(bounded);
}
