// Service document, "Resources and their fields", and its rulings: what is shown, what is kept, what is refused. Which values
// each field takes is tested on the parsers.
import { describe, expect, test } from 'vitest';
import { expectFaults, expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  keptCategory,
  keptTransaction,
  LUNCH,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

const api = await openApi();

const TIMES = ['created_at', 'updated_at'];
const CATEGORY = ['color', 'description', 'id', 'is_active', 'name', ...TIMES].toSorted();
const COUNTED = [...CATEGORY, 'transaction_count'].toSorted();
const UNCATEGORISED = [
  ...['amount', 'category_id', 'description', 'id', 'notes', 'transaction_date', 'type', ...TIMES],
].toSorted();
const TRANSACTION = [...UNCATEGORISED, 'category_name'].toSorted();

const fieldsOf = (record: WireRecord) => Object.keys(record).toSorted();

describe('the fields of every response', () => {
  test('a category has transaction_count on a single read, and not on create or update', async () => {
    const created = await givenCategory(api);
    const path = `/categories/${created.id}`;
    const updated = (await api.put(path, { color: '#123' })).body.data;
    expect([created, updated].map(fieldsOf)).toEqual([CATEGORY, CATEGORY]);
    expect(fieldsOf((await api.get(path)).body.data)).toEqual(COUNTED);
  });

  test.each([
    [false, CATEGORY],
    [true, COUNTED],
  ])('categories listed with include_counts %s', async (include_counts, fields) => {
    await givenCategory(api);
    const { data } = (await api.get('/categories', { include_counts })).body;
    for (const { etag: _, ...each } of data) expect(fieldsOf(each)).toEqual(fields);
  });

  test('a transaction without a category has every field but category_name', async () => {
    const transaction_date = '1877-03-04';
    const created = await givenTransaction(api, { transaction_date });
    const path = `/transactions/${created.id}`;
    const updated = (await api.put(path, { amount: 3 })).body.data;
    const day = { start_date: transaction_date, end_date: transaction_date };
    const { etag: _, ...listed } = (await api.get('/transactions', day)).body.data[0];
    const shown = [created, updated, (await api.get(path)).body.data, listed];
    for (const each of shown) expect(fieldsOf(each)).toEqual(UNCATEGORISED);
  });

  test('a transaction with a category has its name', async () => {
    const { id: category_id, name: category_name } = await givenCategory(api);
    const created = await givenTransaction(api, { category_id });
    const path = `/transactions/${created.id}`;
    const updated = (await api.put(path, { notes: 'n' })).body.data;
    const read = await api.get(path);
    const { etag, ...listed } = (await api.get('/transactions', { category_id })).body.data[0];
    expect(etag).toBe(read.headers.etag);
    for (const each of [created, updated, read.body.data, listed]) {
      expect(fieldsOf(each)).toEqual(TRANSACTION);
      expect(each).toMatchObject({ category_id, category_name });
    }
  });
});

describe.each([
  ['/transactions', () => givenTransaction(api), { notes: 'n' }],
  ['/categories', () => givenCategory(api), { color: null }],
])('%s: what the service assigns', (path, given, change) => {
  test('ids are integers that grow', async () => {
    const [first, second] = [await given(), await given()];
    expect(Number.isInteger(first.id)).toBe(true);
    expect(second.id).toBeGreaterThan(first.id);
  });

  test('every write moves updated_at, and leaves created_at alone', async () => {
    const before = await given();
    expect(before.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(before.updated_at).toBe(before.created_at);
    const once = (await api.put(`${path}/${before.id}`, change)).body.data;
    const twice = (await api.put(`${path}/${before.id}`, change)).body.data;
    expect([once.created_at, twice.created_at]).toEqual([before.created_at, before.created_at]);
    const times = [before, once, twice].map(({ updated_at }) => Date.parse(updated_at));
    expect(new Set(times).size).toBe(3);
    expect(times.toSorted((one, other) => one - other)).toEqual(times);
  });
});

describe('what is kept comes back as sent', () => {
  test.each([
    [{ amount: 999_999_999_999.99, transaction_date: '9999-12-31', type: 'income' }],
    [{ amount: -0.01, transaction_date: '0001-01-01', notes: 'line\nline' }],
    [{ description: '  Lunch  ', notes: 'a\u0000b' }],
    [{ description: `<b>"it's"</b>\\`, notes: 'משכורת 給料 зарплата' }],
    [{ description: '👩‍👩‍👧‍👦', notes: 'cafe\u0301' }],
    [{ description: '🏠'.repeat(1_000), notes: '🏠'.repeat(5_000) }],
    [{ description: '__proto__', notes: '' }],
    [{ category_id: null, notes: null }],
  ])('%.60j', async (sent) => expect(await keptTransaction(api, sent)).toMatchObject(sent));

  test.each([
    [{ description: null, color: null, is_active: true }],
    [{ description: '🏠'.repeat(1_000), color: '#FfF', is_active: false }],
    [{ description: '' }],
  ])('%.60j', async (sent) => expect(await keptCategory(api, sent)).toMatchObject(sent));

  test.each(['NUL\u0000inside', '#hash#', '__proto__', '%25', '🏠'.repeat(200)])(
    '%.20j is a name like any other, trimmed and unique',
    async (word) => {
      const name = `${uniqueName('')} ${word}`.trim();
      expect(await keptCategory(api, { name: ` \t${name}\u00a0\n` })).toMatchObject({ name });
      expect((await api.post('/categories', { name })).status).toBe(409);
    },
  );

  // As a client writes them: what JSON.stringify would make of them is not at issue.
  test.each([
    ['1.100', 1.1],
    ['5e-1', 0.5],
    ['1E11', 1e11],
    ['123456789012.34', 123_456_789_012.34],
    ['-0', 0],
  ])('the amount %s', async (literal, amount) => {
    const rawBody = `{"description":"Lunch","type":"expense","amount":${literal}}`;
    const { status, body } = await api.request('POST', '/transactions', { rawBody });
    expect([status, body.data?.amount]).toEqual([201, amount]);
    expect((await api.get(`/transactions/${body.data.id}`)).body.data.amount).toBe(amount);
  });

  test('the current day is the default of a create, and an update leaves the date alone', async () => {
    const today = () => new Date().toISOString().slice(0, 10);
    const before = today();
    const { id, transaction_date } = await givenTransaction(api);
    expect([before, today()]).toContain(transaction_date);
    const { body } = await api.put(`/transactions/${id}`, { amount: 1 });
    expect(body.data.transaction_date).toBe(transaction_date);
  });
});

const READ_ONLY = {
  id: 424_242,
  created_at: '1999-01-01T00:00:00.000Z',
  updated_at: 5,
  category_name: null,
  transaction_count: 'many',
};

const BAD_TRANSACTION = `{
  "description": " ", "amount": 1e-400, "type": "gift", "category_id": "7", "transaction_date": "2023-02-29",
  "notes": 5, "external_id": "", "__defineGetter__": null, "": 1, "catgeory_id": 7
}`;
const BAD_CATEGORY =
  '{"name": "", "description": "\\ud800", "color": "red", "is_active": "yes", "pk": {}}';

describe.each([
  ['/transactions', LUNCH, () => givenTransaction(api), BAD_TRANSACTION],
  ['/categories', undefined, () => givenCategory(api), BAD_CATEGORY],
])('%s', (path, body, given, bad) => {
  test('every bad field is named at once, and nothing is changed', async () => {
    const names = Object.keys(JSON.parse(bad));
    expectFaults(await api.request('POST', path, { rawBody: bad }), names);
    const { id } = await given();
    const before = (await api.get(`${path}/${id}`)).text;
    expectFaults(await api.request('PUT', `${path}/${id}`, { rawBody: bad }), names);
    expect((await api.get(`${path}/${id}`)).text).toBe(before);
  });

  test('read-only fields are accepted and ignored', async () => {
    const sent = body ?? { name: uniqueName() };
    const created = await api.post(path, { ...sent, ...READ_ONLY });
    expect(created.status).toBe(201);
    const { id } = created.body.data;
    expect(id).not.toBe(READ_ONLY.id);
    const before = (await api.get(`${path}/${id}`)).body.data;
    expect(before.created_at).not.toBe(READ_ONLY.created_at);
    // A client can send back what it read.
    for (const back of [READ_ONLY, before]) {
      const { status } = await api.put(`${path}/${id}`, back);
      const after = (await api.get(`${path}/${id}`)).body.data;
      expect([status, after]).toEqual([200, { ...before, updated_at: after.updated_at }]);
    }
  });

  test.each([
    ['__proto__', '{"__proto__":{"name":"x"}}'],
    ['constructor', '{"notes":{"constructor":{"prototype":{"polluted":1}}},"amount":"x"}'],
  ])('a body with %s is refused', async (key, rawBody) => {
    const message = `The request body must not have the key "${key}"`;
    expectRefusal(await api.request('POST', path, { rawBody }), message);
    const { id } = await given();
    expectRefusal(await api.request('PUT', `${path}/${id}`, { rawBody }), message);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
