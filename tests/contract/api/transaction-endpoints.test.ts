// Service document, "Endpoints: Transactions": create, read, update, delete.
import { describe, expect, test } from 'vitest';
import { expectNotFound } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  goneTransactionId,
  LUNCH,
  UNKNOWN_ID,
} from '../../support/api/records.ts';

const api = await openApi();

describe('Transactions: success responses', () => {
  test('POST: 201 with success, data and message', async () => {
    const { status, body } = await api.post('/transactions', LUNCH);
    expect(status).toBe(201);
    expect(body).toEqual({ success: true, data: expect.objectContaining(LUNCH), message: MESSAGE });
  });

  test('GET: 200 with success and data, and no message', async () => {
    const created = await givenTransaction(api);
    const { status, body } = await api.get(`/transactions/${created.id}`);
    expect([status, body]).toEqual([200, { success: true, data: created }]);
  });

  test('PUT: 200 with success, data and message', async () => {
    const { id, updated_at: _, ...rest } = await givenTransaction(api);
    const { status, body } = await api.put(`/transactions/${id}`, { amount: 7 });
    expect(status).toBe(200);
    const data = expect.objectContaining({ ...rest, id, amount: 7 });
    expect(body).toEqual({ success: true, data, message: MESSAGE });
  });

  test('DELETE: 200 with success and message, and no data', async () => {
    const { id } = await givenTransaction(api);
    const { status, body } = await api.delete(`/transactions/${id}`);
    expect([status, body]).toEqual([200, { success: true, message: MESSAGE }]);
  });
});

const MESSAGE = expect.stringMatching(/^Transaction (created|updated|deleted) successfully$/);

describe('Rule 5: on update, the lookup is done before the body is read', () => {
  test.each([
    ['none', undefined],
    ['empty', ''],
    ['malformed', '{"amount":'],
    ['not acceptable', '{"amount":"x"}'],
    ['good', '{"amount":1}'],
  ])('an unknown id is 404, whatever the body: %s', async (_, rawBody) => {
    const request = rawBody === undefined ? {} : { rawBody };
    expectNotFound(
      await api.request('PUT', `/transactions/${UNKNOWN_ID}`, request),
      `Transaction with id ${UNKNOWN_ID} not found`,
    );
  });
});

describe('Rule 6: on update, only the fields sent are changed', () => {
  const CHANGES = [
    { description: 'Dinner' },
    { amount: -3.5 },
    { type: 'income' },
    { transaction_date: '1999-12-31' },
    { notes: 'with Ann' },
    { category_id: null },
  ];

  test.each(CHANGES)('%j', async (change) => {
    const { id: category_id, name } = await givenCategory(api);
    const before = await givenTransaction(api, { category_id, notes: 'alone' });
    const { body } = await api.put(`/transactions/${before.id}`, change);
    const { updated_at: _, ...expected } = { ...before, ...change };
    if (expected.category_id === null) delete expected.category_name;
    else expect(expected.category_name).toBe(name);
    const { updated_at: __, ...data } = body.data;
    expect(data).toEqual(expected);
    expect((await api.get(`/transactions/${before.id}`)).body.data).toEqual(body.data);
  });

  test('all fields are optional: one that only repeats what is there changes nothing else', async () => {
    const before = await givenTransaction(api);
    const { status, body } = await api.put(`/transactions/${before.id}`, before);
    const { updated_at: _, ...rest } = before;
    expect([status, body.data]).toEqual([200, expect.objectContaining(rest)]);
  });
});

describe('Rule 7: transaction delete is a hard delete', () => {
  test('the record is gone for reads, updates, deletes and lists', async () => {
    const { id: category_id } = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id });
    await api.delete(`/transactions/${id}`);
    const path = `/transactions/${id}`;
    const gone = `Transaction with id ${id} not found`;
    expectNotFound(await api.get(path), gone);
    expectNotFound(await api.put(path, { amount: 1 }), gone);
    expectNotFound(await api.delete(path), gone);
    const { body } = await api.get('/transactions', { category_id });
    expect([body.data, body.pagination?.total]).toEqual([[], 0]);
    expect((await api.get(`/categories/${category_id}`)).body.data.transaction_count).toBe(0);
  });

  test('its id is not given again', async () => {
    const gone = await goneTransactionId(api);
    expect((await givenTransaction(api)).id).toBeGreaterThan(gone);
  });
});
