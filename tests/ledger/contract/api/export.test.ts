// GET /transactions/export: its transactions, its parts and its headers.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectFilterErrors, expectRequestId } from '../../support/api/expect-response.ts';
import { exportAll, exportParts, parseExport } from '../../support/api/export-parts.ts';
import { openTestApi } from '../../support/api/open-api.ts';
import {
  givenCategory,
  givenTransaction,
  LUNCH,
  uniqueName,
  type WireRecord,
} from '../../support/api/records.ts';

/** A gateway may append its own headers, such as the origin. */
const VARIES_BY_ACCEPT = /^accept(,|$)/;
const api = await openTestApi();

describe('GET /transactions/export', () => {
  let category: WireRecord;
  const externalId = uniqueName('bank');
  const rows: WireRecord[] = [];

  beforeAll(async () => {
    category = await givenCategory(api);
    for (const [transaction_date, fields] of [
      ['2026-03-05', { notes: 'with "Robin",\r\nlater' }],
      ['2026-03-01', { description: '=1+1', notes: '' }],
      ['2026-03-05', { type: 'income', amount: -0.1, external_id: externalId }],
      ['2026-02-28', {}],
    ] as const) {
      rows.push(
        await givenTransaction(api, { category_id: category.id, ...fields, transaction_date }),
      );
    }
  });

  const listPositions = async (query: Record<string, string>) =>
    parseExport(await exportAll(api, { category_id: category.id, ...query })).map(({ id }) =>
      rows.findIndex((row) => String(row.id) === id),
    );

  it('is a CSV file with every field, and is never cached', async () => {
    const response = await api.get('/transactions/export', { external_id: externalId });
    expect(response.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="transactions.csv"',
      'cache-control': 'no-store',
      vary: expect.stringMatching(VARIES_BY_ACCEPT),
      'x-content-type-options': 'nosniff',
    });
    expectRequestId(response);
    const [, , { id, created_at, updated_at }] = rows;
    expect(parseExport(response.text)).toEqual([
      {
        id: String(id),
        transaction_date: '2026-03-05',
        description: 'Lunch',
        amount: '-0.1',
        type: 'income',
        category_name: category.name,
        notes: '',
        external_id: externalId,
        created_at,
        updated_at,
      },
    ]);
  });

  it.each([
    [{}, [3, 1, 0, 2]],
    [{ type: 'income' }, [2]],
    [{ start_date: '2026-03-01' }, [1, 0, 2]],
    [{ end_date: '2026-03-01' }, [3, 1]],
    [{ start_date: '2026-03-02', end_date: '2026-03-01' }, []],
    [{ q: 'ROBIN' }, [0]],
    [{ q: '%' }, []],
    [{ external_id: 'no row has it' }, []],
  ] as const)(
    'has the oldest row first, and accepts the filters of the list: %j',
    async (query, positions) => {
      expect(await listPositions(query)).toEqual(positions);
    },
  );

  it('continues after a cursor, within the filter dates', async () => {
    const { headers } = await api.get('/transactions/export', { external_id: externalId });
    expect(headers.link).toBeUndefined();
    const createCursorAfter = (date: string) => Buffer.from(`${date} 0 1`).toString('base64url');
    const listPositionsAfter = async (date: string, query: object) => {
      const parameters = { category_id: category.id, cursor: createCursorAfter(date), ...query };
      const { text } = await api.get('/transactions/export', parameters);
      return parseExport(`id,x,x,x,x,x,x,x,x,x\r\n${text}`).map(({ id }) =>
        rows.findIndex((row) => String(row.id) === id),
      );
    };
    expect(await listPositionsAfter('2026-03-02', {})).toEqual([0, 2]);
    expect(await listPositionsAfter('2026-01-01', { start_date: '2026-03-01' })).toEqual([1, 0, 2]);
    expect(await listPositionsAfter('2026-03-02', { end_date: '2026-03-01' })).toEqual([]);
  });

  it('is JSON if the path, the format parameter or Accept requests it', async () => {
    const query = `external_id=${encodeURIComponent(externalId)}`;
    const parts = [
      await api.get('/transactions/export.json', query),
      await api.get('/transactions/export', `${query}&format=json`),
      await api.request('GET', '/transactions/export', {
        query,
        headers: { accept: 'application/json' },
      }),
    ];
    for (const { headers, body } of parts) {
      expect(headers['content-type']).toContain('application/json');
      expect(headers.vary).toMatch(VARIES_BY_ACCEPT);
      expect(body).toEqual({
        success: true,
        data: [expect.objectContaining({ id: rows[2]?.id })],
        next: null,
      });
    }
  });

  it('refuses paging parameters, and invalid values of other parameters', async () => {
    const query = { page: 1, sort: 'date', cursor: 'x', start_date: '2026-02-30' };
    expectFilterErrors(await api.get('/transactions/export', query), Object.keys(query));
  });
});

describe('an export of more than one part', async () => {
  const ROWS = 70;
  // Each note has 20,000 bytes, so 50 rows make a part of 1 MB.
  const LONG_NOTE = '💶'.repeat(5_000);
  const { id: category_id } = await givenCategory(api);

  beforeAll(async () => {
    const rows = Array.from({ length: ROWS }, (_, n) => ({
      ...LUNCH,
      category_id,
      notes: LONG_NOTE,
      description: String(n),
      transaction_date: `2026-0${1 + Math.floor(n / 28)}-${String(1 + (n % 28)).padStart(2, '0')}`,
    }));
    for (const half of [rows.slice(0, 35), rows.slice(35)]) {
      const { body } = await api.post('/transactions/bulk', { transactions: half });
      expect(body.data.created).toBe(half.length);
    }
  });

  it('has empty parts where a search finds nothing, and ends', async () => {
    const parts = await Array.fromAsync(exportParts(api, { category_id, q: 'nowhere' }));
    expect(parts.map((part) => part.split('\r\n').length)).toEqual([2, 1]);
  });

  it('neither loses nor repeats a row if others are added and deleted between two parts', async () => {
    const parts = exportParts(api, { category_id });
    const first = parseExport((await parts.next()).value ?? '');
    // Three rows are deleted: the last exported row, after which the next part starts, the first exported row, and a row that is
    // not exported yet.
    const listed = await api.get('/transactions', { category_id, per_page: 1 });
    for (const id of [first.at(-1)?.id, first[0]?.id, listed.body.data[0].id]) {
      expect((await api.delete(`/transactions/${id}`)).status).toBe(200);
    }
    for (const [description, transaction_date] of [
      ['late', '2026-12-31'],
      ['too early', '2025-01-01'],
    ]) {
      await givenTransaction(api, { category_id, description, transaction_date });
    }
    const header = `${Object.keys(first[0] ?? {}).join(',')}\r\n`;
    const rest = parseExport(header + (await Array.fromAsync(parts)).join(''));
    expect(rest.map(({ description }) => description)).toEqual([
      ...Array.from({ length: ROWS - 1 - first.length }, (_, n) => String(first.length + n)),
      'late',
    ]);
  });
});
