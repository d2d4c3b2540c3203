// Each item has the version of its schema. An item of an older version is read in the current form, and stored in that form when
// it is changed or swept. An item of a newer version is refused and stays unchanged. The first id of a ledger adds the ledger to
// the list of ledgers.
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import {
  createApiKeyKey,
  createApiKeyNameKey,
  createKeys,
  LEDGERS,
  SEQUENCE_KINDS,
} from '../../../lib/ledger/store/keys.ts';
import {
  createLedgerDatabase,
  createSchema,
  NewerItemError,
} from '../../../lib/ledger/store/schema.ts';
import { sweepTable } from '../../../lib/ledger/store/schema-sweep.ts';
import { createDatabase, type Item, type Key } from '../../../lib/shared/database.ts';
import { addToCounters, createDeletion, setAttributes } from '../../../lib/shared/update-writes.ts';
import { runCommand } from '../../shared/support/command.ts';
import { callOnceBefore, interpose } from '../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import type { Client } from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { bulkLoadHousehold } from '../support/bulk-loader.ts';
import { createCorruptibleTable } from '../support/corruptible-table.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';

/** A schema whose second version counts from 100, and whose third version renames `name` to `label` */
const NEXT_SCHEMA = createSchema([
  { reads: [], change: () => ({}) },
  {
    reads: ['count'],
    change: ({ count }) => (count === undefined ? {} : { count: Number(count) + 100 }),
  },
  {
    reads: ['pk', 'name'],
    change: ({ pk, name }) =>
      pk === undefined || name === undefined ? {} : { name: undefined, label: name },
  },
]);

const KEY = { pk: 'home#THINGS', sk: '1' };
const conditionNotMet = () => new Error('The condition of a write was not met');

type Table = Awaited<ReturnType<typeof createCorruptibleTable>>;
let send: Table['send'];
let ledger: Awaited<ReturnType<Table['givenLedger']>>;

beforeEach(async () => {
  const table = await createCorruptibleTable();
  send = table.send;
  ledger = await table.givenLedger();
});

async function readStored(key: Key): Promise<Item | undefined> {
  const { client, tableName: TableName } = ledger.target;
  return (await client.send(new GetCommand({ TableName, Key: key }))).Item;
}

function openNextRelease(client: Client = ledger.target.client) {
  const { tableName } = ledger.target;
  return createLedgerDatabase(
    { client, tableName, retryPolicy: createSleeplessRetryPolicy() },
    NEXT_SCHEMA,
  );
}

describe('an item of an older version', () => {
  it.each([
    [{}, { count: 101, label: 'a' }],
    [{ v: 1 }, { count: 101, label: 'a' }],
    [{ v: 2 }, { count: 1, label: 'a' }],
    [{ v: 3 }, { count: 1, name: 'a' }],
  ])(
    'with %o is read in the form of this release, and stays unchanged in the table',
    async (version, currentFields) => {
      const item = { ...KEY, ...version, count: 1, name: 'a' };
      await send.put(item);
      const database = openNextRelease();
      const expected = { ...KEY, ...currentFields, v: 3 };
      expect(await database.get(KEY)).toEqual(expected);
      expect(await database.query({ value: KEY.pk })).toEqual([expected]);
      expect((await database.queryOnce({ value: KEY.pk })).items).toEqual([expected]);
      const scanned = await Array.fromAsync(database.scan(KEY.pk));
      expect(scanned).toEqual([expected]);
      const { name: _, ...stored } = expected as Item;
      for (const attribute of ['count', 'label', 'sk']) {
        const range = { value: KEY.pk, projection: [attribute] };
        const parts = [
          ...(await database.query(range)),
          ...(await database.queryOnce(range)).items,
        ];
        for (const part of parts) expect(part[attribute]).toBe(stored[attribute]);
      }
      expect(await readStored(KEY)).toEqual(item);
    },
  );

  it('is upgraded before a write changes it, like all other items of that transaction', async () => {
    const otherKey = { ...KEY, sk: '2' };
    await send.put({ ...KEY, v: 1, count: 1, name: 'a' });
    await send.put({ ...otherKey, count: 5 });
    const exists = { expression: 'attribute_exists(pk)', onConditionFailed: conditionNotMet };
    await openNextRelease().commit([
      addToCounters(KEY, new Map([['count', 1]])),
      setAttributes(otherKey, { color: 'red' }, exists),
    ]);
    expect(await readStored(KEY)).toEqual({ ...KEY, v: 3, count: 102, label: 'a' });
    expect(await readStored(otherKey)).toEqual({ ...otherKey, v: 3, count: 105, color: 'red' });
  });

  it('keeps what another request writes between its read and its upgrade', async () => {
    await send.put({ ...KEY, v: 1, count: 1 });
    let commits = 0;
    const client = interpose(ledger.target.client, async (name) => {
      if (name !== 'TransactWriteCommand') return;
      commits += 1;
      // The first commit was refused, and the second is the upgrade.
      if (commits === 2) await send.set(KEY, 'count', 7);
    });
    await openNextRelease(client).commit([addToCounters(KEY, new Map([['count', 1]]))]);
    expect([commits, await readStored(KEY)]).toEqual([4, { ...KEY, v: 3, count: 108 }]);
  });

  it('is not created again by an upgrade after another request deleted it', async () => {
    await send.put(KEY);
    const stored = await readStored(KEY);
    await send.delete(KEY);
    const write = NEXT_SCHEMA.createUpgradeWrite(stored ?? {});
    if (!write) throw new Error('The item was not older');
    const database = createDatabase({
      ...ledger.target,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    await expect(database.commit([write])).rejects.toThrow('has changed');
    expect(await readStored(KEY)).toBeUndefined();
  });

  it('is not upgraded from an attribute that another request has since changed', async () => {
    const { createUpgradeWrite } = createSchema([
      { reads: [], change: () => ({}) },
      { reads: ['amount'], change: ({ amount }) => ({ cents: Number(amount) * 100 }) },
    ]);
    const stored = { ...KEY, v: 1, amount: 5 };
    await send.put({ ...stored, amount: 7 });
    const write = createUpgradeWrite(stored);
    if (!write) throw new Error('The item was not older');
    const database = createDatabase({
      ...ledger.target,
      retryPolicy: createSleeplessRetryPolicy(),
    });
    await expect(database.commit([write])).rejects.toThrow('has changed');
    expect(await readStored(KEY)).toEqual({ ...stored, amount: 7 });
  });

  it('is returned in the form of this release to a write whose condition it fails', async () => {
    await send.put({ ...KEY, v: 1, name: 'a' });
    const put = {
      Put: { Item: { ...KEY }, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: (existing?: Item) => new Error(`taken by ${existing?.label}`),
    };
    await expect(openNextRelease().commit([put])).rejects.toThrow('taken by a');
    expect(await readStored(KEY)).toEqual({ ...KEY, v: 3, label: 'a' });
  });

  it('can be deleted under a condition that only the form of this release meets', async () => {
    await send.put({ ...KEY, v: 1, name: 'a' });
    const condition = {
      expression: 'label = :label',
      values: { ':label': 'a' },
      onConditionFailed: conditionNotMet,
    };
    await openNextRelease().commit([createDeletion(KEY, condition)]);
    expect(await readStored(KEY)).toBeUndefined();
  });

  it('keeps what another request adds to it while it is upgraded', async () => {
    await send.put({ ...KEY, v: 1, count: 1, seen: 1 });
    const writes: number[] = [];
    const client = interpose(ledger.target.client, async (name, input) => {
      if (name !== 'TransactWriteCommand') return;
      writes.push((input as { TransactItems: unknown[] }).TransactItems.length);
      if (writes.length === 2) await send.set(KEY, 'seen', 2);
    });
    await openNextRelease(client).commit([addToCounters(KEY, new Map([['count', 1]]))]);
    // Three commits: one is refused, one upgrades the item, and one writes the change.
    expect([writes, await readStored(KEY)]).toEqual([
      [1, 1, 1],
      { ...KEY, v: 3, count: 102, seen: 2 },
    ]);
  });

  it('is upgraded together with the other items of its transaction, or separately if a request interferes', async () => {
    const keys = Array.from({ length: 25 }, (_, n) => ({ ...KEY, sk: `${n}` }));
    const writes = keys.map((key) => addToCounters(key, new Map([['count', 1]])));
    const recordSizes = async (intervene: () => Promise<unknown>) => {
      for (const key of keys) await send.put({ ...key, v: 1, count: 1 });
      const sizes: number[] = [];
      const client = interpose(ledger.target.client, async (name, input) => {
        if (name !== 'TransactWriteCommand') return;
        sizes.push((input as { TransactItems: unknown[] }).TransactItems.length);
        if (sizes.length === 2) await intervene();
      });
      await openNextRelease(client).commit(writes);
      return sizes;
    };
    expect(await recordSizes(async () => {})).toEqual([25, 25, 25]);
    const last = keys.at(-1) ?? KEY;
    const sizesWithInterference = await recordSizes(() => send.set(last, 'count', 5));
    expect(sizesWithInterference).toEqual([25, 25, ...keys.map(() => 1), 25]);
    for (const key of keys) {
      const count = key === last ? 106 : 102;
      expect(await readStored(key)).toEqual({ ...key, v: 3, count });
    }
  });

  it('can be deleted without an upgrade', async () => {
    await send.put({ ...KEY, name: 'a' });
    const condition = { expression: 'attribute_exists(pk)', onConditionFailed: conditionNotMet };
    await openNextRelease().commit([createDeletion(KEY, condition)]);
    expect(await readStored(KEY)).toBeUndefined();
  });
});

describe('a ledger whose items all have an older version', () => {
  it('can be listed, changed and deleted from, and then has no drift', async () => {
    const { target, verification } = ledger;
    for (const { pk, sk } of await readAll()) await send.remove({ pk, sk }, 'v');
    const { transactions, categories } = openLedger({ ...target, timeZone: 'UTC' });
    const { items } = await transactions.list({ ...EVERYTHING, page: 1, perPage: 20 });
    expect(items).toHaveLength(4);
    await transactions.update(await transactions.find('1'), { amount: 5, categoryId: 2 });
    await transactions.remove('2');
    await categories.update(await categories.find('1'), { name: 'Meals' });
    const row = { description: 'x', amount: 1, type: 'income', categoryId: 2 } as const;
    expect((await transactions.create({ ...row, date: '2026-03-05', notes: null })).id).toBe(5);
    expect((await verification.verify()).drifts).toEqual([]);
  });

  async function readAll(): Promise<Key[]> {
    const { client, tableName: TableName, ledgerId } = ledger.target;
    const { Items = [] } = await client.send(new ScanCommand({ TableName }));
    return Items.map(({ pk, sk }) => ({ pk: String(pk?.S), sk: String(sk?.S) })).filter(({ pk }) =>
      pk.startsWith(`${ledgerId}#`),
    );
  }
});

describe('an item of a newer version', () => {
  it('is not read, and the error names the item and what to do', async () => {
    await send.put({ ...KEY, v: 4 });
    const reads = [
      openNextRelease().get(KEY),
      openNextRelease().query({ value: KEY.pk }),
      openNextRelease().queryOnce({ value: KEY.pk }),
    ];
    for (const read of await Promise.allSettled(reads)) {
      expect(read).toMatchObject({ status: 'rejected', reason: expect.any(NewerItemError) });
      expect(String((read as PromiseRejectedResult).reason)).toContain(
        'The item home#THINGS 1 has schema version 4, and this release knows versions up to 3. Deploy the release that wrote it.',
      );
    }
  });

  it.each([
    ['an addition', addToCounters(KEY, new Map([['count', 1]]))],
    [
      'an update',
      setAttributes(
        KEY,
        { count: 2 },
        { expression: 'attribute_exists(pk)', onConditionFailed: conditionNotMet },
      ),
    ],
    [
      'a deletion',
      createDeletion(KEY, {
        expression: 'attribute_exists(pk)',
        onConditionFailed: conditionNotMet,
      }),
    ],
    [
      'a check',
      {
        ConditionCheck: { Key: KEY, ConditionExpression: 'attribute_exists(pk)' },
        onConditionFailed: conditionNotMet,
      },
    ],
    ['a put', { Put: { Item: { ...KEY } }, onConditionFailed: conditionNotMet }],
    [
      'a put of a new item',
      {
        Put: { Item: { ...KEY }, ConditionExpression: 'attribute_not_exists(pk)' },
        onConditionFailed: conditionNotMet,
      },
    ],
  ])('is not changed by %s, nor is anything else in the transaction', async (_, write) => {
    const newer = { ...KEY, v: 4, count: 1 };
    await send.put(newer);
    const otherKey = { ...KEY, sk: '3' };
    const writes = [write, addToCounters(otherKey, new Map([['count', 1]]))];
    await expect(openNextRelease().commit(writes)).rejects.toThrow(NewerItemError);
    expect([await readStored(KEY), await readStored(otherKey)]).toEqual([newer, undefined]);
  });

  it('fails a request with a 500 and the message of the operation, and stays unchanged', async () => {
    const { target, keys } = ledger;
    await send.set(keys.transaction(1), 'v', 99);
    const before = await readStored(keys.transaction(1));
    const api = await openInProcess(createServiceOn(target));
    for (const [method, body] of [['GET'], ['PUT', { amount: 9 }], ['DELETE']] as const) {
      const { status, body: responseBody } = await api.request(method, '/transactions/1', {
        ...(body && { body }),
      });
      expect([status, responseBody]).toEqual([500, expect.not.stringContaining('version')]);
    }
    expect((await api.request('GET', '/transactions')).status).toBe(500);
    expect((await api.request('GET', '/transactions/2')).status).toBe(200);
    expect(await readStored(keys.transaction(1))).toEqual(before);
  });

  it('assigns no id if it is a sequence', async () => {
    const { target, keys } = ledger;
    const sequence = keys.sequence('transaction');
    await send.set(sequence, 'v', 99);
    const before = await readStored(sequence);
    const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
    const row = { description: 'x', amount: 1, type: 'income', categoryId: null } as const;
    const created = transactions.create({ ...row, date: '2026-03-05', notes: null });
    await expect(created).rejects.toThrow(NewerItemError);
    expect(await readStored(sequence)).toEqual(before);
  });
});

describe('the list of ledgers', () => {
  it("gets a ledger's entry in the transaction that creates the ledger's first sequence, and later ids need no further write", async () => {
    const { client, tableName } = ledger.target;
    const ledgerId = 'new-ledger';
    const keys = createKeys(ledgerId);
    const calls: [string, string[]][] = [];
    const recordingClient = interpose(client, (name, input) => {
      const { TransactItems = [] } = input as { TransactItems?: Item[] };
      const text = JSON.stringify(TransactItems);
      const pks = [LEDGERS, keys.sequence('category').pk].filter((pk) => text.includes(pk));
      calls.push([name, pks]);
    });
    const target = { client: recordingClient, tableName, ledgerId };
    const { categories } = openLedger({ ...target, timeZone: 'UTC' });
    const food = { name: 'Food', description: null, color: null, isActive: true };
    await categories.create(food);
    const expectedPks = [LEDGERS, keys.sequence('category').pk];
    expect(calls).toContainEqual(['TransactWriteCommand', expectedPks]);
    expect(await readStored(keys.registration)).toEqual({ ...keys.registration, v: 1 });
    calls.length = 0;
    await categories.create({ ...food, name: 'Pay' });
    const writes = calls.filter(([name]) => /Update|Write/.test(name));
    expect(writes.map(([name]) => name)).toEqual(['UpdateCommand', 'TransactWriteCommand']);
    expect(writes.flatMap(([, pks]) => pks)).toEqual([]);
  });

  it('has one entry for many concurrent first requests, which get distinct ids', async () => {
    const target = { ...ledger.target, ledgerId: 'raced' };
    const row = { description: 'x', amount: 1, type: 'income', categoryId: null } as const;
    const { transactions } = openLedger({ ...target, timeZone: 'UTC' });
    const create = () => transactions.create({ ...row, date: '2026-03-05', notes: null });
    const created = await Promise.all(Array.from({ length: 8 }, create));
    expect(new Set(created.map(({ id }) => id)).size).toBe(8);
    const entries = await openNextRelease().query({ value: LEDGERS });
    expect(entries.filter(({ sk }) => sk === 'raced')).toHaveLength(1);
  });

  it('has a drift if it lacks a ledger, and a repair adds the ledger', async () => {
    const { keys, verification, verificationByKeys } = ledger;
    await send.delete(keys.registration);
    const expected = { what: 'list of ledgers', where: keys.registration.sk };
    expect((await verificationByKeys.verify()).drifts).toMatchObject([expected]);
    const { repaired, verdict } = await verification.repair();
    expect([repaired, verdict.drifts]).toMatchObject([[expected], []]);
    expect(await readStored(keys.registration)).toBeDefined();
  });
});

describe('a sweep', () => {
  it('upgrades every item of ledgers, of the list of ledgers and of API keys once', async () => {
    const { target, keys } = ledger;
    const hash = 'a'.repeat(64);
    const apiKeyItems = [createApiKeyKey(hash), createApiKeyNameKey(hash)];
    for (const key of apiKeyItems) await send.put(key);
    const older = [...apiKeyItems, keys.transaction(1), keys.registration];
    for (const key of older) await send.remove(key, 'v');
    const migrationLock = { pk: '@migration', sk: 'lock' };
    await send.put(migrationLock);
    expect(await sweepTable(target)).toEqual({ upgraded: 4, registered: 0 });
    for (const key of older) expect((await readStored(key))?.v).toBe(1);
    expect(await readStored(migrationLock)).toEqual(migrationLock);
    expect(await sweepTable(target)).toEqual({ upgraded: 0, registered: 0 });
  });

  it('adds ledgers that an earlier release created to the list', async () => {
    const { target, keys } = ledger;
    for (const kind of SEQUENCE_KINDS) {
      await send.remove(keys.sequence(kind), 'v');
    }
    await send.delete(keys.registration);
    expect(await sweepTable(target)).toEqual({ upgraded: 2, registered: 1 });
    expect(await readStored(keys.registration)).toEqual({ ...keys.registration, v: 1 });
    expect(await sweepTable(target)).toEqual({ upgraded: 0, registered: 0 });
  });

  it('neither adds a ledger that is being deleted nor counts one that another request adds', async () => {
    const { target, keys } = ledger;
    const countRegistered = async (intervene: () => Promise<unknown>) => {
      await send.delete(keys.registration);
      const client = callOnceBefore(target.client, 'TransactWriteCommand', intervene);
      return (await sweepTable({ ...target, client })).registered;
    };
    expect(await countRegistered(() => send.put({ ...keys.registration, v: 1 }))).toBe(0);
    const remove = () =>
      Promise.all(SEQUENCE_KINDS.map((kind) => send.delete(keys.sequence(kind))));
    expect(await countRegistered(remove)).toBe(0);
    expect(await readStored(keys.registration)).toBeUndefined();
  });

  it.each([
    ['another process has upgraded', { v: 3, count: 101 }, 0, { v: 3, count: 101 }],
    ['another process has deleted', undefined, 0, undefined],
    ['an earlier release has changed', { v: 1, count: 2 }, 1, { v: 3, count: 102 }],
  ])(
    'counts an item that %s only if it upgrades the item itself',
    async (_, current, upgraded, stored) => {
      const { target } = ledger;
      await sweepTable({ ...target, schema: NEXT_SCHEMA });
      await send.put({ ...KEY, v: 1, count: 1 });
      const client = callOnceBefore(target.client, 'TransactWriteCommand', () =>
        current ? send.put({ ...KEY, ...current }) : send.delete(KEY),
      );
      const { upgraded: actual } = await sweepTable({ ...target, client, schema: NEXT_SCHEMA });
      expect(actual).toBe(upgraded);
      expect(await readStored(KEY)).toEqual(stored && { ...KEY, ...stored });
    },
  );

  it('upgrades items through every version between theirs and the current one', async () => {
    const { target, keys } = ledger;
    await send.set(keys.category(1), 'count', 1);
    await sweepTable({ ...target, schema: NEXT_SCHEMA });
    const { name, ...stored } = (await readStored(keys.category(1))) ?? {};
    expect([name, stored]).toEqual([undefined, expect.objectContaining({ label: 'Food', v: 3 })]);
    expect(stored.count).toBe(101);
    await expect(sweepTable(target)).rejects.toThrow(NewerItemError);
  });
});

it('the ledger command lists and upgrades ledgers', async () => {
  const { client, tableName, endpoint } = await createTestTable();
  const household = { transactions: 2, years: 1, lastDay: '2026-06-30', seed: 5 };
  for (const ledgerId of ['one', 'two']) {
    await bulkLoadHousehold({ client, tableName, ledgerId }, household);
  }
  await client.send(new PutCommand({ TableName: tableName, Item: createKeys('one').registration }));
  const Key = createKeys('two').registration;
  await client.send(new DeleteCommand({ TableName: tableName, Key }));
  const environment = { DYNAMODB_ENDPOINT: endpoint, TABLE_NAME: tableName };
  const run = (name: string) => runCommand('cli/ledger/ledger.ts', [name], environment);
  expect(await run('list')).toMatchObject({ code: 0, stdout: 'one\n' });
  const stdout = `${tableName}: items upgraded: 1, ledgers added to the list: 1\n`;
  expect(await run('upgrade')).toMatchObject({ code: 0, stdout });
  expect(await run('list')).toMatchObject({ code: 0, stdout: 'one\ntwo\n' });
});
