// A local start deletes expired items, which the table deletes by itself on AWS.
import { type DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { deleteExpired } from '../../../local/expiry.ts';
import { createTestTable } from '../../shared/support/test-table.ts';

const NOW = 1_780_000_000;
const { client, tableName: TableName } = await createTestTable();

async function put(pk: string, expires_at?: number): Promise<void> {
  const Item = { pk, sk: '-', ...(expires_at && { expires_at }) };
  await client.send(new PutCommand({ TableName, Item }));
}

async function readPks(): Promise<unknown[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  return Items.map(({ pk }) => pk).sort();
}

it('expired items are deleted, and nothing else', async () => {
  await put('expired', NOW - 1);
  await put('expires-now', NOW);
  await put('expires-later', NOW + 1);
  await put('never');
  await deleteExpired(client, TableName, NOW);
  expect(await readPks()).toEqual(['expires-later', 'never']);
});

it('an item that a request renews between the read and the deletion is kept', async () => {
  await put('renewed', NOW);
  const renewingClient = Object.assign(Object.create(client), {
    send: async (command: ScanCommand) => {
      const response = await client.send(command);
      if (command instanceof ScanCommand) await put('renewed', NOW + 1);
      return response;
    },
  }) as DynamoDBDocumentClient;
  await deleteExpired(renewingClient, TableName, NOW);
  expect(await readPks()).toContain('renewed');
});
