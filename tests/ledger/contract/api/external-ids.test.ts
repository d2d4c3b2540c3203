// external_id: unique in the ledger, freed by a delete, and a filter of the list.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openTestApi } from '../../support/api/open-api.ts';
import { createAndReadTransaction, givenTransaction, LUNCH } from '../../support/api/records.ts';

const api = await openTestApi();

const createBankId = () => `bank#${randomUUID()}`;

async function listIdsWith(external_id: string, filter: object = {}): Promise<number[]> {
  const { body } = await api.get('/transactions', { external_id, ...filter });
  expect(body.pagination?.total).toBe(body.data.length);
  return body.data.map(({ id }: { id: number }) => id);
}

describe('external_id', () => {
  it('is stored and shown, and omitted if there is none', async () => {
    const external_id = createBankId();
    expect((await createAndReadTransaction(api, { external_id })).external_id).toBe(external_id);
    expect(await createAndReadTransaction(api, { external_id: null })).not.toHaveProperty(
      'external_id',
    );
  });

  it('is refused if another transaction has it, and the error names that transaction', async () => {
    const external_id = createBankId();
    const { id } = await givenTransaction(api, { external_id });
    expect(await api.post('/transactions', { ...LUNCH, external_id })).toMatchObject({
      status: 409,
      body: { success: false, error: 'conflict', existing_id: id },
    });
    const other = await givenTransaction(api);
    const response = await api.put(`/transactions/${other.id}`, { external_id });
    expect([response.status, response.body.existing_id]).toEqual([409, id]);
    expect(await listIdsWith(external_id)).toEqual([id]);
  });

  it('can be reused once its transaction is deleted or gets another external_id', async () => {
    const external_id = createBankId();
    const first = await givenTransaction(api, { external_id });
    await api.delete(`/transactions/${first.id}`);
    expect(await listIdsWith(external_id)).toEqual([]);
    const second = await givenTransaction(api, { external_id });
    for (const replacement of [createBankId(), null]) {
      const { body } = await api.put(`/transactions/${second.id}`, { external_id: replacement });
      expect(body.data.external_id ?? null).toBe(replacement);
    }
    const third = await givenTransaction(api, { external_id });
    expect(await listIdsWith(external_id)).toEqual([third.id]);
  });

  it('filters the list together with other filters, even past its only page', async () => {
    const external_id = createBankId();
    const { id } = await givenTransaction(api, { external_id, transaction_date: '2026-03-05' });
    const matchingFilter = { type: 'expense', end_date: '2026-03-05', category_id: 'none' };
    expect(await listIdsWith(external_id, matchingFilter)).toEqual([id]);
    const dates = { start_date: '2026-03-01', end_date: '2026-03-31' };
    expect(await listIdsWith(external_id, { q: 'lunch', ...dates })).toEqual([id]);
    for (const filter of [
      { type: 'income' },
      { start_date: '2026-03-06' },
      { q: 'dinner', ...dates },
    ]) {
      expect(await listIdsWith(external_id, filter)).toEqual([]);
    }
    const { body } = await api.get('/transactions', { external_id, page: 2 });
    expect(body).toMatchObject({ data: [], pagination: { total: 1, pages: 1, has_next: false } });
  });

  it('is accepted from only one of ten concurrent requests', async () => {
    const external_id = createBankId();
    const send = () => api.post('/transactions', { ...LUNCH, external_id });
    const responses = await Promise.all(Array.from({ length: 10 }, send));
    const created = responses
      .filter(({ status }) => status === 201)
      .map(({ body }) => body.data.id);
    expect(created).toHaveLength(1);
    const refused = responses.filter(({ status }) => status === 409);
    expect(refused.map(({ body }) => body.existing_id)).toEqual(Array(9).fill(created[0]));
  });
});
