// A ledger is deleted completely, even if the first attempt is interrupted, and no other ledger loses anything.
import { BatchWriteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { createKeys } from '../../../lib/ledger/store/keys.ts';
import { createRemoval } from '../../../lib/ledger/store/removal.ts';
import { runCommand } from '../../shared/support/command.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { bulkLoadHousehold } from '../support/bulk-loader.ts';

const HOUSEHOLD = { transactions: 60, years: 1, lastDay: '2026-06-30', seed: 5 };
const { client, tableName, endpoint } = await createTestTable();

/** Creates a ledger that includes a transaction with an external id, and a recorded import. */
async function givenLedger(ledgerId: string) {
  const target = { client, tableName, ledgerId };
  await bulkLoadHousehold(target, HOUSEHOLD);
  const { transactions, importedRows } = openLedger({ ...target, timeZone: 'UTC' });
  const common = { description: 'x', amount: 1, type: 'expense', categoryId: 1 } as const;
  await transactions.create({ ...common, date: '2026-03-05', notes: null, externalId: 'bank-1' });
  await importedRows.record({ importId: 'bank.csv', part: 1, rows: ['a'] });
  return target;
}

/** Counts the items of a ledger, including its entry in the list of ledgers. */
async function countItems(ledgerId: string): Promise<number> {
  const { Count } = await client.send(
    new ScanCommand({
      TableName: tableName,
      Select: 'COUNT',
      FilterExpression: 'begins_with(pk, :prefix) OR (pk = :list AND sk = :id)',
      ExpressionAttributeValues: {
        ':prefix': `${ledgerId}#`,
        ':list': '@LEDGERS',
        ':id': ledgerId,
      },
    }),
  );
  return Count ?? 0;
}

it('a removal deletes the whole ledger, and nothing from other ledgers', async () => {
  const target = await givenLedger('gone');
  await givenLedger('kept');
  const keptItems = await countItems('kept');
  const removal = createRemoval(target);
  const items = await countItems('gone');
  expect(await removal.count()).toEqual({ transactions: 61, categories: 30, items });
  const progress: number[] = [];
  expect(await removal.remove((done) => progress.push(done))).toBe(items);
  expect(progress.at(-1)).toBe(items);
  expect([await countItems('gone'), await countItems('kept')]).toEqual([0, keptItems]);
  expect(await removal.exists()).toBe(false);
});

describe('responses stored for retries', () => {
  async function openLedgerApi(ledgerId: string) {
    const target = { client, tableName, ledgerId };
    const api = await openInProcess(createServiceOn(target));
    const headers = { 'Idempotency-Key': 'client-key' };
    return {
      removal: createRemoval(target),
      create: (body: object) => api.request('POST', '/categories', { headers, body }),
    };
  }

  it('are deleted with the rest: none is replayed from the deleted ledger', async () => {
    const { removal, create } = await openLedgerApi('with-responses');
    expect((await create({ name: 'Secret' })).status).toBe(201);
    await removal.remove(() => {});
    expect(await countItems('with-responses')).toBe(0);
    const recreated = await create({ name: 'Secret' });
    expect([recreated.status, recreated.headers['idempotent-replayed']]).toEqual([201, undefined]);
  });

  it('make a ledger deletable even if nothing else is stored', async () => {
    const key = createKeys('only-responses').reply('hash');
    await client.send(new PutCommand({ TableName: tableName, Item: { ...key, body: 'Secret' } }));
    const { removal } = await openLedgerApi('only-responses');
    expect(await removal.exists()).toBe(true);
    expect(await removal.remove(() => {})).toBe(1);
    expect(await removal.exists()).toBe(false);
  });
});

it('a recorded import makes a ledger deletable even if nothing else is stored', async () => {
  const target = { client, tableName, ledgerId: 'only-imports' };
  const { importedRows } = openLedger({ ...target, timeZone: 'UTC' });
  await importedRows.record({ importId: 'bank.csv', part: 1, rows: ['a'] });
  const removal = createRemoval(target);
  expect(await removal.exists()).toBe(true);
  expect(await removal.remove(() => {})).toBe(1);
  expect(await removal.exists()).toBe(false);
});

/** Creates a ledger whose items all fit one batch. */
async function givenSmallLedger(ledgerId: string) {
  const target = { client, tableName, ledgerId };
  const { categories } = openLedger({ ...target, timeZone: 'UTC' });
  await categories.create({ name: 'Food', description: null, color: null, isActive: true });
  return target;
}

it.each([
  ['interrupted', givenLedger],
  ['interrupted-and-small', givenSmallLedger],
])(
  'a deletion can be repeated after an interruption at any point: %s',
  async (ledgerId, createLedger) => {
    const target = await createLedger(ledgerId);
    const retryPolicy = createSleeplessRetryPolicy();
    for (let allowedCalls = 0; await createRemoval(target).exists(); allowedCalls += 1) {
      let calls = 0;
      const send = (async (command: BatchWriteCommand, ...options: []) => {
        const isLast = command instanceof BatchWriteCommand && ++calls > allowedCalls;
        if (!isLast) return await client.send(command, ...options);
        // DynamoDB applies a batch in any order: here it deletes only the last three items before the interruption.
        const { RequestItems = {} } = command.input;
        const [table = '', items = []] = Object.entries(RequestItems)[0] ?? [];
        const partOfBatch = { RequestItems: { [table]: items.slice(-3) } };
        await client.send(new BatchWriteCommand(partOfBatch));
        throw new Error('Interrupted');
      }) as typeof client.send;
      const removed = createRemoval({ ...target, client: { send }, retryPolicy }).remove(() => {});
      await removed.catch((error: Error) => expect(error.message).toBe('Interrupted'));
    }
    expect(await countItems(ledgerId)).toBe(0);
  },
);

const runDelete = (...options: string[]) => {
  const environment = { DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: tableName };
  return runCommand('cli/ledger/ledger.ts', ['delete', ...options], environment);
};

it('the command refuses to delete while a key is valid, shows the counts, and deletes only after confirmation', async () => {
  await givenLedger('asked');
  const keys = createTestKeys({ client, tableName });
  const { key } = await keys.create({ name: 'phone', ledger: 'asked', scope: 'write' });
  const options = ['--ledger', 'asked'];
  expect(await runDelete(...options, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`valid API keys: ${key.id}. Revoke`),
  });
  await keys.revoke(key.id);
  const items = await countItems('asked');
  expect(await runDelete(...options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing was deleted'),
    stdout: expect.stringContaining(`61 transactions, 30 categories, ${items} items in all`),
  });
  expect(await countItems('asked')).toBe(items);
  expect(await runDelete(...options, '--yes')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`${items} items deleted`),
  });
  expect(await countItems('asked')).toBe(0);
  expect((await runDelete(...options, '--yes')).stdout).toBe('The ledger "asked" is empty.\n');
});
