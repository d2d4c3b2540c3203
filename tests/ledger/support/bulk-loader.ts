// Fills an empty ledger fast: it writes rows in batches, and each count once at the end.
// The result equals that of single creates, as `npm run verify-ledger` confirms.
import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  createHouseholdLedger,
  type HouseholdLedgerOptions,
} from '../../../bench/ledger/household-ledger.ts';
import { createLedgerItems } from '../../../bench/ledger/ledger-items.ts';
import type { Category } from '../../../lib/ledger/domain/category.ts';
import type { Transaction } from '../../../lib/ledger/domain/transaction.ts';
import type { Item } from '../../../lib/shared/database.ts';

/** Limit of one BatchWriteItem */
const BATCH_SIZE = 25;
const CONCURRENT_BATCHES = 8;

export interface BulkTarget {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
}

/** `categories` must contain the category of every transaction, and no two transactions may have the same id. */
export async function bulkLoad(
  target: BulkTarget,
  categories: readonly Category[],
  transactions: Iterable<Transaction>,
): Promise<void> {
  const items = createLedgerItems(target.ledgerId, categories);
  await writeAll(target, items.rows(transactions));
  await writeAll(target, items.summary());
}

/** Loads thirty categories and years of transactions. */
export async function bulkLoadHousehold(
  target: BulkTarget,
  options: HouseholdLedgerOptions,
): Promise<readonly Category[]> {
  const { categories, transactions } = createHouseholdLedger(options);
  await bulkLoad(target, categories, transactions);
  return categories;
}

async function writeAll(target: BulkTarget, items: Generator<Item>): Promise<void> {
  async function writeBatches(): Promise<void> {
    for (let batch = takeBatch(items); batch.length > 0; batch = takeBatch(items)) {
      await writeBatch(target, batch);
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_BATCHES }, writeBatches));
}

function takeBatch(items: Generator<Item>): Item[] {
  const batch: Item[] = [];
  while (batch.length < BATCH_SIZE) {
    const { value, done } = items.next();
    if (done) break;
    batch.push(value);
  }
  return batch;
}

async function writeBatch({ client, tableName }: BulkTarget, batch: Item[]): Promise<void> {
  let unprocessed = batch.map((Item) => ({ PutRequest: { Item } }));
  while (unprocessed.length > 0) {
    const command = new BatchWriteCommand({ RequestItems: { [tableName]: unprocessed } });
    const { UnprocessedItems } = await client.send(command);
    unprocessed = (UnprocessedItems?.[tableName] ?? []) as typeof unprocessed;
  }
}
