// PUT /transactions/bulk and POST /transactions/bulk/delete: one result for each transaction, each under the rules of one.
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createVerification } from '../../lib/ledger/verification.ts';
import type { Api } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, LUNCH, UNKNOWN_ID } from '../support/api/records.ts';
import { interpose, onceBefore } from '../support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../support/sleepless-retry-policy.ts';
import type { Client } from '../support/store-faults.ts';
import { createTestTable } from '../support/test-table.ts';

const PATH = '/transactions/bulk';
const DELETE = '/transactions/bulk/delete';

const table = await createTestTable();
let ledgers = 0;

// A 500 has its log line, which is not for the test's own output.
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

interface Row {
  readonly id: number;
  readonly etag: string;
}

/** A ledger with as many transactions, with ids from 1. */
async function givenRows(count: number, fields: object = {}) {
  ledgers += 1;
  const settings = { ...table, ledgerId: `ledger-${ledgers}`, timeZone: 'UTC' };
  const api = await openInProcess(createServiceOn(settings));
  const transactions = Array.from({ length: count }, (_, n) => ({
    ...LUNCH,
    amount: n,
    ...fields,
  }));
  const { body } = await api.post(PATH, { transactions });
  const rows: Row[] = body.data.results;
  const verify = async () => {
    const verdict = await createVerification(settings).verify();
    expect(verdict.drifts).toEqual([]);
    return verdict.rows;
  };
  const read = async (id: number) => (await api.get(`/transactions/${id}`)).body.data;
  return { api, settings, rows, verify, read };
}

const ids = (rows: readonly Row[]) => rows.map(({ id }) => ({ id }));

describe('PUT /transactions/bulk', () => {
  it('changes 100 transactions, and answers with their ETags', async () => {
    const { api, rows, verify, read } = await givenRows(100);
    const { id: category_id } = await givenCategory(api);
    const transactions = rows.map(({ id, etag: if_match }) => ({ id, if_match, category_id }));
    const { status, body } = await api.put(PATH, { transactions });
    expect([status, body.data.updated, body.data.failed]).toEqual([207, 100, 0]);
    expect(body.data.results.map(({ id }: Row) => id)).toEqual(rows.map(({ id }) => id));
    expect(await read(100)).toMatchObject({ category_id, amount: 99 });
    const { headers } = await api.get('/transactions/50');
    expect(headers.etag).toBe(body.data.results[49].etag);
    expect((await api.get(`/categories/${category_id}`)).body.data.transaction_count).toBe(100);
    expect(await verify()).toBe(100);
  });

  it('spreads over dates, types and categories, which are more items than one transaction may write', async () => {
    const { api, rows, verify, read } = await givenRows(60);
    const categories = await Promise.all(Array.from({ length: 12 }, () => givenCategory(api)));
    const transactions = rows.map(({ id }, n) => ({
      id,
      transaction_date: `${2000 + n}-0${(n % 9) + 1}-15`,
      type: n % 2 === 0 ? 'income' : 'expense',
      category_id: categories[n % 12].id,
    }));
    expect((await api.put(PATH, { transactions })).body.data.updated).toBe(60);
    expect(await read(60)).toMatchObject(transactions[59] ?? {});
    expect(await verify()).toBe(60);
  });

  it('refuses each invalid change by itself', async () => {
    const { api, rows, verify, read } = await givenRows(9);
    const old = await givenCategory(api, { is_active: false });
    await api.put('/transactions/1', { external_id: 'taken' });
    const transactions = [
      { id: 2, notes: 'Note' },
      { id: UNKNOWN_ID, notes: 'Note' },
      { id: 3, amount: 'much' },
      { id: 4, catgeory_id: 1 },
      { id: 5, category_id: UNKNOWN_ID },
      { id: 6, category_id: old.id },
      { id: 7, external_id: 'taken' },
      { id: 8, notes: 'Note', if_match: rows[8]?.etag },
      { id: 9, notes: 'Note', if_match: rows[8]?.etag.slice(1) },
      { notes: 'Note' },
      'lunch',
      { id: '1', notes: 'Note' },
      { id: 1, notes: null, if_match: '*' },
    ];
    const { body } = await api.put(PATH, { transactions });
    const results: { status: number; details?: object; existing_id?: number }[] = body.data.results;
    expect(results.map(({ status }) => status)).toEqual([
      ...[200, 404, 400, 400, 404, 400, 409, 412, 400, 400, 400, 400, 200],
    ]);
    expect(body.data).toMatchObject({ updated: 2, failed: 11 });
    expect(results[6]).toMatchObject({ existing_id: 1 });
    expect([results[2], results[8], results[9]]).toMatchObject([
      { details: { amount: [expect.any(String)] } },
      { details: { if_match: [expect.stringContaining('is not an ETag')] } },
      { details: { id: [expect.any(String)] } },
    ]);
    expect(await read(2)).toMatchObject({ notes: 'Note' });
    expect(await read(8)).toMatchObject({ notes: null });
    expect(await verify()).toBe(9);
  });

  it('exchanges external ids within one request where each change can follow the other', async () => {
    const { api, verify, read } = await givenRows(2);
    await api.put('/transactions/1', { external_id: 'bank-1' });
    const transactions = [
      { id: 1, external_id: null },
      { id: 2, external_id: 'bank-1' },
    ];
    expect((await api.put(PATH, { transactions })).body.data.updated).toBe(2);
    expect(await read(2)).toMatchObject({ external_id: 'bank-1' });
    expect(await verify()).toBe(2);
  });

  it('loses no update of another request meanwhile, and is refused where it expects the version before', async () => {
    const { api, settings, rows, verify, read } = await givenRows(3);
    const client = onceBefore(table.client, 'TransactWriteCommand', () =>
      api.put('/transactions/2', { amount: 77 }),
    );
    const outrun = await openInProcess(createServiceOn({ ...settings, client }));
    const transactions = rows.map(({ id }) => ({ id, notes: 'Note' }));
    expect((await outrun.put(PATH, { transactions })).body.data.updated).toBe(3);
    expect(await read(2)).toMatchObject({ amount: 77, notes: 'Note' });

    const again = onceBefore(table.client, 'TransactWriteCommand', () =>
      api.put('/transactions/2', { amount: 78 }),
    );
    const expecting = await openInProcess(createServiceOn({ ...settings, client: again }));
    const { etag: if_match } = (await api.get('/transactions/2')).headers;
    const changes = [
      { id: 1, notes: null },
      { id: 2, notes: null, if_match },
    ];
    const { body } = await expecting.put(PATH, { transactions: changes });
    expect(body.data).toMatchObject({ updated: 1, results: [{ status: 200 }, { status: 412 }] });
    expect(await read(2)).toMatchObject({ amount: 78, notes: 'Note' });
    expect(await verify()).toBe(3);
  });
});

describe('POST /transactions/bulk/delete', () => {
  it('removes 100 transactions', async () => {
    const { api, rows, verify } = await givenRows(100, { transaction_date: '2026-03-05' });
    const { status, body } = await api.post(DELETE, { transactions: ids(rows) });
    expect([status, body.data.deleted, body.data.failed]).toEqual([207, 100, 0]);
    expect(body.data.results[99]).toEqual({ index: 99, status: 200, id: 100 });
    expect((await api.get('/transactions')).body.pagination?.total).toBe(0);
    expect(await verify()).toBe(0);
  });

  it('refuses each by itself', async () => {
    const { api, rows, verify } = await givenRows(3, { external_id: null });
    await api.put('/transactions/1', { notes: 'Changed' });
    const transactions = [
      { id: 1, if_match: rows[0]?.etag },
      { id: 2, if_match: rows[1]?.etag },
      { id: 3, notes: 'Note' },
      { id: UNKNOWN_ID },
    ];
    const { body } = await api.post(DELETE, { transactions });
    expect(body.data).toMatchObject({
      ...{ deleted: 1, failed: 3 },
      results: [{ status: 412 }, { status: 200, id: 2 }, { status: 400 }, { status: 404 }],
    });
    expect(await verify()).toBe(2);
  });

  it('removes what another request changed meanwhile, but not where it expects the version before', async () => {
    const { api, settings, rows, verify } = await givenRows(4);
    const outrun = async (id: number) => {
      const client = onceBefore(table.client, 'TransactWriteCommand', () =>
        api.put(`/transactions/${id}`, { notes: 'Changed' }),
      );
      return await openInProcess(createServiceOn({ ...settings, client }));
    };
    const [first, second, third, fourth] = rows;
    const free = await (await outrun(2)).post(DELETE, {
      transactions: [{ id: first?.id }, { id: second?.id }],
    });
    expect(free.body.data).toMatchObject({ deleted: 2, failed: 0 });
    const expecting = await (await outrun(4)).post(DELETE, {
      transactions: [{ id: third?.id }, { id: fourth?.id, if_match: fourth?.etag }],
    });
    expect(expecting.body.data.results).toMatchObject([{ status: 200 }, { status: 412 }]);
    expect(await verify()).toBe(1);
  });

  it('frees external ids', async () => {
    const { api, verify } = await givenRows(1, { external_id: 'bank-1' });
    await api.post(DELETE, { transactions: [{ id: 1 }] });
    expect((await api.post('/transactions', { ...LUNCH, external_id: 'bank-1' })).status).toBe(201);
    expect(await verify()).toBe(1);
  });
});

const REQUESTS: [
  string,
  (api: Api, body: unknown, headers?: Record<string, string>) => ReturnType<Api['get']>,
  object,
  string,
][] = [
  [
    'PUT',
    (api, body, headers = {}) => api.request('PUT', PATH, { body, headers }),
    { notes: 'Note' },
    'updated',
  ],
  [
    'delete',
    (api, body, headers = {}) => api.request('POST', DELETE, { body, headers }),
    {},
    'deleted',
  ],
];

/** Applies the changes of transactions, and loses every response to that. */
function losingResponses(): Client {
  const { client } = table;
  async function send(command: Parameters<Client['send']>[0]) {
    const response = await client.send(command);
    const { TransactItems = [] } = command.input as { readonly TransactItems?: readonly object[] };
    // A key is bound by one write.
    if (TransactItems.length > 1) throw Object.assign(new Error('Lost'), { code: 'ECONNRESET' });
    return response;
  }
  return { send: send as Client['send'] };
}

it('does not claim that transactions were removed when all responses were lost, but where a key tells', async () => {
  const { settings, rows, verify } = await givenRows(6);
  const lossy = {
    ...settings,
    client: losingResponses(),
    retryPolicy: createSleeplessRetryPolicy(),
  };
  const api = await openInProcess(createServiceOn(lossy));
  const remove = (some: readonly Row[], headers = {}) =>
    api.request('POST', DELETE, { body: { transactions: ids(some) }, headers });
  expect((await remove(rows.slice(0, 2))).status).toBe(500);
  expect((await remove(rows.slice(2, 3))).body.data).toMatchObject({ deleted: 1 });
  const keyed = await remove(rows.slice(3), { 'idempotency-key': randomUUID() });
  expect(keyed.body.data).toMatchObject({ deleted: 3, failed: 0 });
  expect(await verify()).toBe(0);
});

describe.each(REQUESTS)('%s', (_, send, change, done) => {
  const changesOf = (rows: readonly Row[]) => rows.map(({ id }) => ({ id, ...change }));

  it('refuses a list that names a transaction twice, and what is no list, as a whole', async () => {
    const { api, rows, verify } = await givenRows(1);
    const [one] = changesOf(rows);
    const twice = await send(api, { transactions: [one, one] });
    expect([twice.status, Object.keys(twice.body.details ?? {})]).toEqual([400, ['transactions']]);
    for (const transactions of [[], 5, Array(101).fill(one), undefined]) {
      expect((await send(api, { transactions })).status).toBe(400);
    }
    expect((await send(api, { transactions: [one] })).body.data[done]).toBe(1);
    await verify();
  });

  it('with a key is applied once, and repeated with its first results', async () => {
    const { api, rows, verify, read } = await givenRows(60);
    const headers = { 'idempotency-key': randomUUID() };
    const body = { transactions: [...changesOf(rows), { id: UNKNOWN_ID, ...change }] };
    const first = await send(api, body, headers);
    expect(first.body.data).toMatchObject({ [done]: 60, failed: 1 });
    if (done === 'updated') await api.put('/transactions/1', { notes: 'Later' });
    const second = await send(api, body, headers);
    expect([second.text, second.headers['idempotent-replayed']]).toEqual([first.text, 'true']);
    if (done === 'updated') expect(await read(1)).toMatchObject({ notes: 'Later' });
    expect((await send(api, { transactions: [{ id: 2, ...change }] }, headers)).status).toBe(422);
    await verify();
  });

  it('with a key goes on where it broke off, whatever has changed since', async () => {
    const { api, settings, rows, verify, read } = await givenRows(90);
    // The first write binds the key.
    let left = 2;
    const client = interpose(table.client, (name) => {
      if (name !== 'TransactWriteCommand') return;
      left -= 1;
      if (left < 0) throw Object.assign(new Error('Refused'), { name: 'AccessDeniedException' });
    });
    const broken = await openInProcess(createServiceOn({ ...settings, client }));
    const headers = { 'idempotency-key': randomUUID() };
    const transactions = changesOf(rows).map((row, n) => ({ ...row, if_match: rows[n]?.etag }));
    const first = await send(broken, { transactions }, headers);
    const stored = first.body.data[done];
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(90);
    if (done === 'updated') await api.put('/transactions/1', { notes: 'Later' });
    const second = await send(api, { transactions }, headers);
    expect(second.body.data).toMatchObject({ [done]: 90, failed: 0 });
    expect(second.body.data.results.slice(0, stored)).toEqual(
      first.body.data.results.slice(0, stored),
    );
    if (done === 'updated') expect(await read(1)).toMatchObject({ notes: 'Later' });
    await verify();
  });

  it('is a 500 where no write was applied', async () => {
    const { settings, rows, verify } = await givenRows(2);
    const client = interpose(table.client, (name) => {
      if (name === 'TransactWriteCommand') throw Object.assign(new Error(), { name: 'Refused' });
    });
    const broken = await openInProcess(createServiceOn({ ...settings, client }));
    const reply = await send(broken, { transactions: changesOf(rows) });
    const message = `Failed to ${done.slice(0, -1)} transactions`;
    expect([reply.status, reply.body.message]).toEqual([500, message]);
    expect(await verify()).toBe(2);
  });
});
