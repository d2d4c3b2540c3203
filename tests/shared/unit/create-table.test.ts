// Creating a table waits until the caller gives up: only the caller knows how long a busy machine may take.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it, vi } from 'vitest';
import { createTable } from '../../../local/create-table.ts';

function createSlowDatabase(describesUntilActive: number) {
  let describeCalls = 0;
  const send = vi.fn(async (command: object, _options?: { abortSignal?: AbortSignal }) => {
    if (command.constructor.name === 'CreateTableCommand') return {};
    describeCalls += 1;
    return { Table: { TableStatus: describeCalls < describesUntilActive ? 'CREATING' : 'ACTIVE' } };
  });
  return { send, client: { send, config: {} } as unknown as DynamoDBClient };
}

it('the wait for a table has no limit of its own', async () => {
  const limit = vi.spyOn(AbortSignal, 'timeout');
  const { send, client } = createSlowDatabase(3);
  await createTable(client, 'ledger');
  expect(send).toHaveBeenCalledTimes(4);
  expect(send.mock.calls.map(([, options]) => options?.abortSignal)).toEqual(Array(4));
  expect(limit).not.toHaveBeenCalled();
});

it("the wait for a table ends with the caller's signal", async () => {
  const { client } = createSlowDatabase(Number.POSITIVE_INFINITY);
  const gaveUp = AbortSignal.abort();
  await expect(createTable(client, 'ledger', gaveUp)).rejects.toThrow(/abort/i);
});
