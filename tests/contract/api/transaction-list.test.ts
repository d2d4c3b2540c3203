// Service document, "Transactions: GET /": filters, order, pages.
import { beforeAll, describe, expect, test } from 'vitest';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../../support/api/records.ts';

const api = await openApi();

/** Every list here is confined to one category: the service may hold other records. */
let category_id: number;
let ids: number[];

const ROWS = [
  ['2024-01-31', 'income'],
  ['2024-02-01', 'expense'],
  ['2024-02-29', 'expense'],
  ['2024-02-29', 'income'],
  ['2024-02-29', 'expense'],
  ['2024-03-01', 'income'],
  ['2023-12-31', 'expense'],
] as const;

/** Positions in ROWS in the order of the list: newest day first, on one day the last created first. */
const NEWEST_FIRST = [5, 4, 3, 2, 1, 0, 6];

beforeAll(async () => {
  category_id = (await givenCategory(api)).id;
  ids = [];
  for (const [transaction_date, type] of ROWS) {
    ids.push((await givenTransaction(api, { transaction_date, type, category_id })).id);
  }
});

async function list(query: Record<string, string | number> = {}) {
  const { status, body } = await api.get('/transactions', { category_id, ...query });
  expect(status).toBe(200);
  const listed = body.data.map(({ id }: { id: number }) => ids.indexOf(id));
  return { listed, pagination: body.pagination, body };
}

describe('Transaction list: the response', () => {
  test('200 with success, data and pagination, and nothing else', async () => {
    const { body } = await list();
    expect(Object.keys(body).toSorted()).toEqual(['data', 'pagination', 'success']);
    expect(body.success).toBe(true);
  });

  test('a listed transaction is the one that is read, with its ETag', async () => {
    const { body } = await list();
    for (const item of body.data) {
      const { body: read, headers } = await api.get(`/transactions/${item.id}`);
      expect({ ...read.data, etag: headers.etag }).toEqual(item);
    }
  });

  test('without parameters: page 1, 20 a page, everything counted', async () => {
    const before = (await api.get('/transactions')).body.pagination;
    expect(before).toMatchObject({ page: 1, per_page: 20, has_prev: false });
    await givenTransaction(api);
    const after = (await api.get('/transactions')).body.pagination;
    expect(after?.total).toBe(Number(before?.total) + 1);
  });
});

describe('Rule 2: transaction_date descending, then created_at descending, then id', () => {
  test('the whole list', async () => {
    expect((await list()).listed).toEqual(NEWEST_FIRST);
  });

  test('an update of the date moves a row, one of anything else does not', async () => {
    const path = `/transactions/${ids[2]}`;
    await api.put(path, { amount: 77, notes: 'moved?' });
    expect((await list()).listed).toEqual(NEWEST_FIRST);
    await api.put(path, { transaction_date: '2025-01-01' });
    expect((await list()).listed).toEqual([2, 5, 4, 3, 1, 0, 6]);
    await api.put(path, { transaction_date: '2024-02-29' });
    expect((await list()).listed).toEqual(NEWEST_FIRST);
  });
});

describe('Transaction list: filters', () => {
  test.each([
    ['type', { type: 'income' }, [5, 3, 0]],
    ['the other type', { type: 'expense' }, [4, 2, 1, 6]],
    ['on or after start_date', { start_date: '2024-02-29' }, [5, 4, 3, 2]],
    ['on or before end_date', { end_date: '2024-02-01' }, [1, 0, 6]],
    ['both ends included', { start_date: '2024-01-31', end_date: '2024-02-01' }, [1, 0]],
    ['a part of two months', { start_date: '2024-02-02', end_date: '2024-03-30' }, [5, 4, 3, 2]],
    ['type and dates', { type: 'expense', start_date: '2024-02-01' }, [4, 2, 1]],
    ['all of time', { start_date: '0001-01-01', end_date: '9999-12-31' }, NEWEST_FIRST],
    ['start_date after end_date: empty', { start_date: '2024-03-01', end_date: '2024-01-01' }, []],
    ['start_date the day after end_date', { start_date: '2024-03-01', end_date: '2024-02-29' }, []],
  ])('%s', async (_, query, expected) => {
    const { listed, pagination } = await list(query);
    expect([listed, pagination?.total]).toEqual([expected, expected.length]);
  });

  test('category_id=none: what has no category, also after it has lost or got one', async () => {
    const query = { category_id: 'none', start_date: '1901-02-03', end_date: '1901-02-04' };
    const uncategorised = async (more: object = {}) => {
      const { status, body } = await api.get('/transactions', { ...query, ...more });
      expect(status).toBe(200);
      expect(body.pagination?.total).toBe(body.data.length);
      return body.data.map(({ id }: { id: number }) => id);
    };
    const transaction_date = '1901-02-03';
    const income = await givenTransaction(api, { transaction_date, type: 'income' });
    const expense = await givenTransaction(api, { transaction_date, type: 'expense' });
    const other = await givenTransaction(api, { transaction_date, category_id });
    expect(await uncategorised()).toEqual([expense.id, income.id]);
    expect(await uncategorised({ type: 'income' })).toEqual([income.id]);
    await api.put(`/transactions/${other.id}`, { category_id: null });
    await api.put(`/transactions/${expense.id}`, { category_id });
    expect(await uncategorised()).toEqual([other.id, income.id]);
    for (const { id } of [income, expense, other]) await api.delete(`/transactions/${id}`);
    expect(await uncategorised()).toEqual([]);
  });

  test('a category that nothing is in, or that is not there, has an empty list', async () => {
    const { id: empty } = await givenCategory(api);
    for (const category of [empty, 999_999_999, 0]) {
      const { body } = await api.get('/transactions', { category_id: category });
      expect(body).toEqual({ success: true, data: [], pagination: NOTHING });
    }
  });

  const NOTHING = {
    page: 1,
    per_page: 20,
    total: 0,
    pages: 0,
    has_next: false,
    has_prev: false,
  };
});

describe('Transaction list: pagination', () => {
  test.each([
    [1, 3, [5, 4, 3], { pages: 3, has_next: true, has_prev: false }],
    [2, 3, [2, 1, 0], { pages: 3, has_next: true, has_prev: true }],
    [3, 3, [6], { pages: 3, has_next: false, has_prev: true }],
    [1, 100, NEWEST_FIRST, { pages: 1, has_next: false, has_prev: false }],
  ])('page %i of %i a page', async (page, per_page, expected, fields) => {
    const { listed, pagination } = await list({ page, per_page });
    expect(listed).toEqual(expected);
    expect(pagination).toEqual({ page, per_page, total: ROWS.length, ...fields });
  });

  test.each([2, 8, 999_999_999])(
    'Rule 3: page %i past the end is empty, not an error',
    async (page) => {
      const { listed, pagination } = await list({ page, per_page: 7 });
      expect(listed).toEqual([]);
      expect(pagination).toEqual({
        ...{ page, per_page: 7, total: ROWS.length, pages: 1 },
        ...{ has_next: false, has_prev: true },
      });
    },
  );

  test('a page past the end of nothing: no pages, but one before it', async () => {
    const { pagination } = await list({ page: 3, start_date: '2030-01-01' });
    expect(pagination).toEqual({
      ...{ page: 3, per_page: 20, total: 0, pages: 0 },
      ...{ has_next: false, has_prev: true },
    });
  });
});
