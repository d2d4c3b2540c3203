// Service document, "transaction_date: date `YYYY-MM-DD`", and the rulings on it.
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenTransaction, keptTransaction, LUNCH } from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

const REAL = [
  '0001-01-01',
  '9999-12-31',
  '2024-02-29',
  '2000-02-29',
  '2023-02-28',
  '1969-12-31',
  '2026-12-31',
];

describe('transaction_date: a real calendar date', () => {
  test.each(REAL)('%s is kept, read and found', async (date) => {
    const { id, transaction_date } = await keptTransaction(api, { transaction_date: date });
    expect(transaction_date).toBe(date);
    const { body } = await api.get('/transactions', { start_date: date, end_date: date });
    expect(body.data.map((each: { id: number }) => each.id)).toContain(id);
  });

  test('the current day is the default', async () => {
    const before = new Date().toISOString().slice(0, 10);
    const { transaction_date } = await givenTransaction(api);
    const after = new Date().toISOString().slice(0, 10);
    expect([before, after]).toContain(transaction_date);
  });

  test('an update without it leaves it alone', async () => {
    const { id } = await givenTransaction(api, { transaction_date: '2001-02-03' });
    const { body } = await api.put(`/transactions/${id}`, { amount: 1 });
    expect(body.data.transaction_date).toBe('2001-02-03');
  });
});

const REFUSED = [
  '2023-02-29',
  '1900-02-29',
  '2100-02-29',
  '2024-02-30',
  '2024-04-31',
  '2024-13-01',
  '2024-00-10',
  '2024-01-00',
  '2024-01-32',
  '0000-01-01',
  '0000-12-31',
  '10000-01-01',
  '-001-01-01',
  '2024-1-5',
  '24-01-05',
  '2024/01/05',
  '20240105',
  '2024-01-05T00:00:00Z',
  '2024-01-05 ',
  ' 2024-01-05',
  '2024-01-05\n',
  '２０２４-01-05',
  'today',
  '',
  20240105,
  true,
  null,
  ['2024-01-05'],
];

describe('transaction_date: what is refused', () => {
  test.each(REFUSED)('%j on create and on update', async (transaction_date) => {
    expectFaults(await api.post('/transactions', { ...LUNCH, transaction_date }), [
      'transaction_date',
    ]);
    const { id } = await givenTransaction(api);
    expectFaults(await api.put(`/transactions/${id}`, { transaction_date }), ['transaction_date']);
  });
});
