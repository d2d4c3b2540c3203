// Service document, "Transactions: Rule 1" and the rulings on list parameters.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFilterFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';

const api = await openApi();
afterAll(() => api.close());

const NOT_DIGITS = [
  '',
  ' ',
  'abc',
  '-1',
  '+1',
  '1.0',
  '1e1',
  '0x1',
  ' 1',
  '1 ',
  '１',
  '1,2',
  'null',
];
const NOT_DATES = ['', '2023-02-29', '0000-01-01', '2024-1-1', '2024-01-01T00:00', 'today', '0'];

const REFUSED: Record<string, string[]> = {
  page: [...NOT_DIGITS, '0', '00', '9'.repeat(30)],
  per_page: [...NOT_DIGITS, '0', '101', '1000', '9'.repeat(30)],
  category_id: NOT_DIGITS,
  type: ['', 'Income', 'INCOME', 'transfer', ' income', 'income,expense', 'null'],
  start_date: NOT_DATES,
  end_date: NOT_DATES,
};

describe.each(Object.entries(REFUSED))('Rule 1: %s is validated', (name, values) => {
  test.each(values)('%j gives 400 "Filter validation failed" with details', async (value) => {
    expectFilterFaults(await api.get('/transactions', { [name]: value }), [name]);
  });

  test('a name without a value is an empty value', async () => {
    expectFilterFaults(await api.get('/transactions', name), [name]);
  });
});

describe('Rule 1: parameters are validated as a set', () => {
  test('every bad one is named at once', async () => {
    const query = { ...{ page: 0, per_page: 101, category_id: 'x', type: 'x' }, ...NO_DATES };
    expectFilterFaults(await api.get('/transactions', query), Object.keys(query));
  });

  const NO_DATES = { start_date: 'x', end_date: 'y' };

  test('a good one does not save a bad one', async () => {
    expectFilterFaults(await api.get('/transactions', { page: 1, type: 'x' }), ['type']);
  });
});

describe('Rulings: a repeated parameter is an error', () => {
  test.each([
    'page=1&page=1',
    'per_page=5&per_page=6',
    'category_id=1&category_id=2',
    'type=income&type=income',
    'start_date=2024-01-01&start_date=2024-01-01',
    'end_date=2024-01-01&end_date=2024-01-02',
    'external_id=a&external_id=b',
    'q=a&start_date=2024-01-01&end_date=2024-01-02&q=b',
  ])('%s', async (query) => {
    expectFilterFaults(await api.get('/transactions', query), [query.split('=')[0] ?? '']);
  });

  test.each([
    ['/transactions/export', 'q=a&q=b'],
    ['/summary', 'group_by=type&group_by=month'],
    ['/health', 'deep&deep'],
  ])('%s?%s', async (path, query) => {
    expectFilterFaults(await api.get(path, query), [/^\w+/.exec(query)?.[0] ?? '']);
  });
});

describe('Rulings: what is accepted', () => {
  test.each([
    ['per_page=1', { page: 1, per_page: 1 }],
    ['per_page=100', { page: 1, per_page: 100 }],
    ['page=1', { page: 1, per_page: 20 }],
    ['page=007&per_page=020', { page: 7, per_page: 20 }],
    ['page=9007199254740991', { page: Number.MAX_SAFE_INTEGER, per_page: 20 }],
    [`category_id=${'9'.repeat(30)}`, { page: 1, total: 0 }],
    [`category_id=${'9'.repeat(400)}`, { page: 1, total: 0 }],
    ['category_id=0', { page: 1, total: 0 }],
    ['category_id=0&type=income', { page: 1, total: 0 }],
    ['%70age=2', { page: 2 }],
  ])('%s', async (query, pagination) => {
    const { status, body } = await api.get('/transactions', query);
    expect([status, body.pagination]).toEqual([200, expect.objectContaining(pagination)]);
  });

  test.each([
    ['sort=amount', ['sort']],
    ['Page=0&page=0', ['Page', 'page']],
    ['limit=', ['limit']],
    ['foo=1&foo=2', ['foo']],
    ['constructor=1&toString=2', ['constructor', 'toString']],
    ['per_page[]=7', ['per_page[]']],
    ['id=1', ['id']],
  ])('an unknown parameter is an error that names it: %s', async (query, names) => {
    expectFilterFaults(await api.get('/transactions', query), names);
  });

  test('an empty query is none', async () => {
    expect((await api.get('/transactions', '&&')).status).toBe(200);
  });
});
