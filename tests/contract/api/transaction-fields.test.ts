// Service document, "Resources and their fields: Transaction".
import { afterAll, describe, expect, test } from 'vitest';
import { expectFaults } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  keptTransaction,
  LUNCH,
} from '../../support/api/records.ts';

const api = await openApi();
afterAll(() => api.close());

const FIELDS = [
  'amount',
  'category_id',
  'created_at',
  'description',
  'id',
  'notes',
  'transaction_date',
  'type',
  'updated_at',
];

const FIELDS_WITH_CATEGORY = [...FIELDS, 'category_name'].toSorted();

describe('Transaction: the fields of every response', () => {
  test('a transaction without a category carries every field but category_name', async () => {
    const created = await api.post('/transactions', LUNCH);
    const path = `/transactions/${created.body.data.id}`;
    const replies = [created, await api.get(path), await api.put(path, { amount: 3 })];
    for (const { body } of replies) expect(Object.keys(body.data).toSorted()).toEqual(FIELDS);
  });

  test('category_name is added in every response when there is a category', async () => {
    const category = await givenCategory(api);
    const created = await api.post('/transactions', { ...LUNCH, category_id: category.id });
    const path = `/transactions/${created.body.data.id}`;
    const updated = await api.put(path, { notes: 'n' });
    const read = await api.get(path);
    const { etag, ...listed } = (await api.get('/transactions', { category_id: category.id })).body
      .data[0];
    const replies = [created.body.data, updated.body.data, read.body.data, listed];
    expect(etag).toBe(read.headers.etag);
    for (const data of replies) {
      expect(Object.keys(data).toSorted()).toEqual(FIELDS_WITH_CATEGORY);
      expect(data).toMatchObject({ category_id: category.id, category_name: category.name });
    }
  });

  test('category_name is omitted, in lists too, when there is none', async () => {
    const date = '1877-03-04';
    await givenTransaction(api, { transaction_date: date });
    const { body } = await api.get('/transactions', { start_date: date, end_date: date });
    expect(Object.keys(body.data[0]).toSorted()).toEqual([...FIELDS, 'etag'].toSorted());
  });

  test('an empty field is null', async () => {
    expect(await keptTransaction(api, {})).toMatchObject({ category_id: null, notes: null });
  });

  test('id is an assigned integer, and grows', async () => {
    const first = await givenTransaction(api);
    const second = await givenTransaction(api);
    expect(Number.isInteger(first.id)).toBe(true);
    expect(second.id).toBeGreaterThan(first.id);
  });

  test('created_at and updated_at are assigned: ISO 8601, UTC, milliseconds', async () => {
    const { created_at, updated_at } = await givenTransaction(api);
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(updated_at).toBe(created_at);
  });

  test('every write moves updated_at, and leaves created_at alone', async () => {
    const before = await givenTransaction(api);
    const path = `/transactions/${before.id}`;
    const once = (await api.put(path, { notes: 'n' })).body.data;
    const twice = (await api.put(path, { notes: 'n' })).body.data;
    expect([once.created_at, twice.created_at]).toEqual([before.created_at, before.created_at]);
    expect(Date.parse(once.updated_at)).toBeGreaterThan(Date.parse(before.updated_at));
    expect(Date.parse(twice.updated_at)).toBeGreaterThan(Date.parse(once.updated_at));
  });
});

describe('Transaction: what a create needs', () => {
  test.each(['description', 'amount', 'type'] as const)('%s is required', async (field) => {
    const { [field]: _, ...rest } = LUNCH;
    expectFaults(await api.post('/transactions', rest), [field]);
  });

  test('all that is missing is named at once', async () => {
    expectFaults(await api.post('/transactions', { notes: 'n' }), [
      'description',
      'amount',
      'type',
    ]);
  });

  test.each(['description', 'amount', 'type'])('%s cannot be null', async (field) => {
    expectFaults(await api.post('/transactions', { ...LUNCH, [field]: null }), [field]);
    const { id } = await givenTransaction(api);
    expectFaults(await api.put(`/transactions/${id}`, { [field]: null }), [field]);
  });

  test.each(['income', 'expense'])('type %s is allowed', async (type) => {
    expect(await keptTransaction(api, { type })).toMatchObject({ type });
  });

  test.each(['Income', 'EXPENSE', 'transfer', '', ' income', 1, true, ['income'], {}])(
    'type %j is refused',
    async (type) => {
      expectFaults(await api.post('/transactions', { ...LUNCH, type }), ['type']);
    },
  );

  test('all fields come back as sent', async () => {
    const { id: category_id } = await givenCategory(api);
    const sent = {
      description: ' Rent, März 🏠 ',
      amount: -1250.07,
      type: 'income',
      category_id,
      transaction_date: '2024-02-29',
      notes: 'line\nline',
    };
    expect(await keptTransaction(api, sent)).toMatchObject(sent);
  });
});
