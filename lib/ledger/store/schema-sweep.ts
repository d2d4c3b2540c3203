// Upgrades in the table what an earlier release wrote, ledger by ledger, while clients use it.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../shared/retry.ts';
import { createKeys } from './keys.ts';
import { openTableAsStored, readEverything, readLedgerIds } from './ledger-items.ts';
import { createSchema, type Schema, upgradeStored } from './schema.ts';

export interface Sweep {
  readonly ledgers: number;
  /** Items that were older than this release. */
  readonly upgraded: number;
}

/**
 * Can be repeated at any time: an item that has the present form is not written.
 * @param options.onLedger is called with the number of ledgers swept so far
 * @throws NewerItemError
 */
export async function sweepLedgers(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy?: RetryPolicy;
  readonly schema?: Schema;
  readonly onLedger?: (ledgers: number) => void;
}): Promise<Sweep> {
  const { client, tableName, retryPolicy = DEFAULT_RETRY_POLICY, onLedger } = options;
  const { schema = createSchema() } = options;
  const table = openTableAsStored({ client, tableName, retryPolicy });
  let [ledgers, upgraded] = [0, 0];
  for await (const ledgerId of readLedgerIds(table)) {
    for await (const item of readEverything(table, createKeys(ledgerId))) {
      if (await upgradeStored(table, item, schema)) upgraded += 1;
    }
    ledgers += 1;
    onLedger?.(ledgers);
  }
  return { ledgers, upgraded };
}
