// Removes a whole ledger. Its items are found through its sequences and its entry in the list of ledgers. The sequences and the
// entry are deleted last, so that an interrupted removal can resume.
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Item } from '../../shared/database.ts';
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../shared/retry.ts';
import { createKeys } from './keys.ts';
import { countAssignedIds, openTable, readEverything } from './ledger-items.ts';

// DynamoDB's limit for one batch write.
const MAX_BATCH_ITEMS = 25;

export interface LedgerContents {
  readonly transactions: number;
  readonly categories: number;
  /** Stored items of all kinds. */
  readonly items: number;
}

export function createRemoval(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly ledgerId: string;
  readonly retryPolicy?: RetryPolicy;
}) {
  const { client, tableName, ledgerId, retryPolicy = DEFAULT_RETRY_POLICY } = options;
  const keys = createKeys(ledgerId);
  const database = openTable({ client, tableName, retryPolicy });

  /** Counts the ledger's records and items. Reads the whole ledger. */
  async function count(): Promise<LedgerContents> {
    const counts = { transactions: 0, categories: 0, items: 0 };
    for await (const { pk } of readEverything(database, keys)) {
      const kind = keys.parseKind(String(pk));
      counts.items += 1;
      if (kind === 'TRANSACTION') counts.transactions += 1;
      if (kind === 'CATEGORIES') counts.categories += 1;
    }
    return counts;
  }

  /**
   * Deletes the ledger. No client may write to it meanwhile.
   * @param onProgress called with the number of items deleted so far
   */
  async function remove(onProgress: (items: number) => void): Promise<number> {
    let deletedCount = 0;
    let batch: Item[] = [];
    const flush = async () => {
      await database.deleteMany(batch.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })));
      deletedCount += batch.length;
      batch = [];
      onProgress(deletedCount);
    };
    const lastPartitions = new Set([keys.sequence('transaction').pk, keys.registration.pk]);
    const isDeletedLast = ({ pk }: Item) => lastPartitions.has(String(pk));
    for await (const item of readEverything(database, keys)) {
      // DynamoDB may apply a batch in part, in any order. So the sequences and the entry each have a batch of their own.
      if (isDeletedLast(item) && batch.some(({ pk }) => pk !== item.pk)) await flush();
      batch.push(item);
      if (batch.length === MAX_BATCH_ITEMS) await flush();
    }
    await flush();
    return deletedCount;
  }

  /** True if the ledger was ever used, even by a single refused request, and has not been removed. */
  async function exists(): Promise<boolean> {
    const { transaction, category } = await countAssignedIds(database, keys);
    return (
      transaction + category > 0 ||
      (await database.query({ value: keys.replies }, 1)).length > 0 ||
      (await database.query({ value: keys.imports }, 1)).length > 0 ||
      (await database.get(keys.registration)) !== undefined
    );
  }

  return { exists, count, remove };
}
