// Transactions: the rules that property/invariants.test.ts does not cover. That test tries every change of every field, and
// every filter, order and page.
import { expect, test } from 'vitest';
import {
  expectFieldErrors,
  expectNotFound,
  expectRefusal,
} from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, UNKNOWN_ID } from '../../support/api/records.ts';

const api = await openTestApi();

test.each([UNKNOWN_ID, 0, -1, -0, Number.MAX_SAFE_INTEGER, 1e21, -1e300])(
  'a missing category gives 404: %d',
  async (category_id) => {
    const message = `Category with id ${category_id} not found`;
    expectNotFound(await api.post('/transactions', { ...LUNCH, category_id }), message);
    const { id } = await givenTransaction(api);
    expectNotFound(await api.put(`/transactions/${id}`, { category_id }), message);
  },
);

test('an inactive category gives 400, even if the transaction already has it', async () => {
  const { id: category_id } = await givenCategory(api);
  const { id } = await givenTransaction(api, { category_id });
  await api.put(`/categories/${category_id}`, { is_active: false });
  const message = 'Cannot assign transaction to inactive category';
  expectRefusal(await api.post('/transactions', { ...LUNCH, category_id }), message);
  expectRefusal(await api.put(`/transactions/${id}`, { category_id }), message);
});

test('the schema is checked before the category', async () => {
  const body = { ...LUNCH, amount: 'x', category_id: UNKNOWN_ID };
  expectFieldErrors(await api.post('/transactions', body), ['amount']);
  const { id } = await givenTransaction(api);
  expectFieldErrors(await api.put(`/transactions/${id}`, body), ['amount']);
});

test('a deleted transaction is a 404 for reads, updates and deletes, and its id is not reused', async () => {
  const { id } = await givenTransaction(api);
  const path = `/transactions/${id}`;
  expect((await api.delete(path)).status).toBe(200);
  const notFound = `Transaction with id ${id} not found`;
  expectNotFound(await api.get(path), notFound);
  expectNotFound(await api.put(path, { amount: 1 }), notFound);
  expectNotFound(await api.delete(path), notFound);
  expect((await givenTransaction(api)).id).toBeGreaterThan(id);
});

test('a transaction in a list equals the one that is read, including its ETag', async () => {
  const { id: category_id } = await givenCategory(api);
  const { id } = await givenTransaction(api, { category_id });
  const { body } = await api.get('/transactions', { category_id });
  const single = await api.get(`/transactions/${id}`);
  expect(body.data).toEqual([{ ...single.body.data, etag: single.headers.etag }]);
});

test('without parameters a list is page 1 with 20 rows, and counts all transactions', async () => {
  const before = (await api.get('/transactions')).body.pagination;
  expect(before).toMatchObject({ page: 1, per_page: 20, has_prev: false });
  await givenTransaction(api);
  const after = (await api.get('/transactions')).body.pagination;
  expect(after?.total).toBe(Number(before?.total) + 1);
});

test('a page past the end is empty, even for an unknown category or for dates that end before they start', async () => {
  const { id: category_id } = await givenCategory(api);
  await givenTransaction(api, { category_id });
  for (const [query, total, pages] of [
    [{ category_id }, 1, 1],
    [{ category_id: 0 }, 0, 0],
    [{ start_date: '2027-01-01', end_date: '2026-12-31' }, 0, 0],
  ] as const) {
    const { body } = await api.get('/transactions', { ...query, page: 9, per_page: 7 });
    const neighbours = { has_next: false, has_prev: true, next_cursor: null };
    const pagination = { page: 9, per_page: 7, total, pages, ...neighbours };
    expect(body).toEqual({ success: true, data: [], pagination });
  }
});
