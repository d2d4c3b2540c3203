// Reading any file yields rows, or a reason that a person can act on. No row is dropped silently.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitCsv } from '../../../lib/ledger/import/csv-text.ts';
import { readCsv, readStatement } from '../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../lib/shared/user-error.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';

const TODAY = '2026-11-25';
const cell = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '"',
    '""',
    'Total',
    'Opening balance',
    'pending',
    'DR',
    'CR',
    'EUR',
    '-',
    '(',
  ),
  fc.constantFrom(
    '2026-01-02',
    '03/04/2026',
    '31.12.25',
    'Dec 30, 2025',
    '46021',
    '25-12-27',
    '20251230',
  ),
  fc.constantFrom(
    '-1.00',
    '1,20,000.00',
    '(5.00)',
    '4,50',
    '.75',
    '12 zł',
    '1.2345',
    '45.10 DR',
    '9'.repeat(60),
  ),
  fc.string({ maxLength: 8 }),
);
const header = fc.constantFrom(
  ...[
    'Date',
    'Amount',
    'Description',
    'Debit',
    'Credit',
    'Balance',
    'Type',
    'Status',
    'Currency',
    'Fee',
  ],
  ...['Transaction ID', 'Reference', 'Category', 'Memo', 'Datum', 'Betrag', '', 'x'],
);
const table = fc.tuple(
  fc.array(header, { minLength: 1, maxLength: 8 }),
  fc.array(fc.array(cell, { maxLength: 9 }), { maxLength: 12 }),
  fc.constantFrom(',', ';', '\t', '|'),
);

function writeCsv(rows: readonly (readonly string[])[], delimiter: string): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  return rows.map((cells) => cells.map(quote).join(delimiter)).join('\n');
}

test(`a file of any bytes is read, or refused with a reason (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
    const error = await readStatement(bytes, { today: TODAY }).catch((reason: unknown) => reason);
    if (error instanceof Error) expect(error).toBeInstanceOf(UserError);
  });
  await fc.assert(property, seeded(500));
});

test(`each line of a table is read, refused or left out, exactly once (seed ${SEED})`, () => {
  const property = fc.property(table, ([headers, rows, delimiter]) => {
    const text = writeCsv(
      [['Date', 'Description', 'Amount', ...headers.slice(0, 3)], ...rows],
      delimiter,
    );
    let statement: ReturnType<typeof readCsv>;
    try {
      statement = readCsv(text, { today: TODAY, dateOrder: 'dmy' });
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      return;
    }
    const lines = [...statement.rows, ...statement.refused, ...statement.leftOut].map(
      ({ line }) => line,
    );
    expect(new Set(lines).size).toBe(lines.length);
    const { rows: filledRows } = splitCsv(text, delimiter);
    const first =
      statement.headerLine === 0
        ? 0
        : filledRows.findIndex(({ line }) => line === statement.headerLine) + 1;
    if (statement.headerLine > 0) expect(lines.length).toBe(filledRows.length - first);
  });
  fc.assert(property, seeded(500));
});

test(`a well-formed table is split into the same cells as by a CSV parser (seed ${SEED})`, () => {
  const anyCell = fc
    .string({ maxLength: 6 })
    .map((text) => text.replace(/[\r\n]/g, ' '))
    .filter((text) => !text.includes('="'));
  const rows = fc.array(fc.array(anyCell, { minLength: 2, maxLength: 5 }), {
    minLength: 1,
    maxLength: 8,
  });
  const property = fc.property(
    rows,
    fc.constantFrom(',', ';', '\t', '|'),
    (generated, delimiter) => {
      const text = writeCsv(generated, delimiter);
      const parsed = parse(text, {
        delimiter,
        relax_column_count: true,
        relax_quotes: true,
      }) as string[][];
      const filled = parsed.filter((cells) => cells.some((each) => each.trim() !== ''));
      expect(splitCsv(text, delimiter).rows.map(({ cells }) => cells)).toEqual(filled);
    },
  );
  fc.assert(property, seeded(500));
});
