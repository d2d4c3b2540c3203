// The plan of an import: rows of the file that the ledger has, rows that it may have under another id, and rows that changed.
import { describe, expect, it } from 'vitest';
import { CSV_COLUMNS } from '../../../../lib/ledger/http/transaction-csv.ts';
import { planImport } from '../../../../lib/ledger/import/plan.ts';
import { planWithCategories } from '../../../../lib/ledger/import/plan-with-categories.ts';
import {
  createRecordedRows,
  createRecorder,
  type RecordedPart,
  recordRow,
} from '../../../../lib/ledger/import/recorded-rows.ts';
import { readCsv, readStatement } from '../../../../lib/ledger/import/statement.ts';

const readBankRows = (...lines: readonly string[]) =>
  readCsv(['date,name,amount', ...lines].join('\n')).rows;
const CREATED_AT = '2026-01-01T00:00:00.000Z';
const readExportedRows = (...lines: readonly string[]) =>
  readCsv([CSV_COLUMNS.join(), ...lines].join('\n')).rows;
const createLedgerRows = (...lines: readonly string[]) =>
  readExportedRows(...lines).flatMap((row) =>
    row.exported ? { ...row, ...row.exported, etag: '', importId: null } : [],
  );
/** Creates the line of an export for a purchase of tea. */
const createTeaLine = (id: number, externalId = '', { name = 'Tea', updated = CREATED_AT } = {}) =>
  `${id},2026-01-02,${name},3,expense,,,${externalId},${CREATED_AT},${updated}`;

it('the plan finds rows by the id made from them, and by the id that earlier versions made', () => {
  const rows = readBankRows('2026-01-02,Tea,-3', '2026-01-03,Bus,-2', '2026-01-04,Pay,9');
  const [first, second, third] = rows;
  const ledger = createLedgerRows(
    createTeaLine(1, first?.externalId ?? ''),
    // The second row is recognized by its legacy id, although its fields have changed.
    createTeaLine(2, second?.otherIds?.()[0] ?? ''),
  );
  const plan = planImport(rows, ledger);
  expect(plan).toMatchObject({ present: 2, missing: [third], possibleDuplicates: [] });
});

describe('a row that the previous release imported', () => {
  it('is not imported again if only one of its texts was imported', () => {
    const { rows } = readCsv(
      'Buchungstag;Empfänger;Verwendungszweck;Betrag\n03.11.2026;Vermieter;Miete Nov;-900,00',
    );
    const ledger = createLedgerRows(
      `1,2026-11-03,Vermieter,900,expense,,,row-49c8977ccf27e995c6ba9216112a7957-1,${CREATED_AT},${CREATED_AT}`,
    );
    expect(rows).toMatchObject([{ description: 'Vermieter', notes: 'Miete Nov' }]);
    expect(planImport(rows, ledger)).toMatchObject({ present: 1, missing: [] });
  });

  it('is not imported again if it has a rounded id, but a second row with that id is', () => {
    const coffee = '2026-11-14,Coffee,-4.5,1.23457E+15';
    const { rows } = readCsv(['Date,Name,Amount,Transaction ID', coffee, coffee].join('\n'));
    const id = '1.23457E+15 2026-11-14 -4.5';
    const ledger = createLedgerRows(
      `1,2026-11-14,Coffee,4.5,expense,,,${id},${CREATED_AT},${CREATED_AT}`,
    );
    const [, second] = rows;
    expect(planImport(rows, ledger)).toMatchObject({ present: 1, missing: [second] });
  });
});

describe('the plan for rows with bank ids', () => {
  const readRowsWithIds = (header: string, ...lines: readonly string[]) =>
    readCsv([`${header},Date,Name,Amount`, ...lines].join('\n')).rows;
  const [row] = readRowsWithIds('Transaction ID', 'A1,2026-01-02,Tea,-3');
  const storedId = row?.externalId ?? '';

  it('finds a row that was edited after its import', () => {
    const editedFields = { name: 'Mint', updated: '2026-01-05T00:00:00.000Z' };
    const ledger = createLedgerRows(
      createTeaLine(1, storedId, editedFields).replace('2026-01-02', '2026-01-09'),
    );
    const rows = readRowsWithIds('Transaction ID', 'A1,2026-01-02,Tea,-3');
    expect(planImport(rows, ledger)).toMatchObject({ present: 1, missing: [], reusedIds: 0 });
  });

  it('counts a row with a reused id, but another date or amount, as a new entry', () => {
    const rows = readRowsWithIds('Transaction ID', 'A1,2026-02-02,Tea,-3', 'A1,2026-02-02,Tea,-4');
    for (const id of [storedId, 'A1'])
      expect(planImport(rows, createLedgerRows(createTeaLine(1, id)))).toMatchObject({
        present: 0,
        missing: rows,
        reusedIds: 2,
        possibleDuplicates: [],
      });
  });

  it('names a transaction with the same id and date, but another amount, as a possible duplicate', () => {
    const rows = readRowsWithIds(
      'Transaction ID',
      'A1,2026-01-02,Shop,-4',
      'A2,2026-01-02,Shop,-5',
    );
    for (const id of [storedId, 'A1']) {
      const ledger = createLedgerRows(createTeaLine(1, id));
      const { possibleDuplicates, missing } = planImport(rows, ledger);
      expect(missing).toEqual(rows);
      expect(possibleDuplicates).toEqual([{ row: rows[0], transaction: ledger[0] }]);
    }
    // A fee has the same id as its payment. If the file has both, only the fee is missing.
    const paymentAndFee = readRowsWithIds(
      'Transaction ID',
      'A1,2026-01-02,Tea,-3',
      'A1,2026-01-02,Fee,-4',
    );
    const plan = planImport(paymentAndFee, createLedgerRows(createTeaLine(1, storedId)));
    expect(plan).toMatchObject({ present: 1, possibleDuplicates: [], missing: [paymentAndFee[1]] });
  });

  it.each(['Transaction ID', 'Reference'])(
    'finds a transaction that earlier releases stored under the %s alone, for only one row',
    (header) => {
      const rows = ['Tea', 'Tee'].flatMap((name) =>
        readRowsWithIds(header, `A1,2026-01-02,${name},-3`),
      );
      const plan = planImport(rows, createLedgerRows(createTeaLine(1, 'A1')));
      expect(plan).toMatchObject({ present: 1, missing: [rows[1]] });
    },
  );

  it("names an edited transaction that is stored under the bank's id alone as a possible duplicate", () => {
    const editedLine = createTeaLine(1, 'A1', { updated: '2026-01-05T00:00:00.000Z' });
    const ledger = createLedgerRows(editedLine.replace('2026-01-02', '2026-01-09'));
    const rows = readRowsWithIds('Transaction ID', 'A1,2026-01-02,Tea,-3');
    expect(planImport(rows, ledger).possibleDuplicates).toEqual([
      { row: rows[0], transaction: ledger[0] },
    ]);
  });

  it('distinguishes accounts by the name in the file or in the options', () => {
    const ids = ['Giro', 'Card'].flatMap((account) => [
      ...readRowsWithIds('Transaction ID,Account', `A1,${account},2026-01-02,Tea,-3`),
      ...readCsv('Transaction ID,Date,Name,Amount\nA1,2026-01-02,Tea,-3', { account }).rows,
    ]);
    expect(ids.map(({ externalId }) => externalId)).toEqual([
      ...['A1 2026-01-02 -3 Giro', 'A1 2026-01-02 -3 Giro'],
      ...['A1 2026-01-02 -3 Card', 'A1 2026-01-02 -3 Card'],
    ]);
  });
});

it('the plan names a row as a possible duplicate if a transaction that no other row matches has its date, type and amount', () => {
  const rows = readBankRows(
    ...Array(3).fill('2026-01-02,Tee,-3'),
    '2026-01-02,Tee,3',
    '2026-01-03,Tee,-3',
  );
  const [first, second] = rows;
  const ledger = createLedgerRows(createTeaLine(1, first?.externalId ?? ''), createTeaLine(2));
  const plan = planImport(rows, ledger);
  expect(plan.missing).toHaveLength(4);
  expect(plan.possibleDuplicates).toEqual([{ row: second, transaction: ledger[1] }]);
});

it('the plan finds the edited rows of an export by id and creation time', () => {
  const ledger = createLedgerRows(createTeaLine(1), createTeaLine(2), createTeaLine(3));
  const rows = readExportedRows(
    createTeaLine(1),
    createTeaLine(2, '', { name: 'Mint' }),
    createTeaLine(3).replaceAll(CREATED_AT, ''),
  );
  const plan = planImport(rows, ledger);
  // The third line has no creation time, but equals a row of the ledger, so it counts as present.
  expect(plan).toMatchObject({ present: 2, missing: [], refused: [] });
  expect(plan.changes).toEqual([{ row: rows[1], transaction: ledger[1], fields: ['description'] }]);
});

it('the plan refuses edited rows whose transaction has changed since, and no others', () => {
  const updated = '2026-01-05T00:00:00.000Z';
  const ledger = createLedgerRows(
    createTeaLine(1, '', { updated }),
    createTeaLine(2, '', { updated }),
  );
  const plan = planImport(
    readExportedRows(createTeaLine(1), createTeaLine(2, '', { name: 'Mint' })),
    ledger,
  );
  expect(plan).toMatchObject({ present: 1, missing: [], changes: [], refused: [{ line: 3 }] });
});

it('the plan creates a deleted transaction again only with --import-deleted', () => {
  const rows = readExportedRows(
    createTeaLine(1),
    createTeaLine(2),
    createTeaLine(3, '', { name: 'Mint' }),
    createTeaLine(4).replace('4,', ','),
  );
  const ledger = createLedgerRows(createTeaLine(1));
  expect(planImport(rows, ledger)).toMatchObject({
    present: 1,
    deleted: [{ line: 3 }, { line: 4 }],
    missing: [{ line: 5 }],
    changes: [],
  });
  expect(planImport(rows, ledger, { importsDeleted: true })).toMatchObject({
    deleted: [],
    missing: [{ line: 3 }, { line: 4 }, { line: 5 }],
    possibleDuplicates: [],
  });
});

describe('a purchase that the file dates later than the ledger', () => {
  const otherLines = ['2026-01-01,Rent,-900', '2026-01-09,Bus,-2'];
  const pairDuplicates = (row: string, file = otherLines) => {
    const [first] = readBankRows('2026-01-02,Tea House 12,-3');
    const plan = planImport(
      readBankRows(row, ...file),
      createLedgerRows(createTeaLine(1, first?.externalId ?? '', { name: 'Tea House 12' })),
    );
    return plan.possibleDuplicates.map(({ row: { date }, transaction }) => [date, transaction.id]);
  };

  it('may be a transaction with the same amount and a word in common', () => {
    expect(pairDuplicates('2026-01-05,TEA HOUSE*77,-3')).toEqual([['2026-01-05', '1']]);
  });

  it.each([
    ['another text', '2026-01-05,Bakery,-3'],
    ['another amount', '2026-01-05,Tea House,-4'],
    ['another direction', '2026-01-05,Tea House,3'],
    ['a date more than five days away', '2026-01-08,Tea House,-3'],
  ])('is a separate purchase if it has %s', (_, row) => {
    expect(pairDuplicates(row)).toEqual([]);
  });

  it('is a separate purchase if the file has both', () => {
    expect(
      pairDuplicates('2026-01-05,Tea House,-3', [...otherLines, '2026-01-02,Tea House 12,-3']),
    ).toEqual([]);
  });

  it('is a separate purchase if the transaction is older than the file', () => {
    expect(pairDuplicates('2026-01-05,Tea House,-3', otherLines.slice(1))).toEqual([]);
  });
});

describe('rows of an import that a later file of the account lacks', () => {
  const HEADER = 'date,name,amount';
  const commonLines = ['2026-01-02,Grocer,-20', '2026-01-03,Rent,-900'];
  const toLedgerRows = (...lines: readonly string[]) =>
    readBankRows(...commonLines, ...lines).map((row, n) => {
      const metadata = { id: String(n), createdAt: CREATED_AT, updatedAt: CREATED_AT };
      return { ...row, ...metadata, etag: '', importId: 'first.csv' };
    });
  const compare = (before: readonly string[], after: readonly string[]) => {
    const { possibleDuplicates, vanished, questions } = planImport(
      readCsv([HEADER, ...commonLines, ...after].join('\n')).rows,
      toLedgerRows(...before),
    );
    expect(questions).toEqual([]);
    return {
      pairs: possibleDuplicates.map(
        ({ row, transaction }) => `${transaction.description} ${row.description}`,
      ),
      vanished: vanished.map(({ description }) => description),
    };
  };

  it.each([
    ['another text', '2026-01-05,HOTEL X,-100', '2026-01-06,BOOKING.COM,-100'],
    ['the same text after a week', '2026-01-05,SHELL 123,-50', '2026-01-13,SHELL 123,-50'],
    ['the same text in the next weeks', '2026-01-12,SHELL 123,-50', '2026-01-20,SHELL 123,-50'],
    ['another amount', '2026-01-05,UBER TRIP,-33', '2026-01-07,UBER TRIP,-38'],
  ])('may have been booked with %s', (_, pending, booked) => {
    const after = [booked, '2026-01-14,Other,-1'];
    const [pendingText, bookedText] = [pending, booked].map((line) => line.split(',')[1]);
    expect(compare([pending], after)).toEqual({
      pairs: [`${pendingText} ${bookedText}`],
      vanished: [],
    });
  });

  it.each([
    ['has another text and amount', '2026-01-06,BOOKING.COM,-90'],
    ['has the other direction', '2026-01-06,HOTEL X,100'],
    ['is more than two weeks later', '2026-01-20,HOTEL X,-100'],
  ])('are listed as vanished if the new row %s', (_, booked) => {
    const vanished = ['HOTEL X'];
    expect(compare(['2026-01-05,HOTEL X,-100'], [booked])).toEqual({ pairs: [], vanished });
  });

  it('make the plan ask for the account if there are as many of them as of equal rows', () => {
    const pending = ['2026-01-05,HOTEL X,-100', '2026-01-05,UBER TRIP,-33'];
    const booked = ['2026-01-06,BOOKING.COM,-100', '2026-01-07,UBER TRIP,-38'];
    const { possibleDuplicates, questions } = planImport(
      readBankRows(...commonLines, ...booked),
      toLedgerRows(...pending),
    );
    expect(possibleDuplicates).toHaveLength(2);
    expect(questions).toMatchObject([
      { topic: 'account', message: expect.stringContaining('unless they were pending') },
    ]);
  });

  it('do not include rows on days that the file does not cover', () => {
    expect(compare(['2026-01-08,HOTEL X,-100'], ['2026-01-07,BOOKING.COM,-100'])).toEqual({
      pairs: [],
      vanished: [],
    });
  });
});

it('the plan knows the account of a file whose format names it', async () => {
  const createEntry = (day: number, amount: number) =>
    `<Ntry><Amt>${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2026-01-0${day}</Dt></BookgDt></Ntry>`;
  const read = async (...entries: readonly string[]) =>
    await readStatement(
      Buffer.from(
        `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE1</IBAN></Id></Acct>${entries.join('')}</Stmt></BkToCstmrStmt></Document>`,
      ),
    );
  const metadata = {
    id: '1',
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    etag: '',
    importId: 'a.xml',
  };
  const rows = (await read(createEntry(2, 3), createEntry(3, 5))).rows.map((row) => ({
    ...row,
    ...metadata,
  }));
  const ledger = { rows, categories: [], imports: [] };
  const nextStatement = await read(createEntry(3, 5), createEntry(4, 9));
  const options = { isLearning: false, rules: [] };
  expect(planWithCategories(nextStatement, ledger, options).plan).toMatchObject({
    present: 1,
    questions: [],
  });
  const withoutAccount = { ...nextStatement, namesAccount: false };
  expect(planWithCategories(withoutAccount, ledger, options).plan.questions).toHaveLength(1);
});

describe('a row of another format whose transaction was edited', () => {
  const EDITED = { createdAt: CREATED_AT, updatedAt: '2026-01-05T00:00:00.000Z' };
  const [row] = readBankRows('2026-01-02,TEA HOUSE*77,-3');
  const [original] = createLedgerRows(createTeaLine(1, 'FITID 1', { name: 'Tea' }));
  const recorded = createRecordedRows([
    { importId: 'x', part: 1, rows: original ? [recordRow(original) ?? ''] : [] },
  ]);
  const findPairs = (change: object, options = {}) => {
    const ledger = original ? [{ ...original, ...EDITED, ...change }] : [];
    const { possibleDuplicates } = planImport(row ? [row] : [], ledger, options);
    return possibleDuplicates.map(({ transaction }) => transaction.id);
  };

  it.each([
    ['amount', { amount: 4 }],
    ['date', { date: '2026-03-07' }],
    ['amount and category', { amount: 4, category: 'Food' }],
  ])(
    'may be that transaction according to the record of the import, whatever its text: edited %s',
    (_, change) => {
      expect(findPairs(change, { recorded })).toEqual(['1']);
    },
  );

  it('may be that transaction, even without a record, if date and a word are the same', () => {
    expect(findPairs({ amount: 4, description: 'The house' })).toEqual(['1']);
  });

  it.each([
    ['with another text', { amount: 4, description: 'Mint' }],
    ['on another day', { amount: 4, date: '2026-01-03', description: 'The house' }],
    ['in the other direction', { amount: 4, type: 'income', description: 'The house' }],
    ['that was never edited', { amount: 4, description: 'The house', updatedAt: CREATED_AT }],
  ])('is separate from a transaction %s', (_, change) => {
    expect(findPairs(change)).toEqual([]);
  });

  it('is separate from a transaction that only got a category', () => {
    const ledger = original ? [{ ...original, ...EDITED, category: 'Food' }] : [];
    const rows = readBankRows('2026-01-02,TEA HOUSE,-5');
    expect(planImport(rows, ledger, { recorded }).possibleDuplicates).toEqual([]);
  });
});

describe('rows that two accounts have in common', () => {
  const FEE = '2026-01-03,Fee,-1';
  const giro = readBankRows('2026-01-02,Tea,-3', FEE, '2026-01-04,Bus,-2');
  const toLedgerRows = (rows: ReturnType<typeof readBankRows>) =>
    rows.map((row, n) => {
      const metadata = { id: String(n), createdAt: CREATED_AT, updatedAt: CREATED_AT };
      return { ...row, ...metadata, etag: '', importId: 'first.csv' };
    });
  const ledger = toLedgerRows(giro);
  const card = ['2026-01-01,Rent,-900', FEE, '2026-01-05,Pay,9'];

  it('make the plan ask for the account if the file lacks the other rows of their import', () => {
    const { questions } = planImport(readBankRows(...card), ledger);
    expect(questions).toMatchObject([{ topic: 'account' }]);
    expect(questions[0]?.message).toContain('--account NAME');
    const middleLines = ['a', 'b', 'c'].map((name) => `2026-01-03,${name},-1`);
    const largerLedger = toLedgerRows(
      readBankRows('2026-01-02,Tea,-3', ...middleLines, '2026-01-04,Bus,-2'),
    );
    const fewRows = readBankRows('2026-01-02,Tea,-3', '2026-01-04,Bus,-2', '2026-01-05,Pay,9');
    expect(planImport(fewRows, largerLedger).questions).toMatchObject([{ topic: 'account' }]);
    const rowsWithAccount = readCsv(['date,name,amount', ...card].join('\n'), {
      account: 'Card',
    }).rows;
    expect(planImport(rowsWithAccount, ledger)).toMatchObject({ present: 0, questions: [] });
    expect(planImport(readBankRows(...card), ledger, { isAccountKnown: true }).questions).toEqual(
      [],
    );
  });

  describe('on the only day that the file shares with their import', () => {
    const lastLine = '2026-01-04,Bus,-2';
    const listQuestions = (rows: ReturnType<typeof readBankRows>, stored = ledger) =>
      planImport(rows, stored).questions.map(({ topic }) => topic);

    it('make the plan ask for the account', () => {
      expect(listQuestions(readBankRows(lastLine, '2026-01-05,Pay,9'))).toEqual(['account']);
      expect(listQuestions(readBankRows('2026-01-01,Rent,-900', '2026-01-02,Tea,-3'))).toEqual([
        'account',
      ]);
      const withAccount = readCsv(`date,name,amount\n${lastLine}\n2026-01-05,Pay,9`, {
        account: 'Card',
      });
      expect(planImport(withAccount.rows, ledger)).toMatchObject({ present: 0, questions: [] });
    });

    it('count as the same transactions if the file has no new rows, or the import has no other rows', () => {
      expect(listQuestions(readBankRows(lastLine))).toEqual([]);
      expect(listQuestions(readBankRows(lastLine, '2026-01-05,Pay,9'), ledger.slice(2))).toEqual(
        [],
      );
      const otherImport = ledger.slice(0, 1).map((row) => ({ ...row, importId: 'other.csv' }));
      const stored = [...otherImport, ...ledger.slice(2)];
      expect(listQuestions(readBankRows(lastLine, '2026-01-05,Pay,9'), stored)).toEqual([]);
    });

    it.each([
      ['the bank’s id', 'Transaction ID'],
      ['a balance', 'Balance'],
    ])('count as the same transactions by %s', (_, column) => {
      const read = (...lines: readonly string[]) =>
        readCsv([`date,name,amount,${column}`, ...lines].join('\n')).rows;
      const stored = toLedgerRows(read('2026-01-02,Tea,-3,97.50', `${lastLine},95.50`));
      expect(listQuestions(read(`${lastLine},95.50`, '2026-01-05,Pay,9,104.50'), stored)).toEqual(
        [],
      );
    });

    it('count as the same transactions if there are many', () => {
      const busLines = ['Bus', 'Tram', 'Taxi'].map((name) => `2026-01-04,${name},-2`);
      const stored = toLedgerRows(readBankRows('2026-01-02,Tea,-3', ...busLines));
      expect(listQuestions(readBankRows(...busLines, '2026-01-05,Pay,9'), stored)).toEqual([]);
      expect(
        listQuestions(
          readBankRows(...busLines.slice(0, 2), '2026-01-05,Pay,9'),
          stored.slice(0, 3),
        ),
      ).toEqual(['account']);
    });
  });

  it.each([
    ['the whole import again', ['2026-01-02,Tea,-3', FEE, '2026-01-04,Bus,-2']],
    [
      'the first days of the import, and one before',
      ['2026-01-01,Rent,-900', '2026-01-02,Tea,-3', FEE],
    ],
    ['one day of the import', [FEE]],
    ['the last days of the import, and one after', [FEE, '2026-01-04,Bus,-2', '2026-01-05,Pay,9']],
    ['the import without a row that the bank removed', ['2026-01-02,Tea,-3', '2026-01-04,Bus,-2']],
  ])('count as the same transactions if the file has %s', (_, lines) => {
    expect(planImport(readBankRows(...lines), ledger).questions).toEqual([]);
  });
});

describe('an account that is named for only some of its files', () => {
  const LINES = [
    ...Array(2).fill('2026-01-02,Tea,-3'),
    ...Array.from({ length: 8 }, (_, n) => `2026-01-03,Bus ${n},-${n + 1}`),
  ];
  const NEXT_LINES = [...LINES, '2026-01-05,Rent,-900'];
  const read = (lines: readonly string[], account?: string, header = 'date,name,amount') =>
    readCsv([header, ...lines].join('\n'), { account }).rows;
  type Rows = ReturnType<typeof read>;
  /** Imports rows. @returns the ledger after the import, and the record of the import */
  const importRows = async (rows: Rows, account?: string) => {
    const parts: RecordedPart[] = [];
    const recorder = createRecorder({ importId: 'a', total: 1, account }, async (part) => {
      parts.splice(0, 1, part);
    });
    await recorder.announce(rows);
    recorder.confirm(rows);
    await recorder.close();
    const ledger = rows.map((row, n) => {
      const metadata = { id: String(n), createdAt: CREATED_AT, updatedAt: CREATED_AT };
      return { ...row, ...metadata, etag: '', importId: 'a' };
    });
    return { ledger, recorded: createRecordedRows(parts) };
  };

  it.each([
    ['given only for the next file', undefined, 'Giro 日本 – a long name of an account'],
    ['given only for the first file', 'Giro 日本 – a long name of an account', undefined],
    ['written in another case', 'Giro', 'giro'],
  ])('is recognized if its name is %s', async (_, firstName, nextName) => {
    const { ledger, recorded } = await importRows(read(LINES, firstName), firstName);
    const rows = read(NEXT_LINES, nextName);
    const options = { recorded, account: nextName };
    const plan = planImport(rows, ledger, options);
    expect(plan).toMatchObject({ present: 10, missing: [{ line: 12 }], possibleDuplicates: [] });
    expect(plan.otherNames.map(({ name }) => name)).toEqual([firstName]);
  });

  it('is recognized even if rows were deleted by hand', async () => {
    const { ledger, recorded } = await importRows([...read(LINES), ...read(['2026-01-04,Pay,9'])]);
    const rows = read([...NEXT_LINES, '2026-01-04,Pay,9'], 'Giro');
    const options = { recorded, account: 'Giro' };
    const plan = planImport(rows, ledger.slice(0, 10), options);
    expect(plan).toMatchObject({ present: 10, deleted: [{ line: 13 }], missing: [{ line: 12 }] });
    expect(plan.possiblyDeleted).toEqual([]);
    const withDeleted = planImport(rows, ledger.slice(0, 10), { ...options, importsDeleted: true });
    expect(withDeleted.missing).toMatchObject([{ line: 12 }, { line: 13 }]);
    // Too few rows remain to prove that the account is the same.
    const withFewRows = planImport(rows, ledger.slice(0, 9), options);
    expect(withFewRows.possiblyDeleted).toMatchObject([{ line: 11 }, { line: 13 }]);
  });

  it('is recognized even if many rows of the same days were deleted by hand', async () => {
    const deleted = Array.from({ length: 5 }, (_, n) => `2026-01-03,Pay ${n},9`);
    const { ledger, recorded } = await importRows(read([...LINES, ...deleted]));
    const rows = read([...LINES, ...deleted], 'Giro');
    const plan = planImport(rows, ledger.slice(0, 10), { recorded, account: 'Giro' });
    expect([plan.present, plan.deleted.length, plan.missing]).toEqual([10, 5, []]);
  });

  it('is recognized by the ids that a bank assigns', async () => {
    const header = 'Transaction ID,date,name,amount';
    const addIds = (lines: readonly string[]) => lines.map((line, n) => `A${n},${line}`);
    const { ledger, recorded } = await importRows(read(addIds(LINES), undefined, header));
    const rows = read(addIds(NEXT_LINES), 'Giro', header);
    const plan = planImport(rows, ledger, { recorded, account: 'Giro' });
    expect(plan).toMatchObject({ present: 10, missing: [{ line: 12 }] });
  });

  it.each([
    ['under a different name', 'Giro', 'Card', NEXT_LINES],
    ['with too few rows of an import', undefined, 'Card', NEXT_LINES.slice(1)],
  ])('is not recognized %s', async (_, firstName, nextName, lines) => {
    const { ledger, recorded } = await importRows(read(LINES, firstName), firstName);
    const rows = read(lines, nextName);
    const plan = planImport(rows, ledger, { recorded, account: nextName });
    expect(plan).toMatchObject({ present: 0, otherNames: [], deleted: [], missing: rows });
  });
});

it('the plan attributes a file to another account if the file or the import has many other rows on the same days', async () => {
  const createLines = (name: string, count: number, day = 3) =>
    Array.from({ length: count }, (_, n) => `2026-01-0${day},${name} ${n},-${n + 1}`);
  const read = (names: readonly string[], account?: string) =>
    readCsv(['date,name,amount', ...names].join('\n'), { account }).rows;
  const countPresent = (onlyInImport: readonly string[], onlyInFile: readonly string[] = []) => {
    const ledger = read([...createLines('Bus', 10), ...onlyInImport]).map((row, n) => {
      const metadata = { id: String(n), createdAt: CREATED_AT, updatedAt: CREATED_AT };
      return { ...row, ...metadata, etag: '', importId: 'a' };
    });
    const file = read([...createLines('Bus', 10), ...onlyInFile], 'Card');
    return planImport(file, ledger, { account: 'Card' }).present;
  };
  expect([2, 3].map((count) => countPresent(createLines('Tea', count)))).toEqual([10, 0]);
  expect([2, 3].map((count) => countPresent([], createLines('Tea', count)))).toEqual([10, 0]);
  // The file continues where the import ended.
  expect(countPresent([], createLines('Tea', 3, 4))).toBe(10);
});

it('the plan does not count rows from the export of another ledger as deleted', () => {
  const otherLine = createTeaLine(1, '', { name: 'Mint' }).replaceAll('2026-01-01', '2026-01-07');
  const plan = planImport(
    readExportedRows(createTeaLine(1), createTeaLine(2)),
    createLedgerRows(otherLine),
  );
  expect(plan).toMatchObject({ present: 0, deleted: [], missing: [{ line: 2 }, { line: 3 }] });
});

it('the plan refuses two rows of an export that differ but belong to the same transaction', () => {
  const rows = readExportedRows(
    createTeaLine(1),
    createTeaLine(1, '', { name: 'Mint' }),
    createTeaLine(2),
    createTeaLine(2),
  );
  const plan = planImport(rows, createLedgerRows(createTeaLine(1), createTeaLine(2)));
  expect(plan).toMatchObject({ missing: [], changes: [], refused: [{ line: 3 }] });
});
