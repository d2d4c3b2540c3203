// Bank statements: headers, delimiters, dates, amounts, and an id for each row.
import { describe, expect, it } from 'vitest';
import { CSV_COLUMNS } from '../../../../lib/ledger/http/transaction-csv.ts';
import { readDates } from '../../../../lib/ledger/import/dates.ts';
import { readCsv, splitTrailer } from '../../../../lib/ledger/import/statement.ts';

type Options = Parameters<typeof readCsv>[1];

const read = (lines: readonly string[], options?: Options) => readCsv(lines.join('\n'), options);

/** Reads a file, in which `|` ends a line. @returns the rows as lines of text, and the numbers of the refused lines */
function readAndFormat(file: string, options?: Options) {
  const { rows, refused } = read(file.split('|'), options);
  return {
    rows: rows.map(
      ({ line, date, type, amount, description, category }) =>
        `${line}: ${date} ${type} ${amount} ${description}${category ? ` (${category})` : ''}`,
    ),
    refused: refused.map(({ line }) => line),
  };
}

const WORDS = { income: ['CR'], expense: ['DR', 'Fee'] };
const UNKNOWN_TYPES = 'date,name,amount,Type|2026-01-02,a,-3,Card|2026-01-02,b,2,Transfer';
const UNSIGNED = 'date,name,amount,Type|2026-01-02,a,3,DR|2026-01-02,b,2,cr ';
const SIGNED = `${UNSIGNED.replace(',3,', ',-3,')}|2026-01-02,c,-1,fee`;
const ROWS_A_AND_B = ['2: 2026-01-02 expense 3 a', '3: 2026-01-02 income 2 b'];
const REFUNDED = 'date;name;Debit;Credit|2026-01-02;x;5;|2026-01-02;x;6;|2026-01-02;x;-5;';

it.each<[content: string, file: string, options: Options, rows: string[], refused?: number[]]>([
  [
    'an English export',
    'Date,Payee,Amount,Category|2026-03-05,"Bakery, old town",-12.50,Food|2026-03-06,Salary,"2,500.00",',
    {},
    ['2: 2026-03-05 expense 12.5 Bakery, old town (Food)', '3: 2026-03-06 income 2500 Salary'],
  ],
  [
    'a German export: byte order mark, semicolons, decimal comma, day first',
    '\uFEFFBuchungstag;Verwendungszweck;Betrag|05.03.2026;Bäcker;-1.234,50 €|6.3.26;Gehalt;2500',
    {},
    ['2: 2026-03-05 expense 1234.5 Bäcker', '3: 2026-03-06 income 2500 Gehalt'],
  ],
  [
    'a type that agrees with the sign, and an apostrophe that the bank wrote',
    "transaction_date,description,amount,type|2026-03-05,'t Hoen ,-5,expense",
    {},
    ["2: 2026-03-05 expense 5 't Hoen"],
  ],
  [
    'a header that only the named columns identify',
    'date,name,amount|When\tWhat\tHow much|2026-01-02\tTea, mint\t-3',
    { columns: { date: 'When', amount: 'How much', description: 'What' } },
    ['3: 2026-01-02 expense 3 Tea, mint'],
  ],
  [
    'texts written as formulas, which keep spreadsheets from changing them',
    '="Date","=""Payee""",="Amount"|="2026-03-05",="Bakery ""Old Town""",="-12.50"|="2026-03-06",Salary,"=""2,500.00"""',
    {},
    ['2: 2026-03-05 expense 12.5 Bakery "Old Town"', '3: 2026-03-06 income 2500 Salary'],
  ],
  [
    'other formulas as plain text',
    'date,name,amount|2026-01-02,"=""a""&""b""",-3|2026-01-02,="c,-3',
    {},
    ['2: 2026-01-02 expense 3 ="a"&"b"', '3: 2026-01-02 expense 3 ="c'],
  ],
  [
    'quotes within a cell',
    'date,name,amount|2026-01-02,The "Old" Pub,-3',
    {},
    ['2: 2026-01-02 expense 3 The "Old" Pub'],
  ],
  [
    'positive amounts as expenses if that option is chosen',
    'date,name,amount|2026-01-02,Tea,3|2026-01-02,Refund,-2',
    { isInverted: true },
    ['2: 2026-01-02 expense 3 Tea', '3: 2026-01-02 income 2 Refund'],
  ],
  ['the sign if the words of a type column are unknown', UNKNOWN_TYPES, {}, ROWS_A_AND_B],
  [
    'the sign if the words of a named type column are unknown',
    UNKNOWN_TYPES,
    { columns: { type: 'Type' } },
    ROWS_A_AND_B,
  ],
  [
    'the sign if the type column is ignored',
    UNKNOWN_TYPES,
    { columns: { type: 'none' } },
    ROWS_A_AND_B,
  ],
  ['the direction from chosen words', UNSIGNED, { words: WORDS }, ROWS_A_AND_B],
  ['the direction from words that banks use', UNSIGNED, {}, ROWS_A_AND_B],
  [
    'chosen words, even if expenses have a minus',
    SIGNED,
    { words: WORDS },
    [...ROWS_A_AND_B, '4: 2026-01-02 expense 1 c'],
  ],
  [
    'all rows as income if the words are ignored and no amount has a sign',
    UNSIGNED,
    { columns: { type: 'none' } },
    ['2: 2026-01-02 income 3 a', '3: 2026-01-02 income 2 b'],
  ],
  [
    'the reversal of a debit as income',
    REFUNDED,
    {},
    ['2: 2026-01-02 expense 5 x', '3: 2026-01-02 expense 6 x', '4: 2026-01-02 income 5 x'],
  ],
  [
    'numbers with a sign, and numbers with a word instead of a sign',
    'date,name,amount|2026-01-02,a,5.00 DR|2026-01-02,b,5.00 CR|2026-01-02,c,-3.00|2026-01-02,d,4.00',
    {},
    [
      '2: 2026-01-02 expense 5 a',
      '3: 2026-01-02 income 5 b',
      '4: 2026-01-02 expense 3 c',
      '5: 2026-01-02 income 4 d',
    ],
  ],
  [
    'numbers with a sign, and one number with the word for an expense',
    'date,name,amount|2026-01-02,a,5.00 DR|2026-01-02,b,-3.00|2026-01-02,c,-4.00',
    {},
    ['2: 2026-01-02 expense 5 a', '3: 2026-01-02 expense 3 b', '4: 2026-01-02 expense 4 c'],
  ],
  [
    'only numbers with a word or sign if both words occur',
    'date,name,amount|2026-01-02,a,5.00 DR|2026-01-02,b,5.00 CR|2026-01-02,c,4.00',
    {},
    ['2: 2026-01-02 expense 5 a', '3: 2026-01-02 income 5 b'],
    [4],
  ],
  ...['DR/CR', 'Foo', ''].map((header): [string, string, Options, string[]] => [
    `rows without a word as expenses if the column "${header}" has only the word for income`,
    `date,name,amount,${header}|2026-01-02,a,5,|2026-01-02,b,3,|2026-01-02,c,9,CR`,
    {},
    ['2: 2026-01-02 expense 5 a', '3: 2026-01-02 expense 3 b', '4: 2026-01-02 income 9 c'],
  ]),
  [
    'only rows with a word if the column has only the word for expenses',
    'date,name,amount,Type|2026-01-02,a,5,Debit|2026-01-02,b,3,Debit|2026-01-02,c,9,',
    {},
    ['2: 2026-01-02 expense 5 a', '3: 2026-01-02 expense 3 b'],
    [4],
  ],
  [
    'the signs, even if every balance is marked CR',
    'Date,Description,Amount,Balance,|2026-01-01,TESCO,-45.10,954.90,CR|2026-01-02,SHELL,-20.00,934.90,CR',
    {},
    ['2: 2026-01-01 expense 45.1 TESCO', '3: 2026-01-02 expense 20 SHELL'],
  ],
  [
    'only rows with a word if the column has both words',
    'date,name,amount,DR/CR|2026-01-02,a,5,DR|2026-01-02,b,3,|2026-01-02,c,9,CR',
    {},
    ['2: 2026-01-02 expense 5 a', '4: 2026-01-02 income 9 c'],
    [3],
  ],
  [
    'the numbered headers of an app, with columns for expenses and income',
    '(1)Date,(2)Item or Payee,(3)Outcome,(4)Income|2026-01-02,a,5,0|2026-01-02,b,0,9',
    {},
    ['2: 2026-01-02 expense 5 a', '3: 2026-01-02 income 9 b'],
  ],
  [
    'only rows with either a debit or a credit',
    'date;name;Debit;Credit|2026-01-02;x;1;2|2026-01-02;x;;|2026-01-02;x;1;',
    {},
    ['4: 2026-01-02 expense 1 x'],
    [2, 3],
  ],
  [
    'a column of amounts rather than debit and credit',
    'date;name;Amount;Debit;Credit|2026-01-02;x;-7;1;',
    {},
    ['2: 2026-01-02 expense 7 x'],
  ],
  [
    'named columns for debit and credit rather than a column of amounts',
    'date;name;Amount;Ab;Auf|2026-01-02;x;-7;;1',
    { columns: { debit: 'Ab', credit: 'Auf' } },
    ['2: 2026-01-02 income 1 x'],
  ],
  [
    'the other rows if some cannot be read',
    'date,name,amount,type|2026-02-30,x,1,|2026-02-28,x,much,|2026-02-28,x,1.234,|2026-02-28,x,1,fee|2026-02-28,x,1,income',
    {},
    ['6: 2026-02-28 income 1 x'],
    [2, 3, 4, 5],
  ],
])('the importer reads %s', (_, file, options, rows, refused = []) => {
  expect(readAndFormat(file, options)).toEqual({ rows, refused });
});

it.each(['Debit;Credit', 'Money Out;Money In', 'Soll;Haben', 'Paid out (GBP);Paid in (GBP)'])(
  'the importer finds the columns %s, whether or not debits have a minus',
  (header) => {
    for (const [debit, credit] of [
      ['1.234,50;', ';2,00'],
      ['-1.234,50;', ';2,00'],
      ['1.234,50;0,00', '0,00;2,00'],
    ])
      expect(
        readAndFormat(`date;name;${header}|2026-01-02;x;${debit}|2026-01-02;x;${credit}`),
      ).toEqual({
        rows: ['2: 2026-01-02 expense 1234.5 x', '3: 2026-01-02 income 2 x'],
        refused: [],
      });
  },
);

describe('an export of this service', () => {
  const HEADER = CSV_COLUMNS.join(',');
  const createExportedLine = (cells: string) => `7,2026-03-05,${cells},2026-03-05T12:00:00.000Z,`;

  it('is read without its protective apostrophes, untrimmed, and without ids made from its rows', () => {
    const { rows, isExport, refused } = read([
      HEADER,
      createExportedLine("''=SUM(A1),-5,expense,'+Food,\" x \","),
      createExportedLine("'=1,0.5,income,,','-1"),
    ]);
    expect([isExport, refused]).toEqual([true, []]);
    const date = '2026-03-05';
    const record = { id: '7', createdAt: '2026-03-05T12:00:00.000Z', updatedAt: '' };
    expect(rows).toEqual([
      {
        line: 2,
        date,
        description: "'=SUM(A1)",
        amount: -5,
        type: 'expense',
        category: '+Food',
        notes: ' x ',
        externalId: null,
        bankId: null,
        legacyBankId: null,
        exported: record,
      },
      {
        line: 3,
        date,
        description: '=1',
        amount: 0.5,
        type: 'income',
        category: null,
        notes: '',
        externalId: '-1',
        bankId: null,
        legacyBankId: null,
        exported: record,
      },
    ]);
  });

  it('may have no rows', () => {
    expect(read([HEADER, ''])).toMatchObject({ isExport: true, rows: [], refused: [] });
  });

  it('is not recognized if columns are missing, added or in another order', () => {
    const [id = '', ...others] = CSV_COLUMNS;
    for (const columns of [others, [...others, id], [...CSV_COLUMNS, 'more']]) {
      expect(read([columns.join(',')]).isExport).toBe(false);
    }
  });
});

it('the importer reads the id from a named column', () => {
  const columns = { date: 'When', amount: 'How much', description: 'What', externalId: 'No' };
  const { rows, isExport } = read(['No,What,When,How much', '7,Tea,2026-01-02,-3'], { columns });
  expect([rows[0]?.externalId, isExport]).toEqual(['7 2026-01-02 -3', false]);
});

it('the importer gives equal rows different ids, which are the same each time', () => {
  const file = ['date,name,amount', ...Array(3).fill('2026-01-02,Tea,-3'), '2026-01-02,Tea,-4'];
  const ids = read(file).rows.map(({ externalId }) => externalId);
  expect(new Set(ids).size).toBe(4);
  expect(read(file).rows.map(({ externalId }) => externalId)).toEqual(ids);
  // A later export begins with other rows.
  const laterFile = ['date,name,amount', '2026-01-03,Bus,-2', ...file.slice(1)];
  expect(read(laterFile).rows.map(({ externalId }) => externalId)).toEqual(
    expect.arrayContaining(ids),
  );
});

describe('amounts', () => {
  const readAmounts = (amounts: readonly string[], options = {}) => {
    const lines = amounts.map((amount) => `2026-01-02\tx\t${amount}`);
    const { rows, refused, decimal } = read(['date\tname\tamount', ...lines], options);
    const signed = rows.map(({ amount, type }) => (type === 'expense' ? -amount : amount));
    return { decimal, amounts: signed, refused: refused.map(({ line }) => line) };
  };

  it.each([
    [['-900.00', '-3.20', '-4,50'], 'point', [-900, -3.2], [4]],
    [['-900,00', '-3,20', '-4.50', '-0.99', '1,0'], 'comma', [-900, -3.2, 1], [4, 5]],
    [['-900.5', '1,5'], 'point', [-900.5], [3]],
  ])(
    '%j have a decimal %s: reads %j, refuses the lines %j',
    (written, decimal, amounts, refused) => {
      expect(readAmounts(written)).toEqual({ decimal, amounts, refused });
    },
  );

  it.each(['1234567,5', '1.234.567,50', "1'234'567,5", '1 234 567,50', '1\u00a0234\u00a0567,5'])(
    'reads %s',
    (written) => {
      expect(readAmounts([written])).toMatchObject({ amounts: [1_234_567.5] });
    },
  );

  it.each(['1.23.456', '12345.678', "1.234'567", '1.2345', '0.123', '1€50', '--5', '1..234', '(5'])(
    'refuses %s',
    (written) => {
      expect(readAmounts([written], { decimal: 'comma' })).toMatchObject({ refused: [2] });
    },
  );

  it.each([
    '(5.00)',
    '5.00-',
    '-$5.00',
    '$-5',
    '($5.00)',
    '5.00- EUR',
    '( 5.00 )',
    '− 5.00 €',
    'EUR -5',
  ])('reads %s as an expense', (written) => {
    expect(readAmounts([written])).toMatchObject({ amounts: [-5] });
  });

  it.each([
    ['a long number without groups', ['-25,500', '25000,000'], [-25.5, 25_000]],
    ['a number below one', ['-1.250', '100.000', '0.500'], [-1.25, 100, 0.5]],
    ['both signs in one number', ['-1.025,500', '900,000'], [-1025.5, 900]],
  ])('recognizes a third decimal by %s: reads %j as %j', (_, written, amounts) => {
    expect(readAmounts(written)).toMatchObject({ amounts, refused: [] });
  });

  it.each([
    ['a number with two groups', ['-25,500', '1,900,000'], [-25_500, 1_900_000]],
    ['a number with two decimals', ['1,250', '-12.50'], [1250, -12.5]],
    ['the sign for yen', ['-25,500 円', '900,000'], [-25_500, 900_000]],
    ['the code of a currency without decimals', ['-25.500 IDR', '900.000'], [-25_500, 900_000]],
  ])('recognizes groups of three digits by %s', (_, written, amounts) => {
    expect(readAmounts(written)).toMatchObject({ amounts, refused: [] });
  });

  it.each([
    'お支払日;お支払い先;金額|2026年11月05日;コンビニ;"-1,200"',
    '日付;内容;出金金額;入金金額;残高|2026年11月05日;コンビニ;"1,200";;"98,800"',
    'Ngày;Nội dung;Amount|2026-11-05;Cafe;"-1,200"',
    'Rekening Rp;|Date;Text;Amount|2026-11-05;Kopi;-1.200',
  ])('does not ask for the decimal sign in a currency without decimals: %s', (file) => {
    const { rows, questions } = read(file.split('|'));
    expect([rows, questions]).toMatchObject([[{ amount: 1200, type: 'expense' }], []]);
  });

  it('reads three decimals of a currency that has them', () => {
    expect(readAmounts(['KWD 1.250', '12.500'])).toMatchObject({ amounts: [1.25, 12.5] });
    expect(readAmounts(['KWD 1.250', '1.234'])).toMatchObject({ amounts: [1.25], refused: [3] });
  });

  it.each([
    ['1,234', 'point', 'comma'],
    ['1.234', 'comma', 'point'],
    ['-25,500', 'point', 'comma'],
  ])('asks whether %s means thousands or has three decimals', (amount, thousands, decimals) => {
    const file = ['date\tname\tamount', `2026-01-02\tx\t${amount}`, '2026-01-03\ty\t12000'];
    expect(read(file).questions.slice(0, 1)).toMatchObject([
      {
        topic: 'decimal',
        message: expect.stringMatching(
          `--decimal ${thousands} if it is thousands, or --decimal ${decimals}`,
        ),
      },
    ]);
    for (const decimal of ['point', 'comma'] as const)
      expect(read(file, { decimal }).questions.map(({ topic }) => topic)).not.toContain('decimal');
  });

  it('accepts three decimals with a chosen decimal sign, and keeps two', () => {
    const decimal = 'comma';
    expect(readAmounts(['-25,500', '9,250'], { decimal })).toMatchObject({
      amounts: [-25.5, 9.25],
    });
    const { refused } = read(['date\tname\tamount', '2026-01-02\tx\t1,234'], { decimal });
    expect(refused[0]?.message).toBe(
      '"1,234" has more than two decimals, and a ledger keeps only two; if they are thousands, choose --decimal point',
    );
  });

  it('refuses a third decimal other than zero', () => {
    expect(readAmounts(['-25000.005', '3.000'])).toMatchObject({ refused: [2, 3] });
  });

  it('recognizes the sign between groups by a number with several groups', () => {
    const amounts = [-50_000, 15_000_000];
    expect(readAmounts(['-50.000', '15.000.000'])).toMatchObject({ amounts, refused: [] });
  });

  it('uses the chosen decimal sign, and names the option when it refuses an amount', () => {
    const decimal = 'comma';
    expect(readAmounts(['1.500'], { decimal })).toMatchObject({ amounts: [1_500] });
    const { refused } = read([
      'date\tname\tamount',
      '2026-01-02\tx\t1,5',
      '2026-01-02\tx\t1.50',
      '2026-01-02\tx\t1.25',
    ]);
    expect(refused).toMatchObject([{ line: 2, message: expect.stringContaining('--decimal') }]);
  });
});

describe('bank ids', () => {
  const HEADER = 'date,name,amount,Account';
  const columns = { externalId: 'Account' };

  it('make the importer refuse rows with the same id that differ in any column', () => {
    const { rows, refused } = read(
      [
        `${HEADER},Balance`,
        ...['Tea,-3,Giro,7', 'Tea,-3,Giro,4', 'Pay,9,,4'].map((row) => `2026-01-02,${row}`),
      ],
      { columns },
    );
    expect(rows).toMatchObject([{ line: 4 }]);
    expect(refused).toMatchObject([
      { line: 2, message: expect.stringContaining('line 3 has the same id "Giro"') },
      { line: 3, message: expect.stringContaining('line 2 has the same id "Giro"') },
    ]);
  });

  it('make the importer read equal rows with the same id as one row, and list the repeated lines', () => {
    const lines = [HEADER, ...Array(3).fill('2026-01-02,Tea,-3,7')];
    const { rows, leftOut, refused } = read(lines, { columns });
    expect([rows.length, refused]).toEqual([1, []]);
    const reason = 'equal to an earlier row with the same id';
    const text = 'line 2 again, with the id "7": 2026-01-02 -3 Tea';
    expect(leftOut).toEqual([3, 4].map((line) => ({ line, reason, text })));
  });

  it.each(['1.23457E+15', '1,23457E+15', '123456789012345000'])(
    'are ignored, so that every row is kept, if a spreadsheet has rounded several to %s',
    (id) => {
      const row = `2026-01-02;Tea;-3;${id}`;
      const lines = ['date;name;amount;Transaction ID', row, row, row.replace('Tea', 'Bus')];
      const { rows, leftOut, refused, findings } = read(lines);
      expect([rows.length, leftOut, refused]).toEqual([3, [], []]);
      expect(findings).toEqual([
        `3 rows with an id that a spreadsheet has rounded, such as "${id}": read without the id`,
      ]);
    },
  );

  it('that end in zeros do not count as rounded if another id does not end in zeros', () => {
    const ids = ['202601011200001000', '202601011200001001'];
    const rows = ids.map((id) => `2026-01-02,Tea,-3,${id}`);
    const readRows = read(['date,name,amount,Transaction ID', ...rows]).rows;
    expect(readRows.map(({ bankId }) => bankId)).toEqual(ids);
  });
});

it.each(['0', '000', '-', 'N/A', 'n/a', 'none', 'NOTPROVIDED'])(
  'the importer keeps all equal rows if %j means that they have no id',
  (id) => {
    const coffee = `2026-01-02,Coffee,-3,${id}`;
    const { rows, leftOut, refused } = read([
      'date,name,amount,Transaction ID',
      ...['2026-01-03,Rent,-900,A1', coffee, coffee, coffee.replace('Coffee', 'Cake')],
    ]);
    expect([rows.length, leftOut, refused]).toEqual([4, [], []]);
  },
);

describe('ids made from rows', () => {
  const FILE = ['date,name,memo,amount', '2026-01-02,Tea,mint,-3'];
  const readIds = (options?: Parameters<typeof read>[1], file: readonly string[] = FILE) =>
    read(file, options).rows.map(({ externalId }) => externalId);

  it('differ by account, and are the same each time', () => {
    const ids = [readIds(), readIds({ account: 'Giro' }), readIds({ account: 'Card' })];
    expect(new Set(ids.flat()).size).toBe(3);
    expect(readIds({ account: 'Giro' })).toEqual(ids[1]);
  });

  it('do not depend on which columns are read, or how', () => {
    const optionSets = [{ columns: { description: 'memo' } }, { isInverted: true }];
    for (const options of optionSets) expect(readIds(options)).toEqual(readIds());
  });

  it('do not depend on the delimiter, lines before the header, or refused rows', () => {
    const file = ['My bank', ...FILE, 'x,Tea,mint,-3'].map((line) => line.replaceAll(',', ';'));
    expect(readIds({}, file)).toEqual(readIds());
  });

  it('differ if a column that is not read differs', () => {
    expect(readIds({}, [...FILE, '2026-01-02,Tea,black,-3'])[1]).not.toBe(readIds()[0]);
  });

  it('are accompanied by the ids of earlier versions', () => {
    const { rows } = read(['date,name,amount', ...Array(2).fill('2026-01-02,Tea,-3')]);
    expect(rows.flatMap(({ otherIds }) => otherIds?.() ?? [])).toEqual([
      'csv-25a2528591d134b7337b3251849837ba-1',
      'csv-25a2528591d134b7337b3251849837ba-2',
    ]);
  });
});

describe('lines before the header and after the rows', () => {
  it('reads the rows between them, and names the lines that it refuses', () => {
    const { headerLine, rows, refused, leftOut } = read([
      'Umsatzanzeige;Datei erstellt am: 10.03.2026',
      'Kunde;"Jo ""J"" Doe"',
      '""',
      'Zeitraum;01.03.2026 - 10.03.2026;;;',
      ';;""',
      'Buchungstag;Verwendungszweck;Saldo;Betrag;',
      '05.03.2026;Bäcker;7,00;-3,20;',
      '06.03.2026;"Miete;',
      'März";7,00;-900,00',
      '',
      '07.03.2026;Kino;7,00',
      ';;;',
      '08.03.2026;Bus;7,00;-2,50;;x',
      'Saldo;;;7,00;',
      'Alle Angaben ohne Gewähr.',
    ]);
    expect(headerLine).toBe(6);
    expect(rows).toMatchObject([
      { line: 7, description: 'Bäcker', amount: 3.2 },
      { line: 8, description: 'Miete;\nMärz', amount: 900 },
    ]);
    expect(refused).toMatchObject([
      { line: 11, message: 'It has 3 cells, the header 4.' },
      { line: 13, message: 'It has 6 cells, the header 4.' },
    ]);
    expect(leftOut).toMatchObject([
      { line: 14, reason: 'a balance or total' },
      { line: 15, reason: 'without date and amount' },
    ]);
  });

  it.each(['\r\n', '\n', '\r'])(
    'names a row of several lines by the number of the first, with %j as the line break',
    (lineBreak) => {
      const file = 'date,name,amount|2026-01-02,"a|b||c",-1||2026-01-03,Tea,-3|x,"d|e",1|';
      const { rows, refused } = readCsv(file.replaceAll('|', lineBreak));
      expect([...rows, ...refused].map(({ line }) => line)).toEqual([2, 7, 8]);
    },
  );

  it('does not mistake a row with a truncated amount for a note by the bank', () => {
    const statement = read(['date,name,amount', '2026-01-02,x,-1.00', '2026-01-03,y,-12.']);
    expect(splitTrailer(statement, undefined)).toMatchObject({
      trailer: [],
      refused: [{ line: 3 }],
    });
  });

  it('leaves out the given number of lines after the rows', () => {
    const lines = ['date,name,amount', '2026-01-02,Tea', '2026-01-02,Tea,-3', 'Note,,x', 'End'];
    const statement = read(lines);
    const listRefused = (trailer?: number) => {
      const { refused } = splitTrailer(statement, trailer);
      return refused.map(({ line }) => line);
    };
    expect([listRefused(), listRefused(2)]).toEqual([[2, 4], [2]]);
    for (const trailer of [0, 3]) expect(() => listRefused(trailer)).toThrow('2 unreadable lines');
    expect(splitTrailer(read(lines.slice(0, 3)), 0).refused).toMatchObject([{ line: 2 }]);
    // If there is no row, no line can come after the rows.
    expect(splitTrailer(read(lines.slice(0, 2)), undefined).trailer).toEqual([]);
  });
});

describe('texts of a row', () => {
  const readTexts = (file: string, options?: Options) =>
    read(file.split('|'), options).rows.map(({ description, notes }) => [description, notes]);

  it.each<[content: string, file: string, texts: (string | null)[][]]>([
    [
      'the other party and the purpose',
      'Buchungstag;Wertstellung;Auftraggeber/Empfänger;Verwendungszweck;Betrag;Saldo|03.11.2026;03.11.2026;Vermieter GmbH;Miete Nov;-900,00;100,00|04.11.2026;04.11.2026;;Gebühr;-1,00;99,00',
      [
        ['Vermieter GmbH', 'Miete Nov'],
        ['Gebühr', null],
      ],
    ],
    [
      'separate notes, and repeated texts only once',
      'Date,Payee,Description,Memo,Note,Amount|2026-01-02,Shop,Shop,Tea,for Ann,-3',
      [['Shop', 'for Ann; Tea']],
    ],
    [
      'the full form of a name that another column truncates',
      'Date,Payee,Memo,Amount|2026-01-02,Rail and Sail Ho,Rail and Sail Holidays,-3',
      [['Rail and Sail Holidays', null]],
    ],
    [
      'the other party, not the owner of the account',
      'Date;Zahlungspflichtige*r;Zahlungsempfänger*in;Verwendungszweck;Betrag|2026-01-02;Acme;Ann;Pay;9|2026-01-02;Ann;Shop;Tea;-3|2026-01-02;DE02120300000000202051;Ann;Gift;7|2026-01-02;UK24 LTD;Ann;Wage;8',
      [
        ['Acme', 'Pay'],
        ['Shop', 'Tea'],
        ['Ann', 'Gift'],
        ['UK24 LTD', 'Wage'],
      ],
    ],
    [
      'the description below a header whose names contain numbers',
      'Date,Name,E2E,Text1,Text2,Amount|2026-01-02,Shop,,,,-3',
      [['Shop', null]],
    ],
    [
      'texts in unknown columns if they differ and are not codes',
      `Date,A,B,C,Amount|${['Tea', 'Bus', 'Car'].map((text) => `2026-01-02,Cash,${text},EUR,-3`).join('|')}`,
      ['Tea', 'Bus', 'Car'].map((text) => [text, null]),
    ],
    [
      'only the description, without words for the direction or the type of an entry',
      'Details,Posting Date,Description,Buchungstext,Amount|DEBIT,01/13/2026,Taxi,Lastschrift,-3|CREDIT,01/14/2026,Pay,Gutschrift,9',
      [
        ['Taxi', null],
        ['Pay', null],
      ],
    ],
  ])('keeps %s', (_, file, expected) => {
    expect(readTexts(file)).toEqual(expected);
  });

  it('joins several named columns of notes', () => {
    const file = 'Date,Payee,Foo,Bar,Amount|2026-01-02,Shop,Tea,Mint,-3';
    expect(readTexts(file, { columns: { notes: 'Foo,Bar' } })).toEqual([['Shop', 'Tea, Mint']]);
  });

  it('are listed with their columns', () => {
    const file = 'Date,Payee,Memo,Amount|2026-01-02,Shop,Tea,-3'.split('|');
    expect(read(file).columns).toMatchObject({ description: ['Payee', 'Memo'], notes: ['Memo'] });
    const columns = { description: 'Payee,Memo' };
    expect(read(file, { columns }).columns).not.toHaveProperty('notes');
  });
});

it('the importer names the columns that it ignores', () => {
  const file = ['date,name,,Balance,amount,type', '2026-01-02,Tea,,7,-3,Card'];
  const { ignored, columns } = read(file);
  expect(ignored).toEqual(['Balance', 'type']);
  expect(Object.keys(columns)).toEqual(['date', 'description', 'amount']);
});

it('the importer refuses rows that the API would refuse, and names their lines', () => {
  const { rows, refused } = read([
    'date,name,amount,category,notes,reference',
    `2026-01-02,Tea,-3,${'c'.repeat(256)},,`,
    `2026-01-02,${'d'.repeat(1_001)},-3,,,`,
    `2026-01-02,Tea,-3,,${'n'.repeat(5_001)},`,
    '2026-01-02,Tea,-1000000000000,,,',
    `2026-01-02,Tea,-3,${'c'.repeat(255)},,`,
  ]);
  expect(refused).toMatchObject([
    { line: 2, message: 'category: Must be at most 255 characters.' },
    { line: 3, message: 'description: Must be at most 1000 characters.' },
    { line: 4, message: 'notes: Must be at most 5000 characters.' },
    { line: 5, message: expect.stringContaining('amount: Must lie between') },
  ]);
  expect(rows).toMatchObject([{ line: 6 }]);
});

it.each([
  [['05/03/2026', '28/03/2026'], undefined, '2026-03-05'],
  [['05/03/2026', '03/28/2026'], undefined, '2026-05-03'],
  [['05/03/2026'], 'dmy', '2026-03-05'],
  [['05/03/2026'], 'mdy', '2026-05-03'],
  [['2026-02-28', '2026-02-28', '28.02.2026', '13/13/2026', '?'], undefined, '2026-02-28'],
  [['2026-02-28', '30/02/2026', 'a.b.c'], undefined, '2026-02-28'],
] as const)(
  'the importer reads the dates %j in the order %s: the first is %s',
  (dates, dateOrder, first) => {
    const file = ['date,name,amount', ...dates.map((date) => `${date},x,1`)];
    expect(read(file, { dateOrder }).rows[0]?.date).toBe(first);
  },
);

it.each([
  ['03/10/2569', '2026-10-03'],
  ['115/10/03', '2026-10-03'],
  ['03 octombrie 2026', '2026-10-03'],
  ['17:02 03/10/2026', '2026-10-03'],
])('the importer reads the date %s', (written, date) => {
  const { rows } = read(['Date;Text;Amount', `${written};a;-1.00`], { dateOrder: 'dmy' });
  expect(rows.map((row) => row.date)).toEqual([date]);
});

const LANGUAGES = [
  ...[
    'en',
    'de',
    'de-AT',
    'fr',
    'fr-CA',
    'es',
    'it',
    'pt',
    'nl',
    'sv',
    'da',
    'nb',
    'fi',
    'is',
    'pl',
  ],
  ...['cs', 'sk', 'sl', 'hu', 'ro', 'tr', 'ru', 'uk', 'bg', 'el', 'et', 'lt'],
];

const STYLES = ['short', 'long'] as const;
const FIFTEENTHS = Array.from({ length: 12 }, (_, n) => new Date(Date.UTC(2025, n, 15)));

function readMonths(language: string, month: (typeof STYLES)[number]) {
  const format = { day: 'numeric', month, year: 'numeric', timeZone: 'UTC' } as const;
  const intl = new Intl.DateTimeFormat(language, format);
  const texts = FIFTEENTHS.map((date) => intl.format(date));
  const dates = readDates(texts, { today: '2026-11-26', isDayFirst: true });
  return texts.map((text) => dates.read(text));
}

it.each(LANGUAGES)('the importer reads the names of months in the language %s', (language) => {
  const expected = FIFTEENTHS.map((date) => date.toISOString().slice(0, 10));
  for (const style of STYLES) expect(readMonths(language, style)).toEqual(expected);
});

it('the importer reads Croatian names that mean other months in Polish, and refuses those that may be Czech', () => {
  expect(readMonths('hr', 'long')).toHaveLength(12);
  expect(readMonths('hr', 'long')[9]).toBe('2025-10-15');
  expect(readMonths('pl', 'long')[10]).toBe('2025-11-15');
  const lines = [
    'Date;Text;Amount',
    ...['lip', 'lis', 'srp'].map((name) => `15. ${name} 2025.;a;-1.00`),
  ];
  const { rows, refused } = read(lines);
  expect(rows.map(({ date }) => date)).toEqual(['2025-06-15']);
  expect(refused.map(({ line }) => line)).toEqual([3, 4]);
});

it('the importer refuses a row above the first readable date if no line names the columns', () => {
  const { rows, refused } = read([
    ...['Pva;Selite;Mr', '27 tuntematon 2025;a;-45,10', '28 tammikuuta 2025;b;-5,00'],
    '29 tammikuuta 2025;c;-6,00',
  ]);
  expect(rows.map(({ description }) => description)).toEqual(['b', 'c']);
  expect(refused.map(({ line }) => line)).toEqual([2]);
});

it('the importer refuses dates of a calendar with other months', () => {
  const { rows, refused } = read(['Date,Text,Amount', '1405/07/11,a,-1.00']);
  expect(rows).toEqual([]);
  expect(refused[0]?.message).toContain('another calendar');
});

it('the importer adds up each account of a file', () => {
  const { findings } = read([
    ...[
      'Account,Date,Text,Amount',
      'Giro,2026-10-01,Salary,2500.00',
      'Giro,2026-10-03,Shop,-45.10',
    ],
    'Card,2026-10-14,Bus,-7.00',
  ]);
  expect(findings).toContain(
    '2 accounts: Giro: 2 rows, income 2500.00, expense 45.10; Card: 1 row, income 0.00, expense 7.00',
  );
});

it('the importer leaves out rows that a column marks as pending', () => {
  const readFlagged = (yes: string, no: string) =>
    read(['date,name,amount,is_pending', `2026-10-03,a,-1.00,${no}`, `2026-10-15,b,-9.00,${yes}`]);
  for (const { rows, leftOut } of [
    readFlagged('true', 'false'),
    readFlagged('Yes', 'No'),
    readFlagged('x', ''),
  ]) {
    expect(rows.map(({ line }) => line)).toEqual([2]);
    expect(leftOut).toMatchObject([{ line: 3, reason: '"pending": not booked yet' }]);
  }
  expect(readFlagged('soon', 'no').rows).toHaveLength(2);
});

it.each(['Planned', 'Scheduled'])(
  'the importer keeps an entry that a column marks as %s',
  (name) => {
    const file = [`date,name,amount,${name}`, '2026-10-03,a,-1.00,yes', '2026-10-15,b,-9.00,no'];
    expect(read(file).rows).toHaveLength(2);
  },
);

it('the importer uses the net amount if there is a fee, even if the file names taxes', () => {
  const file = ['Date,Name,Gross,Fee,Net,Sales Tax', '2026-10-03,a,100.00,-3.20,96.80,8.00'];
  expect(read(file).rows.map(({ amount }) => amount)).toEqual([96.8]);
});

it('the importer uses the gross amount if there is a tax', () => {
  const file = ['Date,Text,Net,VAT,Gross', '2026-10-03,a,-37.90,-7.20,-45.10'];
  expect(read(file).rows.map(({ amount }) => amount)).toEqual([45.1]);
});

it('the importer reads amounts without a sign as expenses if others have a plus', () => {
  const file = 'Date,Text,Amount|2026-10-03,Shop,£45.10|2026-10-15,Payment,+£50.00';
  const EXPENSE = '2: 2026-10-03 expense 45.1 Shop';
  expect(readAndFormat(file).rows).toEqual([EXPENSE, '3: 2026-10-15 income 50 Payment']);
  const withPlus = read(file.replaceAll(',£', ',+£').split('|'));
  expect(withPlus.questions).toMatchObject([{ topic: 'direction' }]);
  const withMinus = read(`${file}|2026-10-16,Fee,-£1.00`.split('|'));
  expect(withMinus.questions).toMatchObject([{ topic: 'direction' }]);
});

describe('a plus among amounts without a sign', () => {
  const readTypes = (rows: string, options?: Options) =>
    read(['Date,Text,Amount,Balance', ...rows.split('|')], options).rows.map(({ type }) => type);

  it.each<[content: string, rows: string, options: Options, types: string[]]>([
    [
      'means nothing if the user inverts the file',
      '5.10,|7,|+50,',
      { isInverted: true },
      ['expense', 'expense', 'expense'],
    ],
    [
      'means nothing if balances show the direction',
      '2500,2500|+5,2505|3,2508',
      {},
      ['income', 'income', 'income'],
    ],
    ['counts less than a word', '+3 DR,|+5,|4 CR,', {}, ['expense', 'income', 'income']],
  ])('%s', (_, rows, options, types) => {
    const dated = rows.split('|').map((row, n) => `2026-10-0${n + 1},a,${row}`);
    expect(readTypes(dated.join('|'), options)).toEqual(types);
  });
});

describe('totals with a date', () => {
  const CARD = 'Date,Text,Amount|2026-10-03,Shop,-45.10|2026-10-14,Bus,-7.00';

  it.each([
    ['of a card', `${CARD}|2026-10-31,Total for card 1,-52.10`],
    ['of a card, newest first', CARD.replace('|', '|2026-10-31,Total for card 1,-52.10|')],
    [
      'of two cards, and of both together',
      `${CARD}|2026-10-31,Total 1,-52.10|2026-10-15,Bar,-2.00|2026-10-31,Total 2,-2.00|2026-10-31,Total,-54.10`,
    ],
  ])('are left out: %s', (_, file) => {
    const { rows, leftOut } = read(file.split('|'));
    expect(rows.filter(({ description }) => description.startsWith('Total'))).toEqual([]);
    expect(leftOut[0]?.reason).toBe('a total: the sum of other rows');
  });

  it('keeps an entry that happens to be the sum of others', () => {
    const file = `${CARD}|2026-10-20,Rent,-52.10|2026-10-31,Total,-104.20`;
    expect(read(file.split('|')).rows.map(({ line }) => line)).toEqual([2, 3, 4]);
  });

  it('keeps a purchase from a shop named Total', () => {
    expect(readAndFormat(`${CARD}|2026-10-31,Total Energies,-50.00`).rows).toHaveLength(3);
  });

  it.each([
    ['costs as much as one from another shop', 'Shop,-50.00|2026-10-14,Total Energies,-50.00'],
    ['is made twice', 'Total Energies,-50.00|2026-10-14,Total Energies,-50.00'],
    ['is refunded', 'Total Energies,-50.00|2026-10-14,Total Energies,50.00'],
  ])('keeps both rows if a purchase from a shop named Total %s', (_, rows) => {
    expect(readAndFormat(`Date,Text,Amount|2026-10-03,${rows}`).rows).toHaveLength(2);
  });
});

describe('a balance at each end', () => {
  const rows = ['2026-10-03,Shop,-45.10', '2026-10-13,Bus,-7.00', '2026-10-14,Rent,-900.00'];
  const [OLD, NEW] = ['2026-10-01,Fillestare,1000.00', '2026-10-31,Fundit,47.90'];

  it.each([
    ['in the order of the days', [OLD, ...rows, NEW]],
    ['newest first', [NEW, ...rows.toReversed(), OLD]],
  ])('makes the importer ask in any language: %s', (_, lines) => {
    const { questions } = read(['Date,Text,Amount', ...lines]);
    expect(questions.map(({ message }) => message)).toEqual([
      expect.stringContaining('Lines 2 and 6 seem to be balances'),
    ]);
    expect(read(['Date,Text,Amount', ...lines], { isPreviewAccepted: true }).questions).toEqual([]);
    expect(read(['Date,Text,Amount', ...rows]).questions).toEqual([]);
  });
});

it('the importer asks for the order of days and months, even if one order is likely', () => {
  const monthly = ['Date,Text,Amount', ...['10/01/26,a,-1', '10/02/26,b,-1', '10/03/26,c,-2']];
  expect(() => read(monthly, { today: '2026-11-26' })).toThrow('Dates may be dmy or mdy');
  const { rows } = read(monthly, { dateOrder: 'dmy', today: '2026-11-26' });
  expect(rows.map(({ date }) => date)).toEqual(['2026-01-10', '2026-02-10', '2026-03-10']);
});

describe('another table in the file', () => {
  it('refuses its rows below the table', () => {
    const { rows, refused } = read([
      ...['Date,Text,Amount', '2026-10-03,Shop,-45.10'],
      ...['Trans date,Blocked,Debit', '2026-10-15,Hotel,30.00'],
    ]);
    expect(rows.map(({ line }) => line)).toEqual([2]);
    expect(refused.map(({ line }) => line)).toEqual([3, 4]);
    expect(refused[1]?.message).toContain('Line 3 names other columns');
  });

  it('refuses entries above the line that names the columns', () => {
    const above = ['2026-10-01,Salary,2500.00', '2026-10-03,Shop,-45.10'];
    const { rows, refused } = read([...above, 'Date,Text,Amount', '2026-10-14,Rent,-9.00']);
    expect(rows.map(({ line }) => line)).toEqual([4]);
    expect(refused.map(({ line }) => line)).toEqual([1, 2]);
  });
});

it('the importer refuses a row whose word is income in one language and an expense in another', () => {
  const lines = 'Зарплата,Зачисление,900|2026-01-03,Налог,Уплата,500';
  const result = readAndFormat(`date,name,type,amount|2026-01-02,${lines}`);
  expect(result).toEqual({ rows: ['2: 2026-01-02 income 900 Зарплата'], refused: [3] });
});

it.each(['30.12.', '12/30'])('the importer refuses %s because it has no year', (date) => {
  const { refused } = read(['date,name,amount', `${date},Tea,-3`]);
  expect(refused).toMatchObject([{ line: 2, message: expect.stringContaining('has no year') }]);
});

it('the importer names the known words if a row has another word', () => {
  const { refused } = read([...UNSIGNED.split('|'), '2026-01-02,c,1,XX'], { words: WORDS });
  const message =
    '"XX" is neither income (CR) nor expense (DR, Fee). Say which with --income "XX" or --expense "XX"';
  expect(refused).toMatchObject([{ line: 4, message }]);
});

it.each<[file: string, options: Options, message: string]>([
  ['name,amount|x,1', {}, '--date'],
  ['Account 7|date,name|2026-01-01,x', {}, 'In line 2 (date, name): No column for the amount'],
  ['date,name,Amount,Amount|2026-01-01,x,1,2', {}, 'Two columns are named "Amount"'],
  ['date,name,amount|2026-01-01,x,1', { columns: { category: 'Kind' } }, '--category'],
  ['date;name;Amount;Ab|2026-01-02;x;-7;1', { columns: { debit: 'Ab' } }, '--credit'],
  ['date,name,amount|2026-01-02,a,3', { words: WORDS }, '--type'],
  ['|\r|', {}, 'The file is empty'],
  ['\uFEFF', {}, 'The file is empty'],
  ['', {}, 'The file is empty'],
  ['date,name,amount|05/03/2026,x,1', {}, '--date-order'],
  ['date,name,amount|13/01/2026,x,1|01/13/2026,x,1|03/04/2026,x,1', {}, '--date-order'],
  ['date,name,amount|2026-01-13,x,1|13.01.2026,x,1', {}, '--date-order'],
])('the importer refuses %j with %j', (file, options, message) => {
  expect(() => readAndFormat(file, options)).toThrow(message);
});

it('the importer asks if balances contradict the words for the direction', () => {
  const createLine = (n: number, amount: string, balance: string) =>
    `2026-01-0${n},Shop ${n},${amount},${balance}`;
  const rows = [
    createLine(1, '45.10,', '954.90'),
    createLine(2, '20.00,', '934.90'),
    createLine(3, ',9.00', '943.90'),
  ];
  const listQuestions = (header: string) =>
    read([header, ...rows]).questions.map(({ topic }) => topic);
  expect(listQuestions('Date,Text,Debit,Credit,Balance')).toEqual([]);
  expect(listQuestions('Date,Text,Credit,Debit,Balance')).toEqual(['direction']);
});

it.each([
  ['FT is not a currency', 'FT', ['decimal']],
  ['Ft is the forint', 'Ft', []],
])(
  'the importer recognizes a currency without decimals by the case of its sign: %s',
  (_, sign, topics) => {
    const { questions } = read([`Date;Text;${sign};Amount`, '2026-01-02;Tea;;-1,234']);
    expect(questions.map(({ topic }) => topic)).toEqual(topics);
  },
);

it.each([
  '2.5K',
  '1.2M',
  '3 k',
  '1.25m',
  '12.50mio',
  '4 Tsd.',
  '1,5 mln',
  '2 тыс.',
  '3万',
  '1.2L',
  '5 lakh',
])('the importer refuses the rounded amount %s', (amount) => {
  const file = `date;name;amount|2026-10-03;a;-45.10|2026-10-04;b;"${amount}"`;
  const { rows, refused } = read(file.split('|'));
  expect(rows).toHaveLength(1);
  expect(refused).toMatchObject([{ line: 3, message: expect.stringContaining('rounded') }]);
});

it.each([
  '45.10 K',
  '45.10 kr',
  '45.10 Kč',
  '45.10 MT',
  '45.10 MN',
  '45.10 L',
  '45.10 lei',
  'K 45.10',
  'Rs 45.10 Cr',
])('the importer reads %s with its currency or mark', (amount) => {
  const file = `date;name;amount|2026-10-03;a;-45.10|2026-10-04;b;${amount}`;
  expect(read(file.split('|')).rows.map((row) => row.amount)).toEqual([45.1, 45.1]);
});

it('the importer asks for the order of dates if the header mixes languages, such as Data and Amount', () => {
  const file = ['Data,Type,Amount', '10/01/2026,Income,2500', '10/03/2026,Expense,45.10'];
  expect(() => read(file)).toThrow('--date-order dmy or mdy');
  expect(read(file.map((line) => line.replace('Amount', 'Importo'))).dateOrder).toBe('dmy');
});
