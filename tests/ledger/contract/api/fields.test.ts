// Which fields of a record are stored, and which are refused. The test client compares every response with the API
// description, and the parsers' tests cover the values of each field.
import { describe, expect, test } from 'vitest';
import { expectFieldErrors } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import {
  createAndReadCategory,
  createAndReadTransaction,
  givenCategory,
  givenTransaction,
  LUNCH,
  uniqueName,
} from '../../support/api/records.ts';

const api = await openTestApi();

test('a transaction shows the name of its category, or none if it has no category', async () => {
  const { id: category_id, name: category_name } = await givenCategory(api);
  const { id, ...created } = await givenTransaction(api, { category_id });
  const path = `/transactions/${id}`;
  const updated = (await api.put(path, { notes: 'n' })).body.data;
  const stored = (await api.get(path)).body.data;
  const [listed] = (await api.get('/transactions', { category_id })).body.data;
  for (const each of [created, updated, stored, listed]) {
    expect(each).toMatchObject({ category_id, category_name });
  }
  const cleared = (await api.put(path, { category_id: null })).body.data;
  for (const each of [cleared, (await api.get(path)).body.data]) {
    expect(each.category_id).toBeNull();
    expect(each).not.toHaveProperty('category_name');
  }
});

describe('a stored value is returned as sent', () => {
  test.each([
    [{ amount: 999_999_999_999.99, transaction_date: '9999-12-31', type: 'income' }],
    [{ amount: -0.01, transaction_date: '0001-01-01', notes: 'line\nline\u0000' }],
    [{ description: `  <b>"it's"</b>\\`, notes: 'משכורת 給料 cafe\u0301' }],
    [{ description: '🏠'.repeat(1_000), notes: '🏠'.repeat(5_000) }],
    [{ description: '__proto__', notes: '' }],
    [{ category_id: null, notes: null }],
  ])('%.60j', async (fields) =>
    expect(await createAndReadTransaction(api, fields)).toMatchObject(fields),
  );

  test.each([
    [{ description: null, color: null, is_active: true }],
    [{ description: '🏠'.repeat(1_000), color: '#FfF', is_active: false }],
    [{ description: '' }],
  ])('%.60j', async (fields) =>
    expect(await createAndReadCategory(api, fields)).toMatchObject(fields),
  );

  test.each(['NUL\u0000inside', '#hash#', '__proto__', '%25', '🏠'.repeat(200)])(
    'the name %.20j is trimmed and unique',
    async (word) => {
      const name = `${uniqueName('')} ${word}`.trim();
      expect(await createAndReadCategory(api, { name: ` \t${name}\u00a0\n` })).toMatchObject({
        name,
      });
      expect((await api.post('/categories', { name })).status).toBe(409);
    },
  );

  // Raw JSON, because JSON.stringify would write these numbers differently.
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
});

const SERVER_ASSIGNED = {
  id: 424_242,
  created_at: '1999-01-01T00:00:00.000Z',
  updated_at: 5,
  etag: null,
};

const INVALID_TRANSACTION = `{
  "description": " ", "amount": 1e-400, "type": "gift", "category_id": "7", "transaction_date": "2023-02-29",
  "notes": 5, "external_id": "", "__defineGetter__": null, "": 1, "catgeory_id": 7
}`;
const INVALID_CATEGORY =
  '{"name": "", "description": "\\ud800", "color": "red", "is_active": "yes", "pk": {}}';

describe.each([
  {
    path: '/transactions',
    body: () => LUNCH,
    create: () => givenTransaction(api),
    invalidBody: INVALID_TRANSACTION,
    readOnly: { ...SERVER_ASSIGNED, category_name: null },
    unknown: { transaction_count: 1, color: '#fff', is_active: true, transactions: [] },
  },
  {
    path: '/categories',
    body: () => ({ name: uniqueName() }),
    create: () => givenCategory(api),
    invalidBody: INVALID_CATEGORY,
    readOnly: { ...SERVER_ASSIGNED, transaction_count: 'many' },
    unknown: { category_name: 'Food', import_id: 'x', external_id: 'x', amount: 1, if_match: '*' },
  },
])('$path', ({ path, body, create, invalidBody, readOnly, unknown }) => {
  test('an error names every invalid field, and nothing is changed', async () => {
    const names = Object.keys(JSON.parse(invalidBody));
    expectFieldErrors(await api.request('POST', path, { rawBody: invalidBody }), names);
    const { id } = await create();
    const before = (await api.get(`${path}/${id}`)).text;
    expectFieldErrors(await api.request('PUT', `${path}/${id}`, { rawBody: invalidBody }), names);
    expect((await api.get(`${path}/${id}`)).text).toBe(before);
  });

  test('read-only fields are accepted and ignored', async () => {
    const created = await api.post(path, { ...body(), ...readOnly });
    expect(created.status).toBe(201);
    const { id } = created.body.data;
    expect(id).not.toBe(readOnly.id);
    const before = (await api.get(`${path}/${id}`)).body.data;
    expect(before.created_at).not.toBe(readOnly.created_at);
    // A client can send back a record that it has read, read-only fields included.
    for (const fields of [readOnly, before]) {
      const { status } = await api.put(`${path}/${id}`, fields);
      const after = (await api.get(`${path}/${id}`)).body.data;
      expect([status, after]).toEqual([
        200,
        { ...before, updated_at: after.updated_at, etag: after.etag },
      ]);
    }
  });

  test('fields of other resources are unknown fields', async () => {
    expectFieldErrors(await api.post(path, { ...body(), ...unknown }), Object.keys(unknown));
    const { id } = await create();
    expectFieldErrors(await api.put(`${path}/${id}`, unknown), Object.keys(unknown));
  });
});

test.each([
  ['POST', '/transactions/bulk'],
  ['PUT', '/transactions/bulk'],
  ['POST', '/transactions/bulk/delete'],
])('%s %s accepts no field except its transactions', async (method, path) => {
  const unknown = { id: 1, category_name: 'Food', created_at: 0, import_id: 'x', etag: '"t1.1.0"' };
  const body = { transactions: [{ ...LUNCH, id: 1 }], ...unknown };
  expectFieldErrors(await api.request(method, path, { body }), Object.keys(unknown));
});

describe('a category_name', () => {
  const ADVICE =
    'Send the id of the category to assign it: category_name is read-only. GET /categories has the ids.';
  const refusal = { error: 'validation_failed', details: { category_id: [ADVICE] } };

  test('is refused on create without a category_id, with advice on how to assign a category', async () => {
    const { name: category_name } = await givenCategory(api);
    const transaction = { ...LUNCH, category_name };
    const { status, body } = await api.post('/transactions', transaction);
    expect([status, body]).toEqual([400, expect.objectContaining(refusal)]);
    const bulk = await api.post('/transactions/bulk', { transactions: [transaction, LUNCH] });
    expect(bulk.body.data.results).toEqual([
      expect.objectContaining({ status: 400, ...refusal }),
      expect.objectContaining({ status: 201 }),
    ]);
    expectFieldErrors(await api.post('/transactions', { ...transaction, amount: 'x' }), [
      'amount',
      'category_id',
    ]);
  });

  test('is refused on update if it names another category, and nothing is changed', async () => {
    const { id: category_id, name } = await givenCategory(api);
    for (const fields of [{}, { category_id }]) {
      const { id } = await givenTransaction(api, fields);
      const before = (await api.get(`/transactions/${id}`)).text;
      for (const category_name of [`${name}s`, '', 5, ...(fields.category_id ? [] : [name])]) {
        const changes = { category_name, notes: 'Other' };
        const { status, body } = await api.put(`/transactions/${id}`, changes);
        expect([status, body]).toEqual([400, expect.objectContaining(refusal)]);
        const transactions = [{ id, ...changes }];
        const bulk = await api.put('/transactions/bulk', { transactions });
        expect(bulk.body.data.results).toEqual([
          expect.objectContaining({ status: 400, ...refusal }),
        ]);
        expect((await api.get(`/transactions/${id}`)).text).toBe(before);
      }
    }
  });

  test('is ignored if it names the current category, or if a category_id is sent too', async () => {
    const { id: category_id, name: category_name } = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id });
    for (const changes of [
      { category_name, notes: 'a' },
      { category_name: null, notes: 'no name' },
      { category_name: 'Stale', category_id, notes: 'b' },
      { category_name: 'Stale', category_id: null, notes: 'c' },
    ]) {
      const { status, body } = await api.put(`/transactions/${id}`, changes);
      expect([status, body.data.notes]).toEqual([200, changes.notes]);
      const transactions = [{ id, ...changes }];
      const bulk = await api.put('/transactions/bulk', { transactions });
      expect(bulk.body.data.updated).toBe(1);
      if (changes.category_id === null) expect(body.data).not.toHaveProperty('category_name');
      await api.put(`/transactions/${id}`, { category_id });
    }
  });
});
