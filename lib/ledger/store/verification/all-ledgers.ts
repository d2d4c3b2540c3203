// Verifies all ledgers of a table that nothing writes to, in one scan: after a restore, before clients use it.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDatabase, LONG_TIMEOUTS } from '../../../shared/database.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../shared/retry.ts';
import { type Balance, createBalance } from './balance.ts';

export interface TableVerdict {
  readonly ledgers: number;
  readonly rows: number;
  /** Ids of the ledgers whose figures do not follow from their rows. */
  readonly uneven: readonly string[];
}

/** @param options.onItem is called with the number of items read so far */
export async function verifyAllLedgers(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy?: RetryPolicy;
  readonly onItem?: (items: number) => void;
}): Promise<TableVerdict> {
  const { client, tableName, retryPolicy = DEFAULT_RETRY_POLICY, onItem } = options;
  const database = createDatabase({ client, tableName, retryPolicy, timeouts: LONG_TIMEOUTS });
  const balances = new Map<string, Balance>();
  let items = 0;
  for await (const item of database.scan()) {
    items += 1;
    onItem?.(items);
    const [ledgerId = '', kind] = String(item.pk).split('#', 2);
    // API keys and the records of migrations belong to no ledger.
    if (kind === undefined || ledgerId.startsWith('@')) continue;
    const balance = balances.get(ledgerId) ?? createBalance(ledgerId);
    balances.set(ledgerId, balance);
    balance.take(item);
  }
  return {
    ledgers: balances.size,
    rows: balances.values().reduce((total, balance) => total + balance.countRows(), 0),
    uneven: [...balances].filter(([, balance]) => !balance.isEven()).map(([ledgerId]) => ledgerId),
  };
}
