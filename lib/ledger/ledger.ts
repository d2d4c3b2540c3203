// Opens the ledger that a request's context names: its use cases, over one table.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { RequestContext } from '../request-context.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../retry.ts';
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

export interface LedgerService {
  /** The context of a request that starts now. */
  readonly startRequest: (requestId: string) => RequestContext;
  readonly openLedger: (context: RequestContext) => Ledger;
}

export interface LedgerServiceOptions {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  /** The ledger of every request. */
  readonly ledgerId: string;
  readonly timeZone: string;
  readonly clock?: () => Date;
  readonly retryPolicy?: RetryPolicy;
  /** A signal that aborts after so many milliseconds. */
  readonly timeoutSignal?: (milliseconds: number) => AbortSignal;
}

export function createLedgerService(options: LedgerServiceOptions): LedgerService {
  const { client, tableName, ledgerId, timeZone } = options;
  const { clock = () => new Date(), retryPolicy = DEFAULT_RETRY_POLICY } = options;
  const { timeoutSignal = AbortSignal.timeout } = options;

  function startRequest(requestId: string): RequestContext {
    const { now, deadlineMs } = retryPolicy;
    return {
      deadline: now() + deadlineMs,
      signal: timeoutSignal(deadlineMs),
      requestId,
      ledger: ledgerId,
    };
  }

  function openLedger(context: RequestContext): Ledger {
    const keys = createKeys(context.ledger);
    const database = createDatabase({ client, tableName, retryPolicy, limits: context });
    const sequences = createSequences(database, keys);
    const dayCounts = createDayCounts(database, keys);
    const names = createCategoryNames(database, keys);
    const categories = createCategoryStore({ database, keys, names });
    const transactions = createTransactionStore({ database, keys, dayCounts, categories });
    const pages = createTransactionPages({ database, keys, dayCounts });
    const shared = { names, sequences, retryPolicy, deadline: context.deadline, clock };
    return {
      transactions: createTransactions({
        ...shared,
        store: transactions,
        pages,
        categories,
        timeZone,
      }),
      categories: createCategories({ ...shared, store: categories }),
    };
  }

  return { startRequest, openLedger };
}
