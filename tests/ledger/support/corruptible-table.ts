// A small ledger of known content, whose items a test corrupts.
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { createKeys } from '../../../lib/ledger/store/keys.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import type { Item, Key } from '../../../lib/shared/database.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import { createTestTable } from '../../shared/support/test-table.ts';

export async function createCorruptibleTable() {
  const { client, tableName } = await createTestTable();
  let ledgerCount = 0;

  const sendWithoutScans = ((command: object, ...options: []) => {
    if (command instanceof ScanCommand) throw new Error('The table was scanned');
    return client.send(command as PutCommand, ...options);
  }) as typeof client.send;

  /** Creates categories 1 Food and 2 Pay; transactions 1 and 2 (Food, March), 3 (Pay, April) and 4 (none, May 2025). */
  async function givenLedger() {
    ledgerCount += 1;
    const ledgerId = `ledger-${ledgerCount}`;
    const target = { client, tableName, ledgerId };
    const { categories, transactions } = openLedger({ ...target, timeZone: 'UTC' });
    for (const name of ['Food', 'Pay']) {
      await categories.create({ name, description: null, color: null, isActive: true });
    }
    for (const [date, type, categoryId] of [
      ['2026-03-05', 'expense', 1],
      ['2026-03-05', 'expense', 1],
      ['2026-04-01', 'income', 2],
      ['2025-05-31', 'expense', null],
    ] as const) {
      const fields = { description: 'x', amount: 1, type, categoryId, date, notes: null };
      await transactions.create(fields);
    }
    const verification = createVerification({
      ...target,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    // Reads only the items that the ledger's keys lead to, and fails if it scans the table.
    const verificationByKeys = createVerification({
      ...target,
      client: { send: sendWithoutScans },
      isFull: false,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    return { target, keys: createKeys(ledgerId), verification, verificationByKeys };
  }

  const send = {
    put: (Item: Item) => client.send(new PutCommand({ TableName: tableName, Item })),
    delete: (Key: Key) => client.send(new DeleteCommand({ TableName: tableName, Key })),
    set: (Key: Key, attribute: string, value: unknown) =>
      client.send(
        new UpdateCommand({
          TableName: tableName,
          Key,
          UpdateExpression: 'SET #a = :value',
          ExpressionAttributeNames: { '#a': attribute },
          ExpressionAttributeValues: { ':value': value },
        }),
      ),
    remove: (Key: Key, ...attributes: readonly string[]) =>
      client.send(
        new UpdateCommand({
          TableName: tableName,
          Key,
          UpdateExpression: `REMOVE ${attributes.join(', ')}`,
        }),
      ),
  };

  return { givenLedger, send };
}
