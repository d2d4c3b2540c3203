// GET /transactions/search, as a client uses it.
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_SEARCHED_ROWS } from '../../../lib/ledger/domain/search.ts';
import { createKeys, toYearKey } from '../../../lib/ledger/store/keys.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectFilterErrors } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction } from '../support/api/records.ts';

const table = await createTestTable();
const open = (ledgerId: string) => openInProcess(createServiceOn({ ...table, ledgerId }));

type Query = Record<string, string | number>;

let api: Api;
const ids: Record<string, number> = {};
let food = 0;
let pay = 0;

beforeAll(async () => {
  api = await open('small');
  food = (await givenCategory(api)).id;
  pay = (await givenCategory(api)).id;
  for (const [name, fields] of Object.entries({
    market: { description: 'Farmers’ market, vegetables', amount: 12.5, category_id: food },
    cafe: { description: 'CAFÉ Zürich', amount: 4.2, notes: 'with Zoë', category_id: food },
    salary: { description: 'Salary', amount: 2_500, type: 'income', category_id: pay },
    refund: { description: 'Refund of vegetables', amount: -12.5, notes: 'market' },
    lodz: { description: 'Łódź, Straße', amount: 80, transaction_date: '2019-07-01' },
    odos: { description: 'ΟΔΟΣ', amount: 80, transaction_date: '2019-07-02' },
    first: { description: 'Opening', amount: 0, transaction_date: '0001-01-01' },
    last: { description: 'Closing', amount: 999_999_999_999.99, transaction_date: '9999-12-31' },
  })) {
    const row = { type: 'expense', transaction_date: '2026-03-05', ...fields };
    ids[name] = (await givenTransaction(api, row)).id;
  }
});

async function search(query: Query) {
  const { status, body, text } = await api.get('/transactions/search', query);
  expect(status, text).toBe(200);
  const names = body.data.map(({ id }: { id: number }) =>
    Object.keys(ids).find((name) => ids[name] === id),
  );
  return { names, ...body };
}

describe('a search finds', () => {
  it.each<[Query, string[]]>([
    [{ q: 'market' }, ['refund', 'market']],
    [{ q: 'vegetables farmers' }, ['market']],
    [{ q: "farmers' market" }, ['market']],
    [{ q: 'market  VEGETABLES' }, ['refund', 'market']],
    [{ q: 'cafe zurich zoe' }, ['cafe']],
    [{ q: 'CAFE\u0301' }, ['cafe']],
    [{ q: 'lodz' }, ['lodz']],
    [{ q: 'STRASSE' }, ['lodz']],
    [{ q: 'οδοσ' }, ['odos']],
    [{ q: 'zoë salary' }, []],
    [{ q: '.*' }, []],
    [{ q: '\u00b4' }, []],
    [{ q: 'cafe \u0301' }, ['cafe']],
    [{ min_amount: 80, max_amount: '80.00' }, ['odos', 'lodz']],
    [{ max_amount: '-0.01' }, ['refund']],
    [{ min_amount: '999999999999.99' }, ['last']],
    [{ min_amount: '9.9999999999999E11' }, ['last']],
    [{ min_amount: 1, max_amount: 0 }, []],
    [{ q: 'a', type: 'income' }, ['salary']],
    [{ max_amount: 5, start_date: '2026-03-05', end_date: '2026-03-05' }, ['refund', 'cafe']],
    [{ q: 'e', start_date: '2026-03-06', end_date: '2026-03-05' }, []],
    [{ q: 'opening', end_date: '0001-01-01' }, ['first']],
  ])('the expected rows for %j', async (query, expected) => {
    expect((await search(query)).names).toEqual(expected);
  });

  it('each transaction of several categories once', async () => {
    const searchCategories = (...categories: (number | string)[]) =>
      search({ category_id: categories.join(',') });
    expect((await searchCategories(food, pay, food)).names).toEqual(['salary', 'cafe', 'market']);
    expect((await searchCategories('none', pay)).names).toEqual([
      ...['last', 'refund', 'salary', 'odos', 'lodz', 'first'],
    ]);
    expect((await searchCategories(food)).names).toEqual(['cafe', 'market']);
    expect((await searchCategories(999)).names).toEqual([]);
  });
});

it('a search adds up all rows that it finds, and shows one page', async () => {
  const { names, pagination, summary, data } = await search({ q: 'market', per_page: 1, page: 2 });
  expect(names).toEqual(['market']);
  expect(pagination).toMatchObject({ page: 2, total: 2, pages: 2, has_next: false });
  expect(summary).toEqual({ income: 0, expense: 0, net: 0, count: 2 });
  expect(data[0]).toEqual((await api.get('/transactions', { category_id: food })).body.data[1]);
  expect((await search({ q: 's', min_amount: 10 })).summary).toEqual({
    income: 2_500,
    expense: 1_000_000_000_092.49,
    net: 2_500 - 1_000_000_000_092.49,
    count: 4,
  });
  expect((await search({ q: 'nothing' })).summary).toMatchObject({ net: 0, count: 0 });
});

it.each([
  ['amount', ['refund', 'cafe', 'market', 'odos', 'lodz', 'salary']],
  ['-amount', ['salary', 'odos', 'lodz', 'market', 'cafe', 'refund']],
  ['date', ['lodz', 'odos', 'market', 'cafe', 'salary', 'refund']],
  ['-date', ['refund', 'salary', 'cafe', 'market', 'odos', 'lodz']],
])('a search with sort=%s has that order', async (sort, expected) => {
  const dates = { start_date: '2019-01-01', end_date: '2026-12-31' };
  expect((await search({ max_amount: 9_999, sort, ...dates })).names).toEqual(expected);
});

it.each<[Query | string, string[]]>([
  [{}, ['q']],
  [{ start_date: '2026-03-01' }, ['q']],
  [{ q: '' }, ['q']],
  [{ q: 'x'.repeat(101) }, ['q']],
  [{ min_amount: '1.005' }, ['min_amount']],
  [{ min_amount: '0x10', max_amount: '' }, ['min_amount', 'max_amount']],
  [{ max_amount: '1000000000000' }, ['max_amount']],
  [{ category_id: '1,' }, ['category_id']],
  [{ category_id: Array.from({ length: 101 }, (_, n) => n).join() }, ['category_id']],
  [{ q: 'x', sort: 'name', per_page: 101 }, ['sort', 'per_page']],
  [{ q: 'x', external_id: 'y' }, ['external_id']],
  ['category_id=1&category_id=2', ['category_id']],
])('a search refuses %j', async (query, names) => {
  expectFilterErrors(await api.get('/transactions/search', query), names);
});

it('a search over the row limit is refused, with errors for start_date and end_date', async () => {
  const crowded = await open('crowded');
  await givenTransaction(crowded, { transaction_date: '2025-07-01' });
  await givenTransaction(crowded, { transaction_date: '2026-07-01' });
  const yearKey = { pk: createKeys('crowded').days(), sk: toYearKey('2026') };
  const setCount = (rows: number) =>
    table.client.send(
      new UpdateCommand({
        TableName: table.tableName,
        Key: yearKey,
        UpdateExpression: 'SET e7 = :rows',
        ExpressionAttributeValues: { ':rows': rows },
      }),
    );
  const find = (query: Query) => crowded.get('/transactions/search', { min_amount: 0, ...query });

  await setCount(MAX_SEARCHED_ROWS);
  const refused = await find({});
  expectFilterErrors(refused, ['start_date', 'end_date']);
  expect(refused.body.details?.start_date).toEqual([
    expect.stringContaining(String(MAX_SEARCHED_ROWS + 1)),
  ]);
  expect((await find({ end_date: '2026-06-30' })).body.pagination).toMatchObject({ total: 1 });
  await setCount(MAX_SEARCHED_ROWS - 1);
  expect((await find({})).body.pagination).toMatchObject({ total: 2 });
});
