// The parameters q and sort of the transaction list.
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_FILTERED_ROWS } from '../../../lib/ledger/domain/transaction.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api } from '../support/api/api-client.ts';
import { expectFilterErrors } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, type WireRecord } from '../support/api/records.ts';
import { bulkLoadHousehold } from '../support/bulk-loader.ts';

const table = await createTestTable();
const open = (ledgerId: string) => openInProcess(createServiceOn({ ...table, ledgerId }));
const MARCH = { start_date: '2026-03-01', end_date: '2026-03-31' };

let api: Api;
const ids: number[] = [];

beforeAll(async () => {
  api = await open('small');
  const { id: category_id } = await givenCategory(api);
  for (const [day, description, notes] of [
    ['2026-02-28', 'Coffee', null],
    ['2026-03-01', 'COFFEE beans', null],
    ['2026-03-05', 'Lunch', 'and a coffee'],
    ['2026-03-05', 'Äpfel', null],
    ['2026-03-31', 'Tea', ''],
  ] as const) {
    const fields = { description, notes, category_id, transaction_date: day };
    ids.push((await givenTransaction(api, fields)).id);
  }
});

async function list(query: Record<string, string | number>): Promise<WireRecord> {
  const { status, body } = await api.get('/transactions', query);
  expect(status).toBe(200);
  return { ids: body.data.map(({ id }: { id: number }) => id), ...body.pagination };
}

it('sort=date reverses the list', async () => {
  expect((await list({ sort: '-date' })).ids).toEqual(ids.toReversed());
  const pages = [1, 2, 3].map((page) => list({ sort: 'date', per_page: 2, page }));
  expect((await Promise.all(pages)).flatMap((page) => page.ids)).toEqual(ids);
});

describe('a list with q', () => {
  it.each([
    ['coffee', [2, 1]],
    ['CoFFee B', [1]],
    ['äPF', [3]],
    ['lunch and', []],
    ['.*', []],
  ])('finds %j in description or notes, regardless of case', async (q, positions) => {
    const page = await list({ q, ...MARCH });
    expect(page).toMatchObject({ ids: positions.map((n) => ids[n]), total: positions.length });
  });

  it('combines q with the other parameters, page by page', async () => {
    const first = await list({ q: 'coffee', ...MARCH, sort: 'date', per_page: 1 });
    expect(first).toMatchObject({ ids: [ids[1]], total: 2, pages: 2, has_next: true });
    expect((await list({ q: 'coffee', ...MARCH, per_page: 1, page: 2 })).ids).toEqual([ids[1]]);
    expect((await list({ q: 'coffee', ...MARCH, category_id: 'none' })).ids).toEqual([]);
  });

  it.each<[Record<string, string>, string[]]>([
    [{ q: 'x' }, ['start_date', 'end_date']],
    [{ q: 'x', start_date: '2026-01-01' }, ['end_date']],
    [{ q: 'x'.repeat(101), ...MARCH }, ['q']],
  ])('refuses %j', async (query, names) => {
    expectFilterErrors(await api.get('/transactions', query), names);
  });

  it('reads up to its limit, and refuses to read more', async () => {
    const household = {
      transactions: MAX_FILTERED_ROWS + 1,
      years: 1,
      lastDay: '2026-06-30',
      seed: 4,
    };
    await bulkLoadHousehold({ ...table, ledgerId: 'large' }, household);
    const large = await open('large');
    const dates = { start_date: '2025-01-01', end_date: '2026-12-31' };
    const refused = await large.get('/transactions', { q: 'e', ...dates });
    expect([refused.status, refused.body.details]).toEqual([
      400,
      { q: [expect.stringContaining(String(MAX_FILTERED_ROWS + 1))] },
    ]);
    await large.delete('/transactions/1');
    const { status, body } = await large.get('/transactions', { q: 'e', ...dates });
    expect(status).toBe(200);
    expect(body.pagination?.total).toBeGreaterThan(100);
  });
});
