// GET /summary as a client sends it: its parameters, and its figures as JSON.
import { describe, expect, it } from 'vitest';
import { expectFilterErrors } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH } from '../support/api/records.ts';

const api = await openInProcess(await createTestService());
const food = await givenCategory(api, { name: 'Food' });
const inactive = await givenCategory(api, { name: 'Old' });
await givenCategory(api, { name: 'Spare' });
const DAY = { transaction_date: '2026-03-05' };
await givenTransaction(api, { ...DAY, amount: 0.1, category_id: food.id });
await givenTransaction(api, { ...DAY, amount: 0.2, category_id: food.id });
await givenTransaction(api, { ...DAY, amount: 7, category_id: inactive.id });
await givenTransaction(api, { amount: 2_500, type: 'income', transaction_date: '2026-04-01' });
await api.put(`/categories/${inactive.id}`, { is_active: false });

const ZERO_TOTALS = { income: 0, expense: 0, net: 0, count: 0 };

describe('GET /summary', () => {
  it('shows every category, including inactive and unused ones, and transactions without one', async () => {
    const { status, body } = await api.get('/summary', { group_by: 'category' });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: {
        income: 2_500,
        expense: 7.3,
        net: 2_492.7,
        count: 4,
        groups: [
          {
            key: food.id,
            category_id: food.id,
            name: 'Food',
            income: 0,
            expense: 0.3,
            net: -0.3,
            count: 2,
          },
          {
            key: inactive.id,
            category_id: inactive.id,
            name: 'Old',
            income: 0,
            expense: 7,
            net: -7,
            count: 1,
          },
          { key: 3, category_id: 3, name: 'Spare', ...ZERO_TOTALS },
          {
            key: null,
            category_id: null,
            name: null,
            income: 2_500,
            expense: 0,
            net: 2_500,
            count: 1,
          },
        ],
      },
    });
  });

  it('shows months and years without transactions between others', async () => {
    await givenTransaction(api, { amount: 1, transaction_date: '2024-12-31' });
    const readSummary = async (query: Record<string, string>) =>
      (await api.get('/summary', query)).body.data;
    const range = { start_date: '2024-12-31', end_date: '2026-03-31' };
    const { groups: months } = await readSummary({ group_by: 'month', ...range });
    expect(months).toHaveLength(16);
    expect(months[1]).toEqual({ key: '2025-01', period: '2025-01', ...ZERO_TOTALS });
    expect(await readSummary({ group_by: 'year', ...range })).toMatchObject({
      groups: [
        { key: '2024', expense: 1, count: 1 },
        { key: '2025', ...ZERO_TOTALS },
        { key: '2026', expense: 7.3, count: 3 },
      ],
    });
    expect(await readSummary({ group_by: 'type,year', ...range })).toMatchObject({
      years: ['2024', '2025', '2026'],
      groups: [
        { key: 'income', type: 'income', income: [0, 0, 0], expense: [0, 0, 0] },
        { key: 'expense', expense: [1, 0, 7.3], net: [-1, 0, -7.3], count: [1, 0, 3] },
      ],
    });
    const { months: names, groups } = await readSummary({
      group_by: 'category,month',
      start_date: '2026-03-01',
    });
    expect(names).toEqual(['2026-03', '2026-04']);
    expect(groups[0]).toMatchObject({ key: food.id, name: 'Food', expense: [0.3, 0] });
    expect(groups.at(-1)).toMatchObject({ key: null, name: null, income: [0, 2_500] });
  });

  it('accepts one or two groupings at /summary, and only two at /summary/series', async () => {
    const query = { group_by: 'category,month', start_date: '2026-03-01' };
    const [{ text }, { body }] = [
      await api.get('/summary/series', query),
      await api.get('/summary', query),
    ];
    expect(JSON.parse(text)).toEqual(body);
    expectFilterErrors(await api.get('/summary/series', { group_by: 'month' }), ['group_by']);
  });

  it('refuses more than 1,200 months', async () => {
    await givenTransaction(api, { transaction_date: '0001-01-31' });
    await givenTransaction(api, { transaction_date: '0101-01-01' });
    const readMonths = (end_date: string) => api.get('/summary', { group_by: 'month', end_date });
    expect((await readMonths('0100-12-31')).body.data.groups).toHaveLength(1);
    const { body } = await readMonths('0101-01-31');
    const sentence =
      'The transactions of these dates span 1201 months, from 0001-01 to 0101-01; this summary may have 1200.';
    expect(body.details).toEqual({ group_by: [sentence] });
    await givenTransaction(api, { transaction_date: '1201-01-01' });
    const years = await api.get('/summary', { group_by: 'year', end_date: '1201-01-31' });
    expect(years.body.details?.group_by?.[0]).toContain('span 1201 years, from 0001 to 1201;');
  });

  it('keeps every cent of sums that are too large for a double', async () => {
    const range = { start_date: '1999-01-01', end_date: '1999-12-31' };
    const largest = { ...LUNCH, amount: 999_999_999_999.99, transaction_date: '1999-06-01' };
    for (let n = 0; n < 100; n += 1)
      expect((await api.post('/transactions', largest)).status).toBe(201);
    const { text } = await api.get('/summary', { group_by: 'month', ...range });
    expect(text).toContain('"expense":99999999999999,"net":-99999999999999,"count":100');
    await givenTransaction(api, { ...largest, amount: 0.01 });
    const later = await api.get('/summary', { group_by: 'type', ...range });
    expect(later.text).toContain('"expense":99999999999999.01,');
  });

  it.each([
    [{}, ['group_by']],
    [{ group_by: 'week' }, ['group_by']],
    [{ group_by: 'month,category' }, ['group_by']],
    [
      { group_by: 'category,type', page: '1', category_id: 'x' },
      ['group_by', 'page', 'category_id'],
    ],
  ])('refuses %j', async (query, names) => {
    expectFilterErrors(await api.get('/summary', query), names);
  });
});
