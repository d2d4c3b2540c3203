// One part of an export: its cells or its JSON, its size, and where the next part starts.
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type {
  ExportPart,
  TransactionWithCategoryName,
} from '../../../../lib/ledger/domain/transaction.ts';
import type { TransactionsPart } from '../../../../lib/ledger/http/api-types.ts';
import type { Query } from '../../../../lib/ledger/http/query-string.ts';
import { fromTextCell } from '../../../../lib/ledger/http/transaction-csv.ts';
import {
  parseExportRequest,
  toExportReply,
} from '../../../../lib/ledger/http/transaction-export.ts';
import { toTransactionJson } from '../../../../lib/ledger/http/transaction-json.ts';

const LUNCH: TransactionWithCategoryName = {
  id: 7,
  date: '2026-03-05',
  description: 'Lunch',
  amount: 12.5,
  type: 'expense',
  categoryId: 1,
  categoryName: 'Food',
  notes: null,
  externalId: null,
  createdAt: 0,
  updatedAt: 1,
  version: 2,
};

const CONTROL_CHARACTERS: Partial<TransactionWithCategoryName> = {
  ...{
    description: '\u0001'.repeat(60),
    notes: '\u0001'.repeat(60),
    categoryName: '\u0001'.repeat(60),
  },
  ...{ externalId: '\u0001'.repeat(60), importId: '\u0001'.repeat(60) },
};

const parseRequest = (query: Query, path = '/transactions/export', accept?: string) =>
  parseExportRequest({ query, path, accept });

function toCsvPart(part: ExportPart<TransactionWithCategoryName>, query: Record<string, string>) {
  const { text = '', headers = {} } = toExportReply(part, { query, isJson: false });
  return { text, headers };
}

function exportCells(fields: Partial<TransactionWithCategoryName>): Record<string, string> {
  const [cells = {}] = parse(toCsvPart({ items: [{ ...LUNCH, ...fields }] }, {}).text, {
    columns: true,
  }) as Record<string, string>[];
  return cells;
}

function parseNextQuery(headers: Readonly<Record<string, string>>): Record<string, string> {
  const [, query = ''] = /^<\?(.*)>; rel="next"$/.exec(headers.link ?? '') ?? [];
  return Object.fromEntries(new URLSearchParams(query));
}

describe('a part as CSV', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['\t=1', "'\t'=1"],
    ['＝1', "'＝1"],
    ["'=1", "''=1"],
    ['', "'"],
    ['a=1', 'a=1'],
    [' a', ' a'],
    ['say "hi", twice\r\n', 'say "hi", twice\r\n'],
    ['Invoice;=cmd()', "Invoice;'=cmd()"],
    ['Invoice\t"=1', `Invoice\t'"=1`],
    ['milk\r\n- bread', "milk\r\n'- bread"],
    ["=1;=1;'=1;;a", "'=1;'=1;''=1;;a"],
    ['a,=1; b', 'a,=1; b'],
  ])('escapes text that looks like a formula, and no other text: %j', (notes, cell) => {
    expect(exportCells({ notes }).notes).toBe(cell);
    expect(fromTextCell(cell)).toBe(notes);
    expect(exportCells({ description: notes }).description).toBe(cell);
    expect(exportCells({ categoryName: notes }).category_name).toBe(cell);
    expect(exportCells({ externalId: notes }).external_id).toBe(cell);
  });

  it.each([',', ';', '\t'])(
    'has no formula at the start of a cell, even if %j separates the cells',
    (delimiter) => {
      const pieces = ['=1', ' =1', '"=1', '""=1', ' " @x', 'a', ...';\t,\r\n"\''];
      const pairs = pieces.flatMap((first) => pieces.map((second) => `x${first}${second}`));
      const texts = pairs.flatMap((pair) => pieces.map((third) => `${pair}${third}=1`));
      const items = texts.map((description) => ({ ...LUNCH, description, notes: description }));
      const cells: string[][] = parse(toCsvPart({ items }, {}).text, {
        delimiter,
        relax_quotes: true,
        relax_column_count: true,
      });
      expect(cells.flat().filter((cell) => /^[\s"]*[=+@＝＋－＠-]/.test(cell))).toEqual([]);
    },
  );

  it.each([
    [-0.01, '-0.01'],
    [-0, '0'],
    [999_999_999_999.99, '999999999999.99'],
  ])('does not change amounts: %d', (amount, cell) => {
    expect(exportCells({ amount }).amount).toBe(cell);
  });

  it('names the file by its dates', () => {
    const query = { start_date: '2026-01-01', end_date: '2026-12-31' };
    expect(toCsvPart({ items: [] }, query).headers['content-disposition']).toBe(
      'attachment; filename="transactions_2026-01-01_2026-12-31.csv"',
    );
  });

  it('links to the next part, with the filters that were sent', () => {
    const query = { q: 'a&b é', type: 'expense' };
    const { headers } = toCsvPart({ items: [], next: LUNCH }, query);
    const { cursor = '', ...filters } = parseNextQuery(headers);
    expect(filters).toEqual(query);
    const { date, createdAt, id } = LUNCH;
    expect(parseRequest({ cursor }).query.after).toEqual({ date, createdAt, id });
  });

  it('names the columns only in the first part', () => {
    const cursor = parseNextQuery(toCsvPart({ items: [], next: LUNCH }, {}).headers).cursor ?? '';
    const { text, headers } = toCsvPart({ items: [LUNCH] }, { cursor });
    expect([text.split('\r\n').length, headers['content-type']]).toEqual([
      2,
      'text/csv; charset=utf-8; header=absent',
    ]);
  });

  it('ends before a Lambda response would be too large, and the next part continues there', () => {
    // JSON escapes these characters, which multiplies the size of the response.
    const notes = '\u0001"'.repeat(2_500);
    const items = Array.from({ length: 400 }, (_, n) => ({ ...LUNCH, notes, id: n + 1 }));
    const ids: string[] = [];
    let query: Record<string, string> = {};
    do {
      const rest = items.slice(ids.length);
      const { text, headers } = toCsvPart({ items: rest }, query);
      expect(Buffer.byteLength(JSON.stringify(text))).toBeLessThan(4_100_000);
      const rows = parse(text, { from_line: query.cursor ? 1 : 2 }) as string[][];
      expect(rows.length).toBeGreaterThan(0);
      ids.push(...rows.map(([id = '']) => id));
      query = parseNextQuery(headers);
      if (query.cursor) expect(parseRequest(query).query.after?.id).toBe(Number(ids.at(-1)));
    } while (query.cursor);
    expect(ids).toEqual(items.map(({ id }) => String(id)));
  });
});

describe('a part as JSON', () => {
  it('has the transactions as lists return them, and the query of the next part', () => {
    const query = { format: 'json', q: 'a&b' };
    const { body, text, headers } = toExportReply(
      { items: [LUNCH], next: LUNCH },
      { query, isJson: true },
    );
    expect([text, headers]).toEqual([undefined, { vary: 'accept' }]);
    expect(body).toEqual({
      success: true,
      data: [toTransactionJson(LUNCH)],
      next: expect.any(String),
    });
    const { cursor, ...sent } = Object.fromEntries(new URLSearchParams(String(body.next)));
    expect(sent).toEqual(query);
    expect(parseRequest({ ...sent, cursor }).query.after).toEqual({
      date: LUNCH.date,
      createdAt: LUNCH.createdAt,
      id: LUNCH.id,
    });
    expect(toExportReply({ items: [LUNCH] }, { query, isJson: true }).body.next).toBeNull();
  });

  it.each([
    [
      'the longest transactions',
      500,
      { description: '\u0001'.repeat(1_000), notes: '\u0001'.repeat(5_000) },
    ],
    // One query reads at most 20,000 rows with almost no text.
    ['the shortest transactions', 20_000, { description: 'x', amount: -123_456_789_012.34 }],
    ['control characters in every text field', 5_000, CONTROL_CHARACTERS],
  ])('fits a response with %s, and the parts contain every transaction', (_, length, fields) => {
    const items = Array.from({ length }, (_, n) => ({ ...LUNCH, ...fields, id: n + 1 }));
    const ids: number[] = [];
    for (let rest = items; rest.length > 0; ) {
      const reply = toExportReply({ items: rest }, { query: {}, isJson: true });
      const response = JSON.stringify({ statusCode: 200, body: JSON.stringify(reply.body) });
      expect(Buffer.byteLength(response)).toBeLessThan(6 * 1024 * 1024);
      const { data, next } = reply.body as TransactionsPart;
      ids.push(...data.map(({ id }) => id));
      expect(next === null).toBe(data.length === rest.length);
      rest = rest.slice(data.length);
    }
    expect(ids).toEqual(items.map(({ id }) => id));
  });
});

describe('parseExportRequest', () => {
  const encodeCursor = (text: string) => Buffer.from(text).toString('base64url');
  it.each([
    { format: 'xml' },
    { cursor: '' },
    { cursor: 'x' },
    { cursor: encodeCursor('2026-02-30 1 1') },
    { cursor: encodeCursor('2026-02-28 1 0') },
    { cursor: encodeCursor('2026-02-28 1 1 1') },
    { cursor: encodeCursor('2026-02-28 9999999999999999 1') },
    { cursor: encodeCursor('2026-02-28 1 9999999999999999') },
  ])('refuses %j', (query) => {
    const [name = ''] = Object.keys(query);
    expect(() => parseRequest(query)).toThrow(
      expect.objectContaining({ name: 'ValidationError', details: { [name]: expect.any(Array) } }),
    );
  });
});

describe('the format of a part', () => {
  it.each([
    ['/transactions/export', {}, undefined, false],
    ['/transactions/export/', { format: 'json' }, 'text/csv', true],
    ['/transactions/export', { format: 'csv' }, 'application/json', false],
    ['/transactions/export', {}, 'application/json', true],
    ['/transactions/export', {}, 'Application/JSON; q=0.5, text/*;q=0.4', true],
    ['/transactions/export', {}, 'application/json;q=0.5, text/csv', false],
    ['/transactions/export', {}, 'application/json, text/plain, */*', false],
    ['/transactions/export', {}, '*/*', false],
    ['/transactions/export', {}, 'image/png', false],
    ['/transactions/export.json', {}, undefined, true],
    ['/transactions/export.json/', {}, 'text/csv', true],
  ])('follows from %s %j and Accept: %s', (path, query, accept, isJson) => {
    expect(parseRequest(query, path, accept).isJson).toBe(isJson);
  });

  it('refuses a format if the path already names one', () => {
    expect(() => parseRequest({ format: 'json' }, '/transactions/export.json')).toThrow(
      expect.objectContaining({ details: { format: ['Is not a known parameter.'] } }),
    );
  });
});
