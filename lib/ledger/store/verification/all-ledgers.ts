// Verifies all ledgers of a table that nothing writes to: after a restore, before clients use it. One scan reads each item once, for a
// fraction of the units that its key would cost, and finds ledgers that are not in the list of ledgers.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../../shared/retry.ts';
import { LEDGERS } from '../keys.ts';
import { openTable } from '../ledger-items.ts';
import { type Balance, createBalance } from './balance.ts';

export interface TableVerdict {
  readonly ledgers: number;
  readonly rows: number;
  /** Ids of the ledgers whose figures do not follow from their rows, or that the list of ledgers lacks, or has alone. */
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
  const database = openTable({ client, tableName, retryPolicy });
  const balances = new Map<string, Balance>();
  const listed = new Set<string>();
  let items = 0;
  for await (const item of database.scan()) {
    items += 1;
    onItem?.(items);
    const [ledgerId = '', kind] = String(item.pk).split('#', 2);
    if (ledgerId === LEDGERS) listed.add(String(item.sk));
    // API keys and the records of migrations belong to no ledger.
    if (kind === undefined || ledgerId.startsWith('@')) continue;
    const balance = balances.get(ledgerId) ?? createBalance(ledgerId);
    balances.set(ledgerId, balance);
    balance.take(item);
  }
  const isInOrder = (ledgerId: string) => {
    const balance = balances.get(ledgerId);
    return balance?.isEven() && listed.has(ledgerId) === balance.hasGivenIds();
  };
  return {
    ledgers: balances.size,
    rows: balances.values().reduce((total, balance) => total + balance.countRows(), 0),
    uneven: [...new Set([...listed, ...balances.keys()])].filter(
      (ledgerId) => !isInOrder(ledgerId),
    ),
  };
}
