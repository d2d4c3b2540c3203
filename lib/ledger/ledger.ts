// Opens the ledger of a request: the use cases for that ledger, over one table.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { RequestLimits, Timeouts } from '../shared/database.ts';
import { DEFAULT_RETRY_POLICY, disableRetries, type RetryPolicy } from '../shared/retry.ts';
import type { VerifyToken } from './auth/access-tokens.ts';
import { type Authenticate, createAuthenticate } from './auth/authenticate.ts';
import { CATEGORY_LIMIT } from './domain/category.ts';
import type { RequestContext } from './request-context.ts';
import { type Categories, createCategories } from './service/categories.ts';
import { createCategoryNames } from './service/category-names.ts';
import { createIdempotency, type Idempotency } from './service/idempotency.ts';
import { createMonths, type Months } from './service/months.ts';
import { createSearches, type Searches } from './service/searches.ts';
import { createSummaries, type Summaries } from './service/summaries.ts';
import { createTransactions, type Transactions } from './service/transactions.ts';
import { createApiKeys } from './store/api-keys.ts';
import { createCategoryStore } from './store/categories.ts';
import { createDayCounts } from './store/day-counts.ts';
import { createExportParts, type PartLimits } from './store/export-parts.ts';
import { createIdempotencyStore } from './store/idempotency.ts';
import { createImportedRows, type ImportedRows } from './store/imported-rows.ts';
import { createKeys, HEALTH_KEY } from './store/keys.ts';
import { createCachedMonths, createMonthCache } from './store/month-cache.ts';
import { createLedgerDatabase } from './store/schema.ts';
import { createTransactionPages } from './store/transaction-pages.ts';
import { createTransactionStore } from './store/transactions.ts';

export interface Ledger {
  readonly transactions: Transactions;
  readonly categories: Categories;
  readonly summaries: Summaries;
  readonly searches: Searches;
  readonly months: Months;
  readonly idempotency: Idempotency;
  readonly importedRows: ImportedRows;
}

export interface LedgerService {
  /** Creates the context of a request that starts now. It has no ledger until the caller is identified. */
  readonly startRequest: (
    requestId: string,
    onRetry?: RequestContext['onRetry'],
  ) => Omit<RequestContext, 'ledger'>;
  readonly authenticate: Authenticate;
  readonly openLedger: (context: RequestContext) => Ledger;
  /**
   * Checks that the table can be read.
   * @throws the errors of the database
   */
  readonly checkTable: (limits: RequestLimits) => Promise<void>;
}

export interface LedgerServiceOptions {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  /** The ledger of requests without a key or token; undefined if such requests are refused. */
  readonly ledgerId: string | undefined;
  /** Undefined if only API keys are accepted. */
  readonly verifyToken?: VerifyToken | undefined;
  readonly timeZone: string;
  readonly categoryLimit?: number;
  readonly partLimits?: PartLimits;
  readonly clock?: () => Date;
  readonly retryPolicy?: RetryPolicy;
  readonly timeouts?: Timeouts;
  /** Makes a signal that aborts after a number of milliseconds. */
  readonly timeoutSignal?: (milliseconds: number) => AbortSignal;
}

/** With the deadline of the default retry policy (6 s), a request takes 9 s at most. */
export const REQUEST_TIMEOUTS: Timeouts = { callMs: 1_000, outcomeMs: 3_000, outcomeCallMs: 500 };

/**
 * Maximum size of the cached months, in characters: an ordinary transaction has 250. Characters beyond Latin-1 take two bytes of
 * memory each.
 */
const MAX_CACHED_CHARACTERS = 20_000_000;

export function createLedgerService(options: LedgerServiceOptions): LedgerService {
  const { client, tableName, ledgerId, timeZone } = options;
  const { clock = () => new Date(), retryPolicy: defaultPolicy = DEFAULT_RETRY_POLICY } = options;
  const {
    timeouts = REQUEST_TIMEOUTS,
    categoryLimit: limit = CATEGORY_LIMIT,
    partLimits,
  } = options;
  const { timeoutSignal = (milliseconds: number) => AbortSignal.timeout(milliseconds) } = options;

  const monthCache = createMonthCache(MAX_CACHED_CHARACTERS);

  function startRequest(
    requestId: string,
    onRetry?: RequestContext['onRetry'],
  ): Omit<RequestContext, 'ledger'> {
    const { now, deadlineMs } = defaultPolicy;
    return {
      deadline: now() + deadlineMs,
      signal: timeoutSignal(deadlineMs),
      requestId,
      ...(onRetry && { onRetry }),
    };
  }

  function createPolicy({ onRetry }: RequestLimits): RetryPolicy {
    return onRetry ? { ...defaultPolicy, onRetry } : defaultPolicy;
  }

  const databaseOptions = { client, tableName, timeouts, timeoutSignal };
  const openDatabase = (limits: RequestLimits) =>
    createLedgerDatabase({ ...databaseOptions, limits, retryPolicy: createPolicy(limits) });
  /** Attempts each call once, for a quarter of the usual time: for writes that no request depends on. */
  const openBestEffortDatabase = (limits: RequestLimits) =>
    createLedgerDatabase({
      client,
      tableName,
      timeoutSignal,
      limits,
      retryPolicy: disableRetries(defaultPolicy),
      timeouts: { ...timeouts, callMs: timeouts.callMs / 4 },
    });

  async function checkTable(limits: RequestLimits): Promise<void> {
    await openDatabase(limits).get(HEALTH_KEY, { consistent: false });
  }

  const authenticate = createAuthenticate({
    findKey: (secret, limits) =>
      createApiKeys({ database: openDatabase(limits), clock }).find(secret),
    markUsed: (secret, day, limits) =>
      createApiKeys({ database: openBestEffortDatabase(limits), clock }).markUsed(secret, day),
    verifyToken: options.verifyToken,
    anonymous: ledgerId === undefined ? undefined : { ledger: ledgerId, scope: 'write' },
    clock,
  });

  function openLedger(context: RequestContext): Ledger {
    const keys = createKeys(context.ledger);
    const database = openDatabase(context);
    const dayCounts = createDayCounts(database, keys);
    const categories = createCategoryStore({ database, keys });
    const transactions = createTransactionStore({ database, keys, dayCounts, categories });
    const cachedMonths = createCachedMonths({ keys, dayCounts, monthCache });
    const pages = createTransactionPages({ database, keys, dayCounts, cachedMonths });
    const exportParts = createExportParts({ database, keys, cachedMonths, limits: partLimits });
    const categoryNames = createCategoryNames(categories);
    const retryPolicy = createPolicy(context);
    const shared = { retryPolicy, deadline: context.deadline, clock };
    return {
      transactions: createTransactions({
        ...shared,
        store: transactions,
        pages,
        exportParts,
        categories,
        categoryNames,
        timeZone,
      }),
      months: createMonths({ dayCounts }),
      searches: createSearches({ pages, categoryNames }),
      categories: createCategories({ ...shared, store: categories, limit }),
      summaries: createSummaries({ dayCounts, categories }),
      idempotency: createIdempotency({ store: createIdempotencyStore({ database, keys, clock }) }),
      importedRows: createImportedRows({ database, keys }),
    };
  }

  return { startRequest, authenticate, openLedger, checkTable };
}
