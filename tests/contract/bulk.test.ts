// POST /transactions/bulk: one result for each transaction, and nothing created twice.
import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createVerification } from '../../lib/ledger/verification.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, LUNCH, UNKNOWN_ID } from '../support/api/records.ts';
import { interpose } from '../support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../support/sleepless-retry-policy.ts';
import { createTestTable } from '../support/test-table.ts';

// A 500 has its log line, which is not for the test's own output.
afterEach(() => void vi.restoreAllMocks());

const table = await createTestTable();
let ledgers = 0;

async function newLedger() {
  ledgers += 1;
  const settings = { ...table, ledgerId: `ledger-${ledgers}`, timeZone: 'UTC' };
  const api = await openInProcess(createServiceOn(settings));
  const verify = async () => {
    const { rows, drifts } = await createVerification(settings).verify();
    expect(drifts).toEqual([]);
    return rows;
  };
  return { api, settings, verify };
}

function rows(count: number, fields: object = {}) {
  return Array.from({ length: count }, (_, n) => ({ ...LUNCH, amount: n, ...fields }));
}

const withIds = (count: number) =>
  rows(count).map((row) => ({ ...row, external_id: randomUUID() }));

describe('POST /transactions/bulk', () => {
  it.each([1, 26, 100])('creates %i transactions', async (count) => {
    const { api, verify } = await newLedger();
    const category = await givenCategory(api);
    const transactions = withIds(count).map((row) => ({ ...row, category_id: category.id }));
    const { status, body } = await api.post('/transactions/bulk', { transactions });
    expect([status, body.data.created]).toEqual([207, count]);
    expect(body.data.results).toEqual(
      transactions.map((_, index) => ({
        index,
        status: 201,
        id: index + 1,
        etag: expect.any(String),
      })),
    );
    expect((await api.get(`/transactions/${count}`)).body.data).toMatchObject(
      transactions.at(-1) ?? {},
    );
    expect(await verify()).toBe(count);
  });

  it('spreads over months and categories, which are more items than one transaction may write', async () => {
    const { api, verify } = await newLedger();
    const categories = await Promise.all(Array.from({ length: 12 }, () => givenCategory(api)));
    const transactions = rows(100).map((row, n) => ({
      ...row,
      transaction_date: `${2000 + n}-0${(n % 9) + 1}-15`,
      category_id: categories[n % 12].id,
    }));
    const { body } = await api.post('/transactions/bulk', { transactions });
    expect(body.data.created).toBe(100);
    expect(await verify()).toBe(100);
  });

  it('refuses each invalid transaction by itself', async () => {
    const { api, verify } = await newLedger();
    const old = await givenCategory(api, { is_active: false });
    const transactions = [
      LUNCH,
      { ...LUNCH, amount: '12' },
      'lunch',
      { ...LUNCH, category_id: UNKNOWN_ID },
      { ...LUNCH, category_id: old.id },
      { ...LUNCH, catgeory_id: 1 },
      LUNCH,
    ];
    const { body } = await api.post('/transactions/bulk', { transactions });
    expect(body.data).toMatchObject({
      ...{ created: 2, duplicates: 0, failed: 5 },
      results: [
        { index: 0, status: 201, id: 1 },
        {
          index: 1,
          status: 400,
          error: 'validation_failed',
          details: { amount: [expect.any(String)] },
        },
        { index: 2, status: 400, error: 'validation_failed' },
        { index: 3, status: 404, error: 'not_found' },
        { index: 4, status: 400, error: 'validation_failed' },
        { index: 5, status: 400, details: { catgeory_id: [expect.any(String)] } },
        { index: 6, status: 201, id: 2 },
      ],
    });
    expect(await verify()).toBe(2);
  });

  it('finds duplicates in the ledger and within the request', async () => {
    const { api, verify } = await newLedger();
    const [first, second] = withIds(2);
    await api.post('/transactions', first);
    const { body } = await api.post('/transactions/bulk', {
      transactions: [second, LUNCH, second, first, LUNCH],
    });
    const [id] = body.data.results.map((result: { id: number }) => result.id);
    expect(body.data).toMatchObject({ created: 3, duplicates: 2, failed: 0 });
    expect(body.data.results[2]).toMatchObject({ status: 409, existing_id: id });
    expect(body.data.results[3]).toMatchObject({ status: 409, existing_id: 1 });
    expect(await verify()).toBe(4);
  });

  it.each([
    {},
    { transactions: [] },
    { transactions: 5 },
    { transactions: rows(101) },
    { transactions: [LUNCH], other: 1 },
  ])('refuses the request %#', async (sent) => {
    const { api } = await newLedger();
    expect((await api.post('/transactions/bulk', sent)).status).toBe(400);
  });
});

describe('with an Idempotency-Key', () => {
  it('a repetition has the first results, and another body is refused', async () => {
    const { api, verify } = await newLedger();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (transactions: object[]) =>
      api.request('POST', '/transactions/bulk', { body: { transactions }, headers });
    const body = [...rows(30), { ...LUNCH, amount: 'x' }];
    const first = await send(body);
    const second = await send(body);
    expect(second.text).toBe(first.text);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect((await send(rows(1))).status).toBe(422);
    expect(await verify()).toBe(30);
  });

  it('concurrent repetitions create each transaction once', async () => {
    const { api, verify } = await newLedger();
    const headers = { 'idempotency-key': randomUUID() };
    const body = { transactions: [...rows(10), ...withIds(3)] };
    const replies = await Promise.all(
      Array.from({ length: 3 }, () => api.request('POST', '/transactions/bulk', { body, headers })),
    );
    for (const { status } of replies) expect(status).toBe(207);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(await verify()).toBe(13);
  });

  /** An API whose writes are refused after a number of them. */
  async function breakingOff(settings: object, writes: number) {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    let left = writes;
    const client = interpose(table.client, (name) => {
      if (name !== 'TransactWriteCommand') return;
      left -= 1;
      if (left < 0) throw Object.assign(new Error('Refused'), { name: 'AccessDeniedException' });
    });
    return await openInProcess(createServiceOn({ ...table, ...settings, client }));
  }

  // The first write binds the key to the body.
  it.each([2, 3])('one that broke off after %i writes goes on where it was', async (writes) => {
    const { api, settings, verify } = await newLedger();
    const broken = await breakingOff(settings, writes);
    const headers = { 'idempotency-key': randomUUID() };
    const body = { transactions: [...rows(60), ...withIds(20)] };
    const first = await broken.request('POST', '/transactions/bulk', { body, headers });
    const stored = first.body.data.created;
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(80);
    const second = await api.request('POST', '/transactions/bulk', { body, headers });
    expect(second.body.data).toMatchObject({ created: 80, duplicates: 0, failed: 0 });
    expect(second.body.data.results.slice(0, stored)).toEqual(
      first.body.data.results.slice(0, stored),
    );
    expect(await verify()).toBe(80);
  });

  it('one that broke off answers with what it stored, although that would be refused now', async () => {
    const { api, settings, verify } = await newLedger();
    const { id: category_id } = await givenCategory(api);
    const broken = await breakingOff(settings, 2);
    const headers = { 'idempotency-key': randomUUID() };
    const body = { transactions: rows(90, { category_id }) };
    const first = await broken.request('POST', '/transactions/bulk', { body, headers });
    const stored = first.body.data.created;
    await api.put(`/categories/${category_id}`, { is_active: false });
    const expected = { created: stored, duplicates: 0, failed: 90 - stored };
    for (const isReplay of [false, true]) {
      const again = await api.request('POST', '/transactions/bulk', { body, headers });
      expect(again.headers['idempotent-replayed']).toBe(isReplay ? 'true' : undefined);
      expect(again.body.data).toMatchObject(expected);
      expect(again.body.data.results.slice(0, stored)).toEqual(
        first.body.data.results.slice(0, stored),
      );
    }
    expect(await verify()).toBe(stored);
  });

  it('a body whose results are too large to be remembered has its key all the same', async () => {
    const { api, verify } = await newLedger();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (transactions: object[]) =>
      api.request('POST', '/transactions/bulk', { body: { transactions }, headers });
    const unknown = Array.from({ length: 100 }, (_, n) => [`${n}`.padStart(50, '_'), n]);
    const refused = { ...LUNCH, ...Object.fromEntries(unknown) };
    const large = [...rows(1), ...Array(99).fill(refused)];
    const first = await send(large);
    expect(first.text.length).toBeGreaterThan(400 * 1024);
    expect((await send(large)).text).toBe(first.text);
    expect((await send(rows(1))).status).toBe(422);
    expect(await verify()).toBe(1);
  });

  it('a request that is no list is refused without taking the key', async () => {
    const { api } = await newLedger();
    const headers = { 'idempotency-key': randomUUID() };
    const send = (transactions: unknown) =>
      api.request('POST', '/transactions/bulk', { body: { transactions }, headers });
    expect((await send(5)).status).toBe(400);
    expect((await send(rows(1))).status).toBe(207);
  });
});

it('a request of which every write failed is the 500 of its cause', async () => {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { settings, verify } = await newLedger();
  const client = interpose(table.client, (name) => {
    if (name !== 'TransactWriteCommand') return;
    throw Object.assign(new Error('Busy'), { name: 'ThrottlingException' });
  });
  const retryPolicy = createSleeplessRetryPolicy();
  const busy = await openInProcess(createServiceOn({ ...settings, client, retryPolicy }));
  const transactions = [...rows(3), { ...LUNCH, amount: 'x' }];
  const reply = await busy.post('/transactions/bulk', { transactions });
  const message = 'Failed to create transactions';
  const body = { success: false, error: 'internal_server_error', message };
  expect([reply.status, reply.body]).toEqual([500, body]);
  expect(reply.headers['retry-after']).toBe('1');
  expect(await verify()).toBe(0);
});
