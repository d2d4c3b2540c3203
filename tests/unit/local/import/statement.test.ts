// Bank exports as they come: headers, delimiters, dates, amounts, and an id for each row.
import { describe, expect, it } from 'vitest';
import { CSV_COLUMNS } from '../../../../lib/http/transaction-csv.ts';
import { readStatement } from '../../../../local/import/statement.ts';

const read = (lines: readonly string[], options?: Parameters<typeof readStatement>[1]) =>
  readStatement(lines.join('\n'), options);

describe('readStatement', () => {
  it('reads an English export', () => {
    const { rows, errors } = read([
      'Date,Payee,Amount,Category',
      '2026-03-05,"Bakery, old town",-12.50,Food',
      '2026-03-06,Salary,"2,500.00",',
    ]);
    expect(errors).toEqual([]);
    expect(rows).toMatchObject([
      {
        ...{ line: 2, date: '2026-03-05', description: 'Bakery, old town' },
        ...{ amount: 12.5, type: 'expense', category: 'Food', notes: null },
      },
      { line: 3, amount: 2_500, type: 'income', category: null },
    ]);
  });

  it('reads a German one: byte order mark, semicolons, decimal comma, day first', () => {
    const { rows } = read([
      '\uFEFFBuchungstag;Verwendungszweck;Betrag',
      '05.03.2026;Bäcker;-1.234,50 €',
      '6.3.26;Gehalt;2500',
    ]);
    expect(rows).toMatchObject([
      { date: '2026-03-05', description: 'Bäcker', amount: 1_234.5, type: 'expense' },
      { date: '2026-03-06', amount: 2_500, type: 'income' },
    ]);
  });

  it('keeps the sign where there is a type, and an apostrophe that a bank wrote', () => {
    const { rows, isExport } = read([
      'transaction_date,description,amount,type,external_id',
      "2026-03-05,'t Hoen ,-5,expense,bank-1",
    ]);
    expect(isExport).toBe(false);
    expect(rows).toMatchObject([
      { description: "'t Hoen", amount: -5, type: 'expense', externalId: 'bank-1' },
    ]);
  });

  describe('of an export of this service', () => {
    const HEADER = CSV_COLUMNS.join(',');
    const exported = (cells: string) => `7,2026-03-05,${cells},2026-03-05T12:00:00.000Z,`;

    it('takes one apostrophe away, trims nothing, and gives no id to what has none', () => {
      const { rows, isExport, errors } = read([
        HEADER,
        exported("''=SUM(A1),-5,expense,'+Food,\" x \","),
        exported("'=1,0.5,income,,','-1"),
      ]);
      expect([isExport, errors]).toEqual([true, []]);
      const date = '2026-03-05';
      expect(rows).toEqual([
        {
          ...{ line: 2, date, description: "'=SUM(A1)", amount: -5, type: 'expense' },
          ...{ category: '+Food', notes: ' x ', externalId: null },
        },
        {
          ...{ line: 3, date, description: '=1', amount: 0.5, type: 'income' },
          ...{ category: null, notes: '', externalId: '-1' },
        },
      ]);
    });

    it('may have no rows', () => {
      expect(read([HEADER, ''])).toMatchObject({ isExport: true, rows: [], errors: [] });
    });

    it('is not one where columns are missing or in another order', () => {
      const [id = '', ...others] = CSV_COLUMNS;
      for (const columns of [others, [...others, id], [...CSV_COLUMNS, 'more']]) {
        expect(read([columns.join(',')]).isExport).toBe(false);
      }
    });
  });

  it('takes named columns', () => {
    const columns = { date: 'When', amount: 'How much', description: 'What', externalId: 'No' };
    const { rows } = read(['No,What,When,How much', '7,Tea,2026-01-02,-3'], { columns });
    expect(rows).toMatchObject([{ description: 'Tea', amount: 3, externalId: '7' }]);
  });

  it('gives equal rows ids of their own, the same at each reading', () => {
    const file = ['date,name,amount', ...Array(3).fill('2026-01-02,Tea,-3'), '2026-01-02,Tea,-4'];
    const ids = read(file).rows.map(({ externalId }) => externalId);
    expect(new Set(ids).size).toBe(4);
    expect(read(file).rows.map(({ externalId }) => externalId)).toEqual(ids);
    // A later export begins with other rows.
    const later = ['date,name,amount', '2026-01-03,Bus,-2', ...file.slice(1)];
    expect(read(later).rows.map(({ externalId }) => externalId)).toEqual(
      expect.arrayContaining(ids),
    );
  });

  it.each([
    [['05/03/2026', '28/03/2026'], undefined, '2026-03-05'],
    [['05/03/2026', '03/28/2026'], undefined, '2026-05-03'],
    [['05/03/2026'], 'dmy', '2026-03-05'],
    [['05/03/2026'], 'mdy', '2026-05-03'],
  ] as const)('dates %j, order %s: %s', (dates, dateOrder, first) => {
    const file = ['date,name,amount', ...dates.map((date) => `${date},x,1`)];
    expect(read(file, { dateOrder }).rows[0]?.date).toBe(first);
  });

  it('asks for the order of dates that can be read in two ways', () => {
    expect(() => read(['date,name,amount', '05/03/2026,x,1'])).toThrow('--date-order');
  });

  it('names the line of a row that cannot be read, and reads the others', () => {
    const { rows, errors } = read([
      'date,name,amount,type',
      '2026-02-30,x,1,',
      '2026-02-28,x,much,',
      '2026-02-28,x,1.234,',
      '2026-02-28,x,1,transfer',
      '2026-02-28,x,1,income',
    ]);
    expect(errors.map(({ line }) => line)).toEqual([2, 3, 4, 5]);
    expect(rows.map(({ line }) => line)).toEqual([6]);
  });

  it.each([
    [['name,amount', 'x,1'], '--date'],
    [['date,name,amount,"open', '2026-01-01,x,1'], 'not valid CSV'],
  ])('refuses %j', (file, message) => {
    expect(() => read(file)).toThrow(message);
  });

  it.each(['', '\n\r\n', '\uFEFF'])('says of %j that it is empty', (file) => {
    expect(() => readStatement(file)).toThrow('The file is empty');
  });

  it('refuses a named column that is not there', () => {
    const columns = { category: 'Kind' };
    expect(() => read(['date,name,amount', '2026-01-01,x,1'], { columns })).toThrow('--category');
  });
});
