// Excel workbooks are read as if they were CSV files.
import { describe, expect, it } from 'vitest';
import { readStatement } from '../../../../lib/ledger/import/statement.ts';
import { readXlsx } from '../../../../lib/ledger/import/xlsx.ts';
import { createWorkbook } from '../../support/import/workbook.ts';

const STATEMENT = [
  ['Account statement of ACME & Sons'],
  [],
  ['Date', 'Payee', 'Amount', 'Id'],
  [{ serial: 46021 }, 'GROCER  12', -45.1, 12345678901234],
  [{ serial: 46019.5 }, 'ACME\nPAYROLL', { formula: 'A1+B1', value: 2500.000000000001 }, null],
];

describe('the workbook reader', () => {
  it('reads titles, dates, numbers and formulas as they would appear in a CSV file', async () => {
    expect(await readXlsx(createWorkbook({ Empty: [], Umsätze: STATEMENT }))).toEqual([
      {
        name: 'Umsätze',
        rows: [
          { line: 1, cells: ['Account statement of ACME & Sons', '', '', ''] },
          { line: 3, cells: ['Date', 'Payee', 'Amount', 'Id'] },
          { line: 4, cells: ['2025-12-30', 'GROCER 12', '-45.1', '12345678901234'] },
          { line: 5, cells: ['2025-12-28 12:00:00', 'ACME PAYROLL', '2500', ''] },
        ],
      },
    ]);
  });

  it('rounds off the floating-point error of a sum', async () => {
    const amounts = [-45.09999999999991, 45.1000000001, 1.12345678];
    const [{ rows }] = await readXlsx(createWorkbook({ One: [['Amount'], amounts] }));
    expect(rows[1]?.cells).toEqual(['-45.1', '45.1', '1.12345678']);
  });

  it('reads the first sheet with a table, and names the others', async () => {
    const { rows, findings } = await readStatement(
      createWorkbook({ Cover: [['Bank of X'], ['Balance', 7]], One: STATEMENT, Two: [['x']] }),
    );
    expect(rows).toHaveLength(2);
    expect(findings).toContain(
      'the sheet "One" is read. To import another, save it as a separate file: "Cover", "Two"',
    );
  });

  it('makes transactions from the rows', async () => {
    const { rows, format } = await readStatement(createWorkbook({ One: STATEMENT }));
    expect(format).toBe('Excel');
    expect(rows).toMatchObject([
      { line: 4, date: '2025-12-30', type: 'expense', amount: 45.1, description: 'GROCER 12' },
      { line: 5, date: '2025-12-28', type: 'income', amount: 2500 },
    ]);
  });

  it('reads bytes that are part of a larger buffer', async () => {
    const bytes = createWorkbook({ One: [['a']] });
    const larger = new Uint8Array(bytes.length + 10);
    larger.set(bytes, 5);
    const [sheet] = await readXlsx(larger.subarray(5, 5 + bytes.length));
    expect(sheet.rows).toEqual([{ line: 1, cells: ['a'] }]);
  });

  it('refuses a workbook that unpacks to more bytes than a statement may have', async () => {
    const bytes = createWorkbook({ One: STATEMENT });
    const directory = Buffer.from(bytes).indexOf('PK\x01\x02', 0, 'latin1');
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(directory + 24, 2 ** 31, true);
    await expect(readXlsx(bytes)).rejects.toThrow(
      'The workbook unpacks to more than 256 MiB. Save its sheet as CSV.',
    );
  });

  it('refuses a workbook with a part larger than the archive declares', async () => {
    const bytes = createWorkbook({ One: [['a'.repeat(100_000)]] });
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    const start = bytes.byteOffset;
    for (let offset = 0; ; offset += 1) {
      offset = Buffer.from(bytes.buffer, start, bytes.length).indexOf(
        'PK\x01\x02',
        offset,
        'latin1',
      );
      if (offset < 0) break;
      view.setUint32(offset + 24, 10, true);
    }
    await expect(readXlsx(bytes)).rejects.toThrow('The workbook cannot be read.');
  });
});
