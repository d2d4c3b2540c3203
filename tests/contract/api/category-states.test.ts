// Service document, "States and transitions".
import { describe, expect, test } from 'vitest';
import { expectConflict } from '../../support/api/expect-reply.ts';
import { openApi } from '../../support/api/open-api.ts';
import { givenCategory, givenTransaction, type WireRecord } from '../../support/api/records.ts';

const api = await openApi();

const read = async (id: number): Promise<WireRecord> =>
  (await api.get(`/categories/${id}`)).body.data;

async function listedIds(query?: object): Promise<number[]> {
  const { body } = await api.get('/categories', { ...query });
  return body.data.map(({ id }: WireRecord) => id);
}

describe('(new)', () => {
  test('POST makes it active', async () => {
    expect((await givenCategory(api)).is_active).toBe(true);
  });

  test('unless is_active false is sent', async () => {
    const { id } = await givenCategory(api, { is_active: false });
    expect((await read(id)).is_active).toBe(false);
  });
});

describe('active', () => {
  test('DELETE with 0 transactions makes it inactive; the record stays', async () => {
    const { updated_at: _, ...before } = await givenCategory(api, { color: '#abc' });
    const { status, body } = await api.delete(`/categories/${before.id}`);
    expect([status, body]).toEqual([
      200,
      { success: true, message: 'Category deleted successfully' },
    ]);
    const { updated_at: __, ...after } = await read(before.id);
    expect(after).toEqual({ ...before, is_active: false, transaction_count: 0 });
  });

  test('DELETE with 1 transaction gives 409 with the count, and it stays active', async () => {
    const { id } = await givenCategory(api);
    await givenTransaction(api, { category_id: id });
    expectConflict(
      await api.delete(`/categories/${id}`),
      'Cannot delete category with 1 transaction. Please reassign or delete the transaction first.',
    );
    expect(await read(id)).toMatchObject({ is_active: true, transaction_count: 1 });
  });

  test('PUT with is_active false makes it inactive, whatever is in it', async () => {
    const { id, name } = await givenCategory(api);
    const transaction = await givenTransaction(api, { category_id: id });
    const { status, body } = await api.put(`/categories/${id}`, { is_active: false });
    expect([status, body.data.is_active]).toEqual([200, false]);
    // Transactions already assigned to a category are not changed when it becomes inactive.
    expect((await api.get(`/transactions/${transaction.id}`)).body.data).toEqual(transaction);
    expect(transaction).toMatchObject({ category_id: id, category_name: name });
  });
});

describe('inactive', () => {
  test('PUT with is_active true makes it active', async () => {
    const { id } = await givenCategory(api, { is_active: false });
    const { status, body } = await api.put(`/categories/${id}`, { is_active: true });
    expect([status, body.data.is_active]).toEqual([200, true]);
  });

  test('DELETE with 0 transactions answers 200 again', async () => {
    const { id } = await givenCategory(api);
    for (const _ of ['active', 'inactive']) {
      expect((await api.delete(`/categories/${id}`)).status).toBe(200);
    }
  });

  test('DELETE with transactions is 409 as well', async () => {
    const { id } = await givenCategory(api);
    await givenTransaction(api, { category_id: id });
    await api.put(`/categories/${id}`, { is_active: false });
    expect((await api.delete(`/categories/${id}`)).status).toBe(409);
  });

  test('is hidden from the default list, and readable', async () => {
    const { id } = await givenCategory(api);
    expect(await listedIds()).toContain(id);
    await api.delete(`/categories/${id}`);
    expect(await listedIds()).not.toContain(id);
    expect(await listedIds({ active_only: false })).toContain(id);
  });

  test('its transactions can be changed in everything but the category', async () => {
    const { id } = await givenCategory(api);
    const transaction = await givenTransaction(api, { category_id: id });
    await api.put(`/categories/${id}`, { is_active: false });
    const { status, body } = await api.put(`/transactions/${transaction.id}`, { amount: 9 });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({ amount: 9, category_id: id, category_name: expect.any(String) }),
    ]);
    expect((await api.delete(`/transactions/${transaction.id}`)).status).toBe(200);
    expect((await read(id)).transaction_count).toBe(0);
  });
});
