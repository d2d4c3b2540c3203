// A local start converts the data of an earlier release, even if it is interrupted, and changes nothing else.
import { createHash, randomBytes } from 'node:crypto';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { deriveLedgerId } from '../../../lib/ledger/auth/caller.ts';
import { createApiKeys } from '../../../lib/ledger/store/api-keys.ts';
import { LEDGERS } from '../../../lib/ledger/store/keys.ts';
import { createLedgerDatabase } from '../../../lib/ledger/store/schema.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { runInBatches } from '../../../lib/shared/run-in-batches.ts';
import { convertData } from '../../../local/convert-data.ts';
import { callOnceBefore, interpose } from '../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import type { Client } from '../../shared/support/store-faults.ts';
import { createTestTable, type TestTable } from '../../shared/support/test-table.ts';
import { bulkLoadHousehold } from '../support/bulk-loader.ts';

const ISSUER = 'https://login.example';
const HOUSEHOLD = { transactions: 25, years: 1, lastDay: '2026-06-30', seed: 5 };

let table: TestTable;

beforeEach(async () => {
  table = await createTestTable();
});

/** Makes the id of a ledger as release 0.1.0 does. */
function makeLongId(subject: string): string {
  const digest = createHash('sha256').update(`${ISSUER}\n${subject}`).digest('base64url');
  return `user-${digest}`;
}

function openKeys(client: Client = table.client) {
  const retryPolicy = createSleeplessRetryPolicy();
  const database = createLedgerDatabase({ ...table, client, retryPolicy });
  return createApiKeys({ database, clock: () => new Date() });
}

function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function toKeyId(secret: string): string {
  return hashSecret(secret).slice(0, 12);
}

/** Stores an API key in the form of release 0.1.0. @returns its secret */
async function givenEarlierKey(ledger: string, fields: object = {}): Promise<string> {
  const secret = `fl_${randomBytes(32).toString('base64url')}`;
  const sk = hashSecret(secret);
  const item = {
    pk: '@API_KEYS',
    sk,
    name: 'phone',
    ledger,
    scope: 'write',
    created_at: 1,
    ...fields,
  };
  await table.client.send(new PutCommand({ TableName: table.tableName, Item: item }));
  return secret;
}

/** Revokes an API key as release 0.1.0 does. */
async function revokeAsRelease010(secret: string): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.tableName,
      Key: { pk: '@API_KEYS', sk: hashSecret(secret) },
      UpdateExpression: 'SET revoked_at = :now',
      ExpressionAttributeValues: { ':now': 7 },
    }),
  );
}

/**
 * Creates a ledger of release 0.1.0, which has no versions of items and no list of ledgers. It has rows, uniqueness guards, an
 * import, and texts that look like a ledger id.
 */
async function givenLedger(ledgerId: string): Promise<void> {
  const target = { ...table, ledgerId };
  await bulkLoadHousehold(target, HOUSEHOLD);
  const { transactions, importedRows } = openLedger({ ...target, timeZone: 'UTC' });
  const common = { amount: 1, type: 'expense', categoryId: 1, date: '2026-03-05' } as const;
  const texts = {
    description: makeLongId('alice'),
    notes: `${makeLongId('alice')}#`,
    externalId: 'bank-1',
  };
  await transactions.create({ ...common, ...texts });
  await importedRows.record({ importId: 'bank.csv', part: 1, rows: ['a'] });
  await forgetVersions();
}

async function forgetVersions(): Promise<void> {
  const { client, tableName: TableName } = table;
  const versioned = (await readTable()).filter(({ v }) => v !== undefined);
  await runInBatches(versioned, 20, async ({ pk, sk }) => {
    const Key = { pk: pk?.S, sk: sk?.S };
    if (pk?.S === LEDGERS) await client.send(new DeleteCommand({ TableName, Key }));
    else await client.send(new UpdateCommand({ TableName, Key, UpdateExpression: 'REMOVE v' }));
  });
}

async function readTable(): Promise<Record<string, AttributeValue>[]> {
  return (await table.client.send(new ScanCommand({ TableName: table.tableName }))).Items ?? [];
}

/** Reads the items of a ledger, without the ledger's id and the items' versions. */
async function readContents(ledgerId: string): Promise<string[]> {
  const withoutId = ([name, { S, ...value }]: [string, AttributeValue]) =>
    /(^pk|_key)$/.test(name) ? [name, S?.replace(ledgerId, '')] : [name, S, value];
  return (await readTable())
    .filter(({ pk }) => pk?.S?.startsWith(`${ledgerId}#`))
    .map(({ v: _, ...item }) => JSON.stringify(Object.entries(item).toSorted().map(withoutId)))
    .toSorted();
}

async function listLedgers(): Promise<string[]> {
  const entries = (await readTable()).filter(({ pk }) => pk?.S === LEDGERS);
  return entries.map(({ sk }) => String(sk?.S)).toSorted();
}

it('a conversion gives the ledgers of access tokens the ids that this release derives', async () => {
  const manualId = `${makeLongId('alice')}-by-hand`;
  for (const ledger of [makeLongId('alice'), 'default', manualId]) await givenLedger(ledger);
  const secret = await givenEarlierKey(makeLongId('alice'));
  const before = await readContents(makeLongId('alice'));
  const others = [await readContents('default'), await readContents(manualId)];
  const stored = await readTable();
  // Every item gets a version, the items of one ledger also a new ledger id, and the API key a second item.
  expect(await convertData(table)).toBe(before.length + 1 + stored.length + 1);
  const ledgerId = deriveLedgerId(ISSUER, 'alice');
  expect(await readContents(ledgerId)).toEqual(before);
  expect(await readContents(makeLongId('alice'))).toEqual([]);
  expect([await readContents('default'), await readContents(manualId)]).toEqual(others);
  expect((await openKeys().find(secret))?.ledger).toBe(ledgerId);
  const { drifts } = await createVerification({ ...table, ledgerId }).verify();
  expect(drifts).toEqual([]);
  const versions = (await readTable()).filter(({ pk }) => pk?.S !== '@FORM').map(({ v }) => v?.N);
  expect(new Set(versions)).toEqual(new Set(['1']));
  expect(await listLedgers()).toEqual([ledgerId, 'default', manualId].toSorted());
});

it('an interrupted conversion is continued, and a finished one is not repeated', async () => {
  await givenLedger(makeLongId('alice'));
  const before = await readContents(makeLongId('alice'));
  let interruptions = 0;
  for (let maxCommits = 1; ; maxCommits += 1) {
    let commits = 0;
    const client = interpose(table.client, (name) => {
      if (name !== 'TransactWriteCommand') return;
      commits += 1;
      if (commits > maxCommits) throw new Error('killed');
    });
    const isDone = await convertData({ ...table, client }).then(
      () => true,
      () => false,
    );
    if (isDone) break;
    interruptions += 1;
  }
  expect(interruptions).toBeGreaterThan(1);
  expect(await readContents(deriveLedgerId(ISSUER, 'alice'))).toEqual(before);
  expect((await readTable()).filter(({ pk, v }) => pk?.S !== '@FORM' && v?.N !== '1')).toEqual([]);
  expect(await listLedgers()).toEqual([deriveLedgerId(ISSUER, 'alice')]);
  const calls: string[] = [];
  const client = interpose(table.client, (name) => void calls.push(name));
  expect([await convertData({ ...table, client }), calls]).toEqual([0, ['GetCommand']]);
});

it('keys from an earlier release keep their scope and revocation', async () => {
  const fields = { name: 'old phone', scope: 'read', last_used_on: '2026-01-02' };
  const valid = await givenEarlierKey('home', fields);
  const revoked = await givenEarlierKey('home', { revoked_at: 5 });
  await convertData(table);
  const keys = openKeys();
  const { id, ...key } = (await keys.find(valid)) ?? { id: '' };
  expect(key).toEqual({
    ...{ name: 'old phone', ledger: 'home', scope: 'read' },
    ...{ createdAt: 1, lastUsedOn: '2026-01-02', revokedAt: undefined },
  });
  expect((await keys.find(revoked))?.revokedAt).toBe(5);
  expect((await keys.list()).map((key) => key.id)).toContain(id);
  await keys.revoke(id);
  expect((await keys.find(valid))?.revokedAt).toBeGreaterThan(5);
});

it('unconverted keys from an earlier release can be listed and revoked', async () => {
  const [revoked, valid] = [await givenEarlierKey('home'), await givenEarlierKey('home')];
  const keys = openKeys();
  await keys.revoke(toKeyId(revoked));
  expect((await keys.find(revoked))?.revokedAt).toBeDefined();
  expect(await keys.list()).toHaveLength(2);
  // A key moves only once: the next list must not restore its earlier state.
  expect((await keys.find(revoked))?.revokedAt).toBeDefined();
  expect((await keys.find(valid))?.ledger).toBe('home');
});

it.each([
  ['this release', async (secret: string) => void (await openKeys().revoke(toKeyId(secret)))],
  ['0.1.0', revokeAsRelease010],
])('a key that %s revokes while another command moves it stays revoked', async (_, revoke) => {
  const secret = await givenEarlierKey('home');
  const revokingClient = callOnceBefore(table.client, 'TransactWriteCommand', () => revoke(secret));
  const [listed] = await openKeys(revokingClient).list();
  expect(listed?.revokedAt).toBeDefined();
  expect((await openKeys().find(secret))?.revokedAt).toBe(listed?.revokedAt);
  expect(await openKeys().moveEarlierKeys()).toBe(0);
});

it('a key that 0.1.0 revokes after its move is revoked by the next list', async () => {
  const [secret, other] = [await givenEarlierKey('home'), await givenEarlierKey('home')];
  await openKeys().moveEarlierKeys();
  await revokeAsRelease010(secret);
  const listed = await openKeys().list();
  expect(listed.map(({ revokedAt }) => revokedAt).sort()).toEqual([7, undefined]);
  expect((await openKeys().find(secret))?.revokedAt).toBe(7);
  await openKeys().list();
  expect((await openKeys().find(other))?.revokedAt).toBeUndefined();
});

it('if a key changes whenever it is moved, the command fails and asks to be run again', async () => {
  const secret = await givenEarlierKey('home');
  const Key = { pk: '@API_KEYS', sk: hashSecret(secret) };
  let changes = 0;
  const changingClient = interpose(table.client, async (name) => {
    if (name !== 'TransactWriteCommand') return;
    changes += 1;
    const UpdateExpression = 'SET last_used_on = :day, v = :v';
    const ExpressionAttributeValues = { ':day': `2026-01-0${changes}`, ':v': 1 };
    const TableName = table.tableName;
    await table.client.send(
      new UpdateCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues }),
    );
  });
  await expect(openKeys(changingClient).list()).rejects.toThrow(
    `Another command changed the API key ${toKeyId(secret)} while this one moved it. Run the command again.`,
  );
  expect(changes).toBe(3);
});

it('a moved key is never overwritten with its older copy', async () => {
  const secret = await givenEarlierKey('home');
  const Key = { pk: '@API_KEYS', sk: hashSecret(secret) };
  const { Item } = await table.client.send(new GetCommand({ TableName: table.tableName, Key }));
  await openKeys().revoke(toKeyId(secret));
  await table.client.send(new PutCommand({ TableName: table.tableName, Item }));
  await expect(openKeys().list()).rejects.toThrow('Run the command again');
  expect((await openKeys().find(secret))?.revokedAt).toBeDefined();
});
