// Requests for many transactions: each transaction gets its own result, follows the rules of a single request, and is applied at
// most once.
import { randomUUID } from 'node:crypto';
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import { callOnceBefore, interpose } from '../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import {
  type Client,
  createFaultyClient,
  denied,
  type Fault,
  TEMPORARY_FAULTS,
} from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, LUNCH, UNKNOWN_ID } from '../support/api/records.ts';

const BULK_PATH = '/transactions/bulk';
const BULK_DELETE_PATH = '/transactions/bulk/delete';

const table = await createTestTable();
let ledgerCount = 0;

// Keeps the log lines of a 500 out of the test's own output.
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

interface Row {
  readonly id: number;
  readonly etag: string;
}

const newRows = (count: number, fields: object = {}) =>
  Array.from({ length: count }, (_, n) => ({ ...LUNCH, amount: n, ...fields }));

/** Creates a ledger with `count` transactions, whose ids start at 1. */
async function givenLedger(count = 0) {
  ledgerCount += 1;
  const settings = { ...table, ledgerId: `ledger-${ledgerCount}`, timeZone: 'UTC' };
  /** @param client replaces the client of the table */
  const open = async (client: Client = table.client) =>
    await openInProcess(
      createServiceOn({ ...settings, client, retryPolicy: createSleeplessRetryPolicy() }),
    );
  const api = await open();
  const rows: Row[] =
    count === 0
      ? []
      : (await api.post(BULK_PATH, { transactions: newRows(count) })).body.data.results;
  const verify = async () => {
    const verdict = await createVerification(settings).verify();
    expect(verdict.drifts).toEqual([]);
    return verdict.rows;
  };
  const readRow = async (id: number) => (await api.get(`/transactions/${id}`)).body.data;
  return { api, open, rows, verify, readRow };
}

/** Creates a client that fails every write after the first `writes`. */
function createFailingClient(writes: number): Client {
  let remaining = writes;
  return createFaultyClient(table.client, (_, name) => {
    if (name !== 'TransactWriteCommand') return undefined;
    remaining -= 1;
    return remaining < 0 ? denied : undefined;
  });
}

/** Makes fields that spread rows over months and categories: one database transaction cannot hold all their writes. */
const makeSpreadFields = async (api: Parameters<typeof givenCategory>[0], count: number) => {
  const categories = await Promise.all(Array.from({ length: 12 }, () => givenCategory(api)));
  return Array.from({ length: count }, (_, n) => ({
    transaction_date: `${2000 + n}-0${(n % 9) + 1}-15`,
    category_id: categories[n % 12].id,
  }));
};

describe('POST /transactions/bulk', () => {
  it.each([1, 26, 100])('creates %i transactions across months and categories', async (count) => {
    const { api, verify, readRow } = await givenLedger();
    const fields = await makeSpreadFields(api, count);
    const rows = newRows(count).map((row, n) => ({ ...row, ...fields[n] }));
    const transactions = rows.map((row) => ({ ...row, external_id: randomUUID() }));
    const { status, body } = await api.post(BULK_PATH, { transactions });
    expect([status, body.data.created]).toEqual([207, count]);
    const etag = expect.any(String);
    expect(body.data.results).toEqual(
      transactions.map((_, index) => ({ index, status: 201, id: index + 1, etag })),
    );
    expect(await readRow(count)).toMatchObject(transactions.at(-1) ?? {});
    expect(await verify()).toBe(count);
  });

  it('fills each database transaction up to its 100 writes', async () => {
    const { open, verify } = await givenLedger();
    const writeCounts: number[] = [];
    const client = interpose(table.client, (name, input) => {
      if (name !== 'TransactWriteCommand') return;
      writeCounts.push((input as TransactWriteCommandInput).TransactItems?.length ?? 0);
    });
    const api = await open(client);
    const fields = { category_id: (await givenCategory(api)).id, transaction_date: '2026-03-05' };
    const rows = newRows(100, fields).map((row) => ({ ...row, external_id: randomUUID() }));
    writeCounts.length = 0;
    expect((await api.post(BULK_PATH, { transactions: rows })).body.data.created).toBe(100);
    // The first database transaction creates the sequence of ids, and lists the ledger. Then each row makes two writes, and each
    // database transaction five more for counts.
    expect(writeCounts).toEqual([2, 99, 99, 17]);
    expect(await verify()).toBe(100);
  });

  it('refuses only the invalid transactions, and duplicates within the ledger or the request', async () => {
    const { api, verify } = await givenLedger(1);
    await api.put('/transactions/1', { external_id: 'first' });
    const inactive = await givenCategory(api, { is_active: false });
    const transactions = [
      LUNCH,
      { ...LUNCH, amount: '12' },
      'lunch',
      { ...LUNCH, category_id: UNKNOWN_ID },
      { ...LUNCH, category_id: inactive.id },
      { ...LUNCH, external_id: 'first' },
      { ...LUNCH, external_id: 'second' },
      { ...LUNCH, external_id: 'second' },
    ];
    const { body } = await api.post(BULK_PATH, { transactions });
    expect(body.data).toMatchObject({
      created: 2,
      duplicates: 2,
      failed: 4,
      results: [
        { index: 0, status: 201, id: 2 },
        { index: 1, status: 400, details: { amount: [expect.any(String)] } },
        { index: 2, status: 400, error: 'validation_failed' },
        { index: 3, status: 404, error: 'not_found' },
        { index: 4, status: 400, error: 'validation_failed' },
        { index: 5, status: 409, existing_id: 1 },
        { index: 6, status: 201, id: 3 },
        { index: 7, status: 409, existing_id: 3 },
      ],
    });
    expect(await verify()).toBe(3);
  });

  it('records the idempotency key even if the results are too large to be stored', async () => {
    const { api, verify } = await givenLedger();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (transactions: object[]) =>
      api.request('POST', BULK_PATH, { body: { transactions }, headers });
    const unknown = Array.from({ length: 100 }, (_, n) => [`${n}`.padStart(50, '_'), n]);
    const refused = { ...LUNCH, ...Object.fromEntries(unknown) };
    const large = [LUNCH, ...Array(99).fill(refused)];
    const first = await send(large);
    expect(first.text.length).toBeGreaterThan(400 * 1024);
    expect((await send(large)).text).toBe(first.text);
    expect((await send([LUNCH])).status).toBe(422);
    expect(await verify()).toBe(1);
  });
});

describe('PUT /transactions/bulk', () => {
  it('changes 100 transactions across dates, types and categories, and returns their ETags', async () => {
    const { api, rows, verify, readRow } = await givenLedger(100);
    const fields = await makeSpreadFields(api, 100);
    const changes = fields.map((each) => ({ ...each, type: 'income' }));
    const transactions = rows.map(({ id, etag }, n) => ({ id, if_match: etag, ...changes[n] }));
    const { status, body } = await api.put(BULK_PATH, { transactions });
    expect([status, body.data.updated, body.data.failed]).toEqual([207, 100, 0]);
    expect(body.data.results.map(({ id }: Row) => id)).toEqual(rows.map(({ id }) => id));
    expect(await readRow(100)).toMatchObject({ ...changes[99], amount: 99 });
    const { headers } = await api.get('/transactions/50');
    expect(headers.etag).toBe(body.data.results[49].etag);
    expect(await verify()).toBe(100);
  });

  it('refuses each invalid change separately', async () => {
    const { api, rows, verify, readRow } = await givenLedger(9);
    const inactive = await givenCategory(api, { is_active: false });
    await api.put('/transactions/1', { external_id: 'taken' });
    const etagOfRow9 = rows[8]?.etag;
    const items: [status: number, item: unknown, result?: object][] = [
      [200, { id: 2, notes: 'Note' }],
      [404, { id: UNKNOWN_ID, notes: 'Note' }],
      [400, { id: 3, amount: 'much' }, { details: { amount: [expect.any(String)] } }],
      [404, { id: 5, category_id: UNKNOWN_ID }],
      [400, { id: 6, category_id: inactive.id }],
      [409, { id: 7, external_id: 'taken' }, { existing_id: 1 }],
      [412, { id: 8, notes: 'Note', if_match: etagOfRow9 }],
      [
        400,
        { id: 9, if_match: etagOfRow9?.slice(1) },
        { details: { if_match: [expect.any(String)] } },
      ],
      [400, { notes: 'Note' }, { details: { id: [expect.any(String)] } }],
      [400, 'lunch'],
      [400, { id: '1', notes: 'Note' }],
      [200, { id: 1, notes: null, if_match: '*' }],
    ];
    const { body } = await api.put(BULK_PATH, { transactions: items.map(([, item]) => item) });
    expect(body.data).toMatchObject({
      updated: 2,
      failed: 10,
      results: items.map(([status, , result]) => ({ status, ...result })),
    });
    expect(await readRow(2)).toMatchObject({ notes: 'Note' });
    expect(await readRow(8)).toMatchObject({ notes: null });
    expect(await verify()).toBe(9);
  });

  it('moves an external id between transactions of one request if the changes can be applied in order', async () => {
    const { api, verify, readRow } = await givenLedger(2);
    await api.put('/transactions/1', { external_id: 'bank-1' });
    const transactions = [
      { id: 1, external_id: null },
      { id: 2, external_id: 'bank-1' },
    ];
    expect((await api.put(BULK_PATH, { transactions })).body.data.updated).toBe(2);
    expect(await readRow(2)).toMatchObject({ external_id: 'bank-1' });
    expect(await verify()).toBe(2);
  });
});

describe('POST /transactions/bulk/delete', () => {
  it('removes 100 transactions, and frees their external ids', async () => {
    const { api, rows, verify } = await givenLedger(100);
    await api.put('/transactions/1', { external_id: 'bank-1' });
    const transactions = rows.map(({ id }) => ({ id }));
    const { status, body } = await api.post(BULK_DELETE_PATH, { transactions });
    expect([status, body.data.deleted, body.data.failed]).toEqual([207, 100, 0]);
    expect(body.data.results[99]).toEqual({ index: 99, status: 200, id: 100 });
    const recreated = await api.post('/transactions', { ...LUNCH, external_id: 'bank-1' });
    expect(recreated.status).toBe(201);
    expect(await verify()).toBe(1);
  });

  it('refuses each transaction separately', async () => {
    const { api, rows, verify } = await givenLedger(3);
    await api.put('/transactions/1', { notes: 'Changed' });
    const transactions = [
      { id: 1, if_match: rows[0]?.etag },
      { id: 2, if_match: rows[1]?.etag },
      { id: 3, notes: 'Note' },
      { id: UNKNOWN_ID },
    ];
    const { body } = await api.post(BULK_DELETE_PATH, { transactions });
    expect(body.data).toMatchObject({
      deleted: 1,
      failed: 3,
      results: [{ status: 412 }, { status: 200, id: 2 }, { status: 400 }, { status: 404 }],
    });
    expect(await verify()).toBe(2);
  });

  /** Creates a client that applies the changes of transactions, but loses every response. */
  function createLossyClient(): Client {
    const loseResponse: Fault = (call, { input }) => {
      const { TransactItems = [] } = input as { readonly TransactItems?: readonly object[] };
      // A database transaction with a single write binds the idempotency key; its response is not lost.
      return TransactItems.length > 1 ? TEMPORARY_FAULTS['reset after applying'](call) : call();
    };
    return createFaultyClient(table.client, () => loseResponse);
  }

  it('does not claim that transactions were removed if all responses were lost, unless a key proves it', async () => {
    const { open, rows, verify } = await givenLedger(6);
    const api = await open(createLossyClient());
    const remove = (selected: readonly Row[], headers = {}) => {
      const transactions = selected.map(({ id }) => ({ id }));
      return api.request('POST', BULK_DELETE_PATH, { body: { transactions }, headers });
    };
    expect((await remove(rows.slice(0, 2))).status).toBe(500);
    expect((await remove(rows.slice(2, 3))).body.data).toMatchObject({ deleted: 1 });
    const removedWithKey = await remove(rows.slice(3), { 'idempotency-key': randomUUID() });
    expect(removedWithKey.body.data).toMatchObject({ deleted: 3, failed: 0 });
    expect(await verify()).toBe(0);
  });
});

type Item = Readonly<Record<string, unknown>>;
interface Operation {
  readonly method: string;
  readonly path: string;
  /** Name of the response field that counts the applied items */
  readonly countName: string;
  readonly makeItem: (row: Row) => Item;
}

const OPERATIONS: readonly Operation[] = [
  { method: 'POST', path: BULK_PATH, countName: 'created', makeItem: () => LUNCH },
  {
    method: 'PUT',
    path: BULK_PATH,
    countName: 'updated',
    makeItem: ({ id }) => ({ id, notes: 'Note' }),
  },
  { method: 'POST', path: BULK_DELETE_PATH, countName: 'deleted', makeItem: ({ id }) => ({ id }) },
];

describe.each(OPERATIONS.slice(1))('$method $path', ({ method, path, countName, makeItem }) => {
  it('applies a change even if another request changed the row first, unless it expects the previous version', async () => {
    const { api, open, rows, verify } = await givenLedger(4);
    const isUpdate = countName === 'updated';
    const sendAfterChange = async (id: number, transactions: readonly Item[]) => {
      const client = callOnceBefore(table.client, 'TransactWriteCommand', () =>
        api.put(`/transactions/${id}`, { amount: 77 }),
      );
      return await (await open(client)).request(method, path, { body: { transactions } });
    };
    const items = rows.map((row) => ({ ...makeItem(row), if_match: row.etag }));
    const unconditional = await sendAfterChange(2, rows.slice(0, 2).map(makeItem));
    expect(unconditional.body.data).toMatchObject({ [countName]: 2, failed: 0 });
    const secondRow = (await api.get('/transactions/2')).body.data;
    if (isUpdate) expect(secondRow).toMatchObject({ amount: 77, notes: 'Note' });
    const conditional = await sendAfterChange(4, items.slice(2));
    expect(conditional.body.data.results).toMatchObject([{ status: 200 }, { status: 412 }]);
    const lastRow = (await api.get('/transactions/4')).body.data;
    expect(lastRow).toMatchObject({ amount: 77, notes: null });
    expect(await verify()).toBe(isUpdate ? 4 : 1);
  });

  it('refuses the whole list if it has a transaction twice', async () => {
    const { api, rows } = await givenLedger(1);
    const body = { transactions: [...rows, ...rows].map(makeItem) };
    const { status, body: response } = await api.request(method, path, { body });
    expect([status, Object.keys(response.details ?? {})]).toEqual([400, ['transactions']]);
  });
});

describe.each(OPERATIONS)('$method $path', ({ method, path, countName, makeItem }) => {
  it('refuses anything but a list of 1 to 100 without using up the key', async () => {
    const { api, rows } = await givenLedger(1);
    const headers = { 'idempotency-key': randomUUID() };
    const send = (body: object) => api.request(method, path, { body, headers });
    const items = rows.map(makeItem);
    for (const transactions of [[], 5, Array(101).fill(items[0]), undefined]) {
      expect((await send({ transactions })).status).toBe(400);
    }
    expect((await send({ transactions: items, other: 1 })).status).toBe(400);
    expect((await send({ transactions: items })).body.data[countName]).toBe(1);
  });

  it('is applied once with a key, and a repetition returns the first results', async () => {
    const { api, rows, verify } = await givenLedger(60);
    const headers = { 'idempotency-key': randomUUID() };
    const send = (transactions: readonly object[]) =>
      api.request(method, path, { body: { transactions }, headers });
    const items = [...rows.map(makeItem), { id: UNKNOWN_ID, amount: 'x' }];
    const first = await send(items);
    expect(first.body.data).toMatchObject({ [countName]: 60, failed: 1 });
    const count = await verify();
    if (countName === 'updated') await api.put('/transactions/1', { notes: 'Later' });
    const second = await send(items);
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    if (countName === 'updated') {
      const { data } = (await api.get('/transactions/1')).body;
      expect(data).toMatchObject({ notes: 'Later' });
    }
    expect((await send(items.slice(1))).status).toBe(422);
    expect(await verify()).toBe(count);
  });

  it('continues where it failed when repeated with its key', async () => {
    const { api, open, rows, verify } = await givenLedger(90);
    // The first write only binds the key to the body.
    const failing = await open(createFailingClient(2));
    const headers = { 'idempotency-key': randomUUID() };
    const transactions = rows.map((row) =>
      countName === 'created' ? LUNCH : { ...makeItem(row), if_match: row.etag },
    );
    const request = { body: { transactions }, headers };
    const first = await failing.request(method, path, request);
    const appliedCount = first.body.data[countName];
    expect(appliedCount).toBeGreaterThan(0);
    expect(appliedCount).toBeLessThan(90);
    const second = await api.request(method, path, request);
    expect(second.body.data).toMatchObject({ [countName]: 90, failed: 0 });
    expect(second.body.data.results.slice(0, appliedCount)).toEqual(
      first.body.data.results.slice(0, appliedCount),
    );
    await verify();
  });
});
