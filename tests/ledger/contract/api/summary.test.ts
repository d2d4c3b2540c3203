// GET /summary by day, and of several categories.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFilterErrors } from '../../support/api/expect-response.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, uniqueName } from '../../support/api/records.ts';

const api = await openTestApi();
let food: number;
let rent: number;
let pay: number;

beforeAll(async () => {
  const createCategory = async (word: string) =>
    (await givenCategory(api, { name: uniqueName(word) })).id;
  [food, rent, pay] = [
    await createCategory('A'),
    await createCategory('B'),
    await createCategory('C'),
  ];
  for (const [transaction_date, category_id, amount, type] of [
    ['2024-01-31', food, 1, 'expense'],
    ['2024-02-28', food, 2, 'expense'],
    ['2024-02-28', food, 0.5, 'expense'],
    ['2024-02-28', rent, 800, 'expense'],
    ['2024-03-01', pay, 2_500, 'income'],
    ['2025-01-30', pay, 3_000, 'income'],
    ['2025-01-31', pay, 9_000, 'income'],
  ] as const) {
    await givenTransaction(api, { transaction_date, category_id, amount, type });
  }
});

async function readSummary(query: Record<string, string | number>, path = '/summary') {
  const { status, body } = await api.get(path, query);
  expect(status).toBe(200);
  return body.data;
}

const ZERO_TOTALS = { income: 0, expense: 0, net: 0, count: 0 };
const LEAP_DAYS = { start_date: '2024-02-28', end_date: '2024-03-01' };

describe('a summary by day', () => {
  it('shows each day from the first to the last with transactions', async () => {
    const filter = { category_id: `${food},${pay}`, ...LEAP_DAYS };
    const { groups, ...totals } = await readSummary({ group_by: 'day', ...filter });
    expect(totals).toEqual({ income: 2_500, expense: 2.5, net: 2_497.5, count: 3 });
    const day = (key: string) => ({ key, period: key, ...ZERO_TOTALS });
    expect(groups).toEqual([
      { ...day('2024-02-28'), expense: 2.5, net: -2.5, count: 2 },
      day('2024-02-29'),
      { ...day('2024-03-01'), income: 2_500, net: 2_500, count: 1 },
    ]);
  });

  it('excludes days outside its dates, and other types', async () => {
    const { groups, count } = await readSummary({
      ...{ group_by: 'day', type: 'expense', category_id: food },
      ...{ start_date: '2024-01-01', end_date: '2024-02-27' },
    });
    expect([groups, count]).toEqual([[expect.objectContaining({ key: '2024-01-31' })], 1]);
  });

  it('lists the days once for all groups', async () => {
    const filter = { category_id: `${food},${rent},${pay}`, ...LEAP_DAYS };
    const query = { group_by: 'category,day', ...filter };
    const series = await readSummary(query, '/summary/series');
    expect(series).toMatchObject({
      days: ['2024-02-28', '2024-02-29', '2024-03-01'],
      groups: [
        { key: food, expense: [2.5, 0, 0], count: [2, 0, 0] },
        { key: rent, expense: [800, 0, 0] },
        { key: pay, income: [0, 0, 2_500] },
      ],
    });
    expect(await readSummary(query)).toEqual(series);
    expect(await readSummary({ ...query, group_by: 'type,day' }, '/summary/series')).toMatchObject({
      groups: [
        { key: 'income', income: [0, 0, 2_500] },
        { key: 'expense', expense: [802.5, 0, 0], count: [3, 0, 0] },
      ],
    });
  });

  it('requires dates that span at most 366 days', async () => {
    const request = (end_date: string) =>
      api.get('/summary', {
        group_by: 'day',
        category_id: pay,
        start_date: '2024-01-31',
        end_date,
      });
    const { body } = await request('2025-01-30');
    expect(body.data).toMatchObject({ income: 5_500, count: 2 });
    expect(body.data.groups).toHaveLength(336);
    const longer = await request('2025-01-31');
    expectFilterErrors(longer, ['start_date', 'end_date']);
    expect(longer.body.details?.end_date).toEqual([
      'A summary by day has at most 366 days; these dates span 367: narrow the dates.',
    ]);
    expect(
      await readSummary({ group_by: 'day', start_date: '2024-02-02', end_date: '2024-02-01' }),
    ).toEqual({ ...ZERO_TOTALS, groups: [] });
    for (const group_by of ['day', 'type,day']) {
      expectFilterErrors(await api.get('/summary', { group_by }), ['start_date', 'end_date']);
      const withoutStart = await api.get('/summary', { group_by, end_date: '2024-02-01' });
      expectFilterErrors(withoutStart, ['start_date']);
    }
  });
});

describe('a summary of several categories', () => {
  const YEAR = { start_date: '2024-01-01', end_date: '2024-12-31' };

  it.each([
    [
      'type',
      {
        groups: [
          { key: 'income', ...ZERO_TOTALS },
          { key: 'expense', expense: 803.5 },
        ],
      },
    ],
    [
      'month',
      {
        groups: [
          { key: '2024-01', expense: 1 },
          { key: '2024-02', expense: 802.5 },
        ],
      },
    ],
    ['year', { groups: [{ key: '2024', expense: 803.5, count: 4 }] }],
    ['type,month', { months: ['2024-01', '2024-02'], groups: [{}, { expense: [1, 802.5] }] }],
  ])(
    'adds up the transactions of these categories by %s, each once',
    async (group_by, expected) => {
      const data = await readSummary({ group_by, category_id: `${food},${rent},${food}`, ...YEAR });
      expect(data).toMatchObject({ expense: 803.5, income: 0, count: 4, ...expected });
    },
  );

  it('shows only the groups of these categories, and none for an unknown id', async () => {
    const { groups, expense } = await readSummary({
      ...{ group_by: 'category', category_id: `none,${rent},999999999,${food}` },
      ...{ start_date: '2024-02-28', end_date: '2024-02-28' },
    });
    expect(groups.map(({ key }: { key: unknown }) => key)).toEqual([food, rent, null]);
    expect(expense).toBeGreaterThanOrEqual(802.5);
  });

  it.each(['', '1,', 'a', '1,None', Array.from({ length: 101 }, (_, n) => n + 1).join()])(
    'refuses the category_id %j',
    async (category_id) => {
      for (const path of ['/summary', '/summary/series']) {
        const query = { group_by: 'category,month', category_id };
        expectFilterErrors(await api.get(path, query), ['category_id']);
      }
    },
  );
});
