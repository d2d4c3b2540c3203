// Service document, "Transactions: Rule 4" and "category_id: must reference an existing, active category".
import { describe, expect, test } from 'vitest';
import { expectFaults, expectNotFound, expectRefusal } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, UNKNOWN_ID } from '../../support/api/records.ts';

const api = await openApi();

const INACTIVE = 'Cannot assign transaction to inactive category';

const countOf = async (id: number) =>
  (await api.get(`/categories/${id}`)).body.data.transaction_count;

describe('Rule 4: a missing category gives 404', () => {
  test.each([UNKNOWN_ID, 0, -1, -0, Number.MAX_SAFE_INTEGER, 1e21, -1e300])(
    'category_id %d on create and on update',
    async (category_id) => {
      const message = `Category with id ${category_id} not found`;
      expectNotFound(await api.post('/transactions', { ...LUNCH, category_id }), message);
      const { id } = await givenTransaction(api);
      expectNotFound(await api.put(`/transactions/${id}`, { category_id }), message);
    },
  );
});

describe('Rule 4: an inactive category gives 400', () => {
  test('on create', async () => {
    const { id: category_id } = await givenCategory(api, { is_active: false });
    expectRefusal(await api.post('/transactions', { ...LUNCH, category_id }), INACTIVE);
    expect(await countOf(category_id)).toBe(0);
  });

  test('on update, where nothing of the update is applied', async () => {
    const { id: category_id } = await givenCategory(api, { is_active: false });
    const before = await givenTransaction(api);
    const path = `/transactions/${before.id}`;
    expectRefusal(await api.put(path, { category_id, amount: 99 }), INACTIVE);
    expect((await api.get(path)).body.data).toEqual(before);
  });

  test('also where it is the one the transaction has', async () => {
    const { id: category_id } = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id });
    await api.put(`/categories/${category_id}`, { is_active: false });
    expectRefusal(await api.put(`/transactions/${id}`, { category_id }), INACTIVE);
  });

  test('a category made active again receives transactions', async () => {
    const { id: category_id } = await givenCategory(api, { is_active: false });
    await api.put(`/categories/${category_id}`, { is_active: true });
    expect(await givenTransaction(api, { category_id })).toMatchObject({ category_id });
  });
});

describe('category_id: its forms', () => {
  test('null is none', async () => {
    expect(await givenTransaction(api, { category_id: null })).not.toHaveProperty('category_name');
  });

  test('null on update clears it', async () => {
    const { id: category_id } = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id });
    const { data } = (await api.put(`/transactions/${id}`, { category_id: null })).body;
    expect(data.category_id).toBeNull();
    expect(data).not.toHaveProperty('category_name');
    expect(await countOf(category_id)).toBe(0);
  });

  test('an integer written with decimals or an exponent is the same integer', async () => {
    const { id: category_id } = await givenCategory(api);
    const rawBody = `{"description":"x","amount":1,"type":"income","category_id":${category_id}.0}`;
    const { body } = await api.request('POST', '/transactions', { rawBody });
    expect(body.data).toMatchObject({ category_id });
  });
});

describe('Rulings: order of the checks on create and update', () => {
  test('the schema comes before the category', async () => {
    const body = { ...LUNCH, amount: 'x', category_id: UNKNOWN_ID };
    expectFaults(await api.post('/transactions', body), ['amount']);
    const { id } = await givenTransaction(api);
    expectFaults(await api.put(`/transactions/${id}`, body), ['amount']);
  });
});

describe('Rulings: a transaction shows its category as it is now', () => {
  test('a rename shows at once, on reads and in lists', async () => {
    const category = await givenCategory(api);
    const { id } = await givenTransaction(api, { category_id: category.id });
    const name = `${category.name} renamed`;
    await api.put(`/categories/${category.id}`, { name });
    expect((await api.get(`/transactions/${id}`)).body.data.category_name).toBe(name);
    const { body } = await api.get('/transactions', { category_id: category.id });
    expect(body.data[0].category_name).toBe(name);
  });
});
