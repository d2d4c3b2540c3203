// Batches that DynamoDB processes only in part, as it does under load.
import type { BatchGetCommand, BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { createVirtualRetryPolicy, createVirtualTime } from '../../../bench/ledger/virtual-time.ts';
import { createBatches } from '../../../lib/shared/batches.ts';
import type { Key } from '../../../lib/shared/database.ts';

const KEYS = Array.from({ length: 5 }, (_, n): Key => ({ pk: `p${n}`, sk: '-' }));

/** Creates a table that processes only the first `processed` items of each call. */
function createTable(processed: number) {
  const time = createVirtualTime();
  const retryPolicy = createVirtualRetryPolicy(time);
  const sizes: number[] = [];
  const send = async ({ input }: BatchGetCommand | BatchWriteCommand) => {
    const requested = input.RequestItems?.t ?? [];
    if (Array.isArray(requested)) {
      sizes.push(requested.length);
      return { UnprocessedItems: { t: requested.slice(processed) } };
    }
    const { Keys = [] } = requested;
    sizes.push(Keys.length);
    const unprocessed = { t: { Keys: Keys.slice(processed) } };
    return { Responses: { t: Keys.slice(0, processed) }, UnprocessedKeys: unprocessed };
  };
  const client = { send } as unknown as Parameters<typeof createBatches>[0]['client'];
  const batches = createBatches({ client, tableName: 't', retryPolicy, callMs: 1000 });
  return { batches, sizes, time, delays: retryPolicy.delays };
}

test.each(['getMany', 'deleteMany'] as const)('%s waits longer before each retry', async (name) => {
  const { batches, sizes, time, delays } = createTable(2);
  const items = await time.run<unknown>(batches[name](KEYS));
  expect([sizes, delays]).toEqual([
    [5, 3, 1],
    [12.5, 25],
  ]);
  if (name === 'getMany') expect(items).toEqual(KEYS);
});

test.each(['getMany', 'deleteMany'] as const)('%s gives up at the deadline', async (name) => {
  const { batches, time } = createTable(0);
  await expect(time.run<unknown>(batches[name](KEYS))).rejects.toThrow(
    '5 items were not processed',
  );
});

test.each(['getMany', 'deleteMany'] as const)('%s of nothing sends nothing', async (name) => {
  const { batches, sizes, time } = createTable(2);
  await time.run<unknown>(batches[name]([]));
  expect(sizes).toEqual([]);
});
