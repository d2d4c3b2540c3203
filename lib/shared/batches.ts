// Batch calls to DynamoDB, for commands only: the bundles of the API's functions leave this file out.
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
   * Resends the unprocessed requests, with growing pauses, until none is left or the policy's deadline passes: DynamoDB leaves
   * requests unprocessed when it throttles.
   * @param send makes one call; returns the requests that were left unprocessed
   */
  async function sendAll<Request>(
    requests: readonly Request[],
    send: (
      pending: readonly Request[],
      options: { abortSignal: AbortSignal },
    ) => Promise<Request[]>,
  ): Promise<void> {
    let pending = requests;
    await retry(
      retryPolicy,
      (error) => error instanceof UnprocessedError || isRetryable(error),
      async () => {
        if (pending.length > 0) {
          pending = await send(pending, { abortSignal: AbortSignal.timeout(callMs) });
        }
        if (pending.length > 0) {
          throw new UnprocessedError(`${pending.length} items were not processed`);
        }
      },
    );
  }

  /** Reads the existing items of up to 100 keys, in any order, strongly consistent. */
  async function getMany(keys: readonly Key[]): Promise<Item[]> {
    const items: Item[] = [];
    await sendAll(keys, async (pending, options) => {
      const RequestItems = { [tableName]: { Keys: [...pending], ConsistentRead: true } };
      const page = await client.send(new BatchGetCommand({ RequestItems }), options);
      items.push(...(page.Responses?.[tableName] ?? []));
      return (page.UnprocessedKeys?.[tableName]?.Keys ?? []) as Key[];
    });
    return items;
  }

  /** Deletes up to 25 items unconditionally. A key without an item is not an error. */
  async function deleteMany(keys: readonly Key[]): Promise<void> {
    const deletions = keys.map((Key) => ({ DeleteRequest: { Key } }));
    await sendAll(deletions, async (pending, options) => {
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: [...pending] } });
      const { UnprocessedItems } = await client.send(command, options);
      return (UnprocessedItems?.[tableName] ?? []) as typeof deletions;
    });
  }

  return { getMany, deleteMany };
}
