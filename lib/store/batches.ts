// Calls for many items at once, which no request of the API needs: they are kept out of its bundles.
import {
  BatchGetCommand,
  BatchWriteCommand,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import { type RetryPolicy, retry } from '../retry.ts';
import type { Item } from './database.ts';
import type { Key } from './keys.ts';
import { isRetryable } from './retryable-errors.ts';

export type Batches = ReturnType<typeof createBatches>;

export function createBatches(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy: RetryPolicy;
  /** Of one call. */
  readonly callMs: number;
}) {
  const { client, tableName, retryPolicy, callMs } = options;

  function attempt<Result>(call: (options: { abortSignal: AbortSignal }) => Promise<Result>) {
    const send = () => call({ abortSignal: AbortSignal.timeout(callMs) });
    return retry(retryPolicy, isRetryable, send);
  }

  /** Those of up to 100 keys that are there, in any order, strongly consistent. */
  async function getMany(wanted: readonly Key[]): Promise<Item[]> {
    const items: Item[] = [];
    let left = [...wanted];
    while (left.length > 0) {
      const RequestItems = { [tableName]: { Keys: left, ConsistentRead: true } };
      const command = new BatchGetCommand({ RequestItems });
      const page = await attempt((options) => client.send(command, options));
      items.push(...(page.Responses?.[tableName] ?? []));
      left = (page.UnprocessedKeys?.[tableName]?.Keys ?? []) as Key[];
    }
    return items;
  }

  /** Deletes up to 25 items, whatever is in them. What was deleted before is no error. */
  async function deleteMany(keys: readonly Key[]): Promise<void> {
    let left = keys.map((Key) => ({ DeleteRequest: { Key } }));
    while (left.length > 0) {
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: left } });
      const { UnprocessedItems } = await attempt((options) => client.send(command, options));
      left = (UnprocessedItems?.[tableName] ?? []) as typeof left;
    }
  }

  return { getMany, deleteMany };
}
