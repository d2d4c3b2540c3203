// Upgrades the items of earlier releases in one scan, while clients use the table. A scan reads about ten rows per read unit, a
// read by key only one. A scan also finds the ledgers that are missing from the list of ledgers.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/database.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../shared/retry.ts';
import { API_KEY_NAMES, findLedger, LEDGERS } from './keys.ts';
import { openTable, openTableWithoutUpgrades } from './ledger-items.ts';
import { readLedgerIds, registerLedgers } from './list-of-ledgers.ts';
import { createSchema, type Schema, upgradeStored } from './schema.ts';

// Number of items per database transaction: few, so that a request that changes one of them seldom has to wait.
const UPGRADE_BATCH_SIZE = 20;

export interface Sweep {
  /** Number of items that were older than this release. */
  readonly upgraded: number;
  /** Number of ledgers that were not in the list of ledgers. */
  readonly registered: number;
}

/**
 * Upgrades the whole table. Can be repeated at any time: items that have the current form are not written.
 * @throws NewerItemError
 */
export async function sweepTable(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy?: RetryPolicy;
  readonly schema?: Schema;
}): Promise<Sweep> {
  const { client, tableName, retryPolicy = DEFAULT_RETRY_POLICY } = options;
  const { schema = createSchema() } = options;
  const rawTable = openTableWithoutUpgrades({ client, tableName, retryPolicy });
  const listedIds = new Set(await Array.fromAsync(readLedgerIds(rawTable)));
  const unlistedIds = new Set<string>();
  let upgraded = 0;
  let batch: Item[] = [];
  const upgradeBatch = async () => {
    upgraded += await upgradeStored(rawTable, batch, schema);
    batch = [];
  };
  for await (const item of rawTable.scan()) {
    const pk = String(item.pk);
    const ledgerId = findLedger(pk);
    if (ledgerId !== undefined && !listedIds.has(ledgerId)) unlistedIds.add(ledgerId);
    if (ledgerId === undefined && !isLedgerListOrApiKey(pk)) continue;
    if (schema.createUpgradeWrite(item)) batch.push(item);
    if (batch.length === UPGRADE_BATCH_SIZE) await upgradeBatch();
  }
  await upgradeBatch();
  const table = openTable({ client, tableName, retryPolicy }, schema);
  return { upgraded, registered: await registerLedgers(table, [...unlistedIds]) };
}

/** True for the list of ledgers and for API keys. Other items that belong to no ledger have their own versions. */
function isLedgerListOrApiKey(pk: string): boolean {
  return [LEDGERS, API_KEY_NAMES].includes(pk.split('#', 1)[0] ?? '');
}
