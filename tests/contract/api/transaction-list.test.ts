// Service document, "Transactions: GET /": the response, its defaults and its end. Filters, order and pages are those of a model:
// property/invariants.test.ts.
import { expect, test } from 'vitest';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../../support/api/records.ts';

const api = await openApi();

test('a listed transaction is the one that is read, with its ETag', async () => {
  const { id: category_id } = await givenCategory(api);
  const { id } = await givenTransaction(api, { category_id });
  const { body } = await api.get('/transactions', { category_id });
  const read = await api.get(`/transactions/${id}`);
  expect(body.data).toEqual([{ ...read.body.data, etag: read.headers.etag }]);
});

test('without parameters: page 1, 20 a page, everything counted', async () => {
  const before = (await api.get('/transactions')).body.pagination;
  expect(before).toMatchObject({ page: 1, per_page: 20, has_prev: false });
  await givenTransaction(api);
  const after = (await api.get('/transactions')).body.pagination;
  expect(after?.total).toBe(Number(before?.total) + 1);
});

test('Rule 3: a page past the end is empty, also of a category that is not there or dates that end before they start', async () => {
  const { id: category_id } = await givenCategory(api);
  await givenTransaction(api, { category_id });
  for (const [query, total, pages] of [
    [{ category_id }, 1, 1],
    [{ category_id: 0 }, 0, 0],
    [{ start_date: '2027-01-01', end_date: '2026-12-31' }, 0, 0],
  ] as const) {
    const { body } = await api.get('/transactions', { ...query, page: 9, per_page: 7 });
    const pagination = { page: 9, per_page: 7, total, pages, has_next: false, has_prev: true };
    expect(body).toEqual({ success: true, data: [], pagination });
  }
});
