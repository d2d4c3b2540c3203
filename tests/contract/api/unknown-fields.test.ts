// Rulings: read-only fields are accepted and ignored; any other unknown field is an error that names it.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults, expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, uniqueName } from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

const READ_ONLY = {
  id: 424_242,
  created_at: '1999-01-01T00:00:00.000Z',
  updated_at: 5,
  category_name: null,
  transaction_count: 'many',
};

describe('Read-only fields are accepted and ignored', () => {
  test('on creating a transaction', async () => {
    const created = await givenTransaction(api, READ_ONLY);
    expect(created.id).not.toBe(READ_ONLY.id);
    expect(created.created_at).not.toBe(READ_ONLY.created_at);
    expect(created).not.toHaveProperty('transaction_count');
    expect(created).not.toHaveProperty('category_name');
  });

  test('on creating a category', async () => {
    const { id } = await givenCategory(api, READ_ONLY);
    expect(id).not.toBe(READ_ONLY.id);
    const { transaction_count, created_at } = (await api.get(`/categories/${id}`)).body.data;
    expect(transaction_count).toBe(0);
    expect(created_at).not.toBe(READ_ONLY.created_at);
  });

  test('on update: a client can send back what it read', async () => {
    const category = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id: category.id });
    for (const path of [`/transactions/${id}`, `/categories/${category.id}`]) {
      const before = (await api.get(path)).body.data;
      expect((await api.put(path, before)).status).toBe(200);
      const after = (await api.get(path)).body.data;
      expect(after).toEqual({ ...before, updated_at: after.updated_at });
    }
  });

  test('on update, nothing else: the record stays as it is', async () => {
    const before = await givenTransaction(api);
    const { status, body } = await api.put(`/transactions/${before.id}`, READ_ONLY);
    expect([status, body.data]).toEqual([200, { ...before, updated_at: body.data.updated_at }]);
  });
});

const UNKNOWN = [
  'catgeory_id',
  'Amount',
  'date',
  'is_activ',
  'version',
  'pk',
  '',
  ' ',
  'a.b',
  '0',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '__defineGetter__',
];

const values = ['1', 'null', '"x"', '{}', '{"polluted":true}'];

describe.each(UNKNOWN)('Unknown field %j', (field) => {
  const name = JSON.stringify(field);

  test('is named on create and update of a transaction', async () => {
    const { id } = await givenTransaction(api);
    const create = `{"description":"x","amount":1,"type":"income",${name}:1}`;
    expectFaults(await api.request('POST', '/transactions', { rawBody: create }), [field]);
    const update = { rawBody: `{${name}:1}` };
    expectFaults(await api.request('PUT', `/transactions/${id}`, update), [field]);
  });

  test('is named on create and update of a category', async () => {
    const { id } = await givenCategory(api);
    const create = `{"name":"${uniqueName()}",${name}:1}`;
    expectFaults(await api.request('POST', '/categories', { rawBody: create }), [field]);
    const update = { rawBody: `{${name}:1}` };
    expectFaults(await api.request('PUT', `/categories/${id}`, update), [field]);
  });

  test.each(values)('is named whatever its value, beside every other fault: %s', async (value) => {
    const rawBody = `{${name}:${value},"amount":"x","other":1}`;
    expectFaults(await api.request('POST', '/transactions', { rawBody }), [
      ...[field, 'other', 'amount', 'description', 'type'],
    ]);
  });
});

describe('Nothing is polluted: the body is refused', () => {
  test.each([
    ['__proto__', `{"__proto__":${JSON.stringify(LUNCH)}}`],
    ['__proto__', '{"notes":{"__proto__":{"polluted":1}},"amount":"x"}'],
    ['constructor', '{"notes":{"constructor":{"prototype":{"polluted":1}}},"amount":"x"}'],
  ])('%s in %s', async (key, rawBody) => {
    const { id } = await givenTransaction(api);
    const message = `The request body must not have the key "${key}"`;
    expectRefusal(await api.request('POST', '/transactions', { rawBody }), message);
    expectRefusal(await api.request('PUT', `/transactions/${id}`, { rawBody }), message);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
