// A table whose indexes lag behind its rows, as on AWS; the indexes of the local engines never lag.
import type { QueryCommandInput, TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';

type Key = Readonly<Record<'pk' | 'sk', unknown>>;

/** Sends index queries to a second table, to which the test copies changes later, in any order. */
export async function createLaggingTable() {
  const table = await createTestTable();
  const indexTable = await createTestTable();
  const pending = new Map<string, Key>();
  const client = interpose(table.client, (name, input) => {
    const { IndexName } = input as QueryCommandInput;
    if (name === 'QueryCommand' && IndexName !== undefined) {
      Object.assign(input, { TableName: indexTable.tableName });
    }
    for (const key of listWrittenKeys(input)) pending.set(JSON.stringify(key), key);
  });

  async function copyToIndexes(Key: Key): Promise<void> {
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.tableName, Key, ConsistentRead: true }),
    );
    const TableName = indexTable.tableName;
    await (Item
      ? indexTable.client.send(new PutCommand({ TableName, Item }))
      : indexTable.client.send(new DeleteCommand({ TableName, Key })));
  }

  return {
    ...table,
    client,
    /** @param arrives decides for each pending change whether it reaches the indexes now */
    async propagate(arrives: () => boolean): Promise<void> {
      for (const [id, key] of pending) {
        if (!arrives()) continue;
        await copyToIndexes(key);
        pending.delete(id);
      }
    },
  };
}

function listWrittenKeys(input: object): Key[] {
  const { TransactItems = [] } = input as Partial<TransactWriteCommandInput>;
  return TransactItems.flatMap(({ Put, Update, Delete }) => {
    const { pk, sk } = Put?.Item ?? Update?.Key ?? Delete?.Key ?? {};
    return pk === undefined ? [] : [{ pk, sk }];
  });
}
