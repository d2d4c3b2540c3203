// Batch calls to DynamoDB, for programs. No request of the API needs them, so they stay out of its bundles.
import {
  BatchGetCommand,
  BatchWriteCommand,
  type DynamoDBDocumentClient,
} from '@aws-sdk/lib-dynamodb';
import type { Item, Key } from './database.ts';
import { type RetryPolicy, retry } from './retry.ts';
import { isRetryable } from './retryable-errors.ts';

class UnprocessedError extends Error {
  override readonly name = 'UnprocessedError';
}

export type Batches = ReturnType<typeof createBatches>;

export function createBatches(options: {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly tableName: string;
  readonly retryPolicy: RetryPolicy;
  /** Limit of one call, in milliseconds. */
  readonly callMs: number;
}) {
  const { client, tableName, retryPolicy, callMs } = options;

  /**
   * Repeats the unprocessed items, with growing pauses, until none is left or the policy's time is up: DynamoDB leaves items
   * unprocessed when it throttles.
   * @param send makes one call; returns the parts that it left unprocessed
   */
  async function sendAll<Part>(
    parts: readonly Part[],
    send: (left: readonly Part[], options: { abortSignal: AbortSignal }) => Promise<Part[]>,
  ): Promise<void> {
    let left = parts;
    await retry(
      retryPolicy,
      (error) => error instanceof UnprocessedError || isRetryable(error),
      async () => {
        if (left.length > 0) left = await send(left, { abortSignal: AbortSignal.timeout(callMs) });
        if (left.length > 0) throw new UnprocessedError(`${left.length} items were not processed`);
      },
    );
  }

  /** Reads the existing items of up to 100 keys, in any order, strongly consistent. */
  async function getMany(wanted: readonly Key[]): Promise<Item[]> {
    const items: Item[] = [];
    await sendAll(wanted, async (left, options) => {
      const RequestItems = { [tableName]: { Keys: [...left], ConsistentRead: true } };
      const page = await client.send(new BatchGetCommand({ RequestItems }), options);
      items.push(...(page.Responses?.[tableName] ?? []));
      return (page.UnprocessedKeys?.[tableName]?.Keys ?? []) as Key[];
    });
    return items;
  }

  /** Deletes up to 25 items unconditionally. A key without an item is not an error. */
  async function deleteMany(keys: readonly Key[]): Promise<void> {
    const deletions = keys.map((Key) => ({ DeleteRequest: { Key } }));
    await sendAll(deletions, async (left, options) => {
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: [...left] } });
      const { UnprocessedItems } = await client.send(command, options);
      return (UnprocessedItems?.[tableName] ?? []) as typeof deletions;
    });
  }

  return { getMany, deleteMany };
}
