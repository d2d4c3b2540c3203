// import_id: set on create, never changed, and a filter of lists and exports. Also tests exports as JSON.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { expectFilterErrors } from '../../support/api/expect-response.ts';
import { exportAll, parseExport } from '../../support/api/export-parts.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import { createAndReadTransaction, givenTransaction, LUNCH } from '../../support/api/records.ts';

const api = await openTestApi();

const createImportId = () => `2026-03-31 Umsätze.csv ${randomUUID()}`;
const DAY = { start_date: '2026-03-05', end_date: '2026-03-05' };
const listIds = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);

describe('import_id', () => {
  it('is stored and shown, and omitted if there is none', async () => {
    const import_id = createImportId();
    expect((await createAndReadTransaction(api, { import_id })).import_id).toBe(import_id);
    expect(await createAndReadTransaction(api, { import_id: null })).not.toHaveProperty(
      'import_id',
    );
  });

  it('is set by a bulk create too', async () => {
    const import_id = createImportId();
    const transactions = [{ ...LUNCH, import_id }];
    const { body } = await api.post('/transactions/bulk', { transactions });
    const [id] = listIds(body.data.results);
    expect((await api.get(`/transactions/${id}`)).body.data.import_id).toBe(import_id);
  });

  it('is not changed by updates, which may send it back', async () => {
    const import_id = createImportId();
    const { id, ...fields } = await givenTransaction(api, { import_id });
    for (const changes of [
      { ...fields, notes: 'Note' },
      { import_id: 'other' },
      { import_id: null },
    ]) {
      const { status, body } = await api.put(`/transactions/${id}`, changes);
      expect([status, body.data.import_id]).toEqual([200, import_id]);
    }
    const change = { id, import_id: 'other', notes: 'Other' };
    await api.put('/transactions/bulk', { transactions: [change] });
    const { body } = await api.get(`/transactions/${id}`);
    expect(body.data).toMatchObject({ import_id, notes: 'Other' });
  });

  it('filters lists within a date range', async () => {
    const import_id = createImportId();
    const fields = { import_id, transaction_date: '2026-03-05' };
    const { id } = await givenTransaction(api, fields);
    await givenTransaction(api, { ...fields, import_id: createImportId() });
    const tea = await givenTransaction(api, { ...fields, description: 'Tea' });
    const list = async (query: object) =>
      listIds((await api.get('/transactions', { import_id, ...DAY, ...query })).body.data);
    expect(await list({})).toEqual([tea.id, id]);
    expect(await list({ q: 'tea' })).toEqual([tea.id]);
    expect(await list({ start_date: '2026-03-06', end_date: '2026-03-07' })).toEqual([]);
    expectFilterErrors(await api.get('/transactions', { import_id }), ['start_date', 'end_date']);
  });
});

describe('GET /transactions/export', () => {
  it('omits import_id from the CSV, and accepts it as a filter', async () => {
    const import_id = createImportId();
    const { id } = await givenTransaction(api, { import_id });
    const rows = parseExport(await exportAll(api, { import_id }));
    expect(rows.map((row) => [row.id, 'import_id' in row])).toEqual([[String(id), false]]);
  });

  it('has the rows of the list as JSON, oldest first', async () => {
    const import_id = createImportId();
    const later = await givenTransaction(api, { import_id, transaction_date: '2026-03-05' });
    const earlier = await givenTransaction(api, { import_id, transaction_date: '2001-01-31' });
    const query = { format: 'json', import_id };
    const rows: { id: number }[] = [];
    // The ledger may be shared and large, so the export may come in parts.
    for (let next: unknown = new URLSearchParams(query).toString(); next !== null; ) {
      const { status, body, headers } = await api.get('/transactions/export', String(next));
      expect([status, body.success]).toEqual([200, true]);
      expect(headers['content-type']).toMatch(/^application\/json/);
      rows.push(...body.data);
      next = body.next;
    }
    expect(listIds(rows)).toEqual([earlier.id, later.id]);
    const list = await api.get('/transactions', { import_id, ...DAY });
    expect(rows[1]).toEqual(list.body.data[0]);
  });
});
