// Transfers between two accounts of a file: both sides are left out, because they are neither income nor expenses.
import { expect, it } from 'vitest';
import { readCsv, type StatementOptions } from '../../../../lib/ledger/import/statement.ts';

const HEADER = 'Date,Account,Description,Category,Amount';
const ROWS = ['2026-03-01,Bank,Salary,,2500.00', '2026-03-02,Bank,Shop,Food,-45.10'];

function read(lines: readonly string[], options: StatementOptions = {}) {
  const file = [HEADER, ...ROWS, ...lines].join('\n');
  const { rows, leftOut, questions, findings } = readCsv(file, { today: '2026-04-01', ...options });
  return {
    lines: rows.map(({ line }) => line),
    leftOut: leftOut.map(({ line }) => line),
    questions: questions.map(({ topic }) => topic),
    isReported: findings.some((finding) => finding.startsWith('rows of two accounts cancel')),
  };
}

const ALL_KEPT = { lines: [2, 3, 4, 5], leftOut: [], questions: [], isReported: false };
const BOTH_LEFT_OUT = { ...ALL_KEPT, lines: [2, 3], leftOut: [4, 5] };

it.each([
  ['a word', '03-05,Bank,Transfer to savings,,-100', '03-05,Cash,Transfer from bank,,100'],
  ['a category', '03-05,Bank,ATM,Transfer,-100', '03-08,Cash,ATM,Transfer,100'],
  ['the name of the other account', '03-05,Bank,To cash,,-100', '03-05,Cash,From bank,,100'],
  ['words of another language', '03-05,Bank,Übertrag,,-100', '03-06,Cash,Umbuchung,,100'],
  ['the word for a transfer alone', '03-05,Bank,Transfer,,-100', '03-06,Cash,Transfer,,100'],
])(
  'the importer leaves out both sides of a transfer, recognized by %s',
  (_, outgoing, incoming) => {
    expect(read([`2026-${outgoing}`, `2026-${incoming}`])).toEqual(BOTH_LEFT_OUT);
    expect(read([`2026-${incoming}`, `2026-${outgoing}`])).toEqual(BOTH_LEFT_OUT);
  },
);

it.each([
  ['a payment and an income by bank transfer', 'Transfer to landlord', 'Transfer from employer'],
  ['a purchase and a refund', 'CARD PAYMENT TO TESCO', 'CARD PAYMENT REFUND ARGOS'],
  ['transfers in another language', 'Überweisung Miete', 'Gutschrift Überweisung Gehalt'],
  ['names of accounts within words', 'Cashew nuts', 'Returned to bank'],
])(
  'the importer asks about %s with the same amount, which may be unrelated',
  (_, outgoing, incoming) => {
    const lines = [`2026-03-05,Bank,${outgoing},,-100`, `2026-03-06,Cash,${incoming},,100`];
    expect(read(lines)).toEqual({ ...ALL_KEPT, questions: ['postings'] });
  },
);

it('the importer asks if a category covers transfers and other payments', () => {
  const lines = [
    '2026-03-05,Bank,A,Transfers & payments,-100',
    '2026-03-06,Cash,B,Transfers out,100',
  ];
  expect(read(lines)).toEqual({ ...ALL_KEPT, questions: ['postings'] });
});

const ONE_SIDE = ['2026-03-05,Bank,Transfer,,-100', '2026-03-06,Cash,Deposit,,100'];

it('the importer asks if only one side mentions a transfer', () => {
  expect(read(ONE_SIDE)).toEqual({ ...ALL_KEPT, questions: ['postings'] });
  expect(read(ONE_SIDE, { isPreviewAccepted: true })).toEqual(ALL_KEPT);
  expect(read(ONE_SIDE, { onlyAccount: 'Bank' })).toMatchObject({
    lines: [2, 3, 4],
    questions: [],
  });
});

it('the importer only reports rows of one day that cancel out if no word mentions a transfer', () => {
  const lines = ['2026-03-05,Bank,A,,-100', '2026-03-05,Cash,B,,100'];
  expect(read(lines)).toEqual({ ...ALL_KEPT, isReported: true });
});

it.each([
  ['of one account', '03-05,Bank,Transfer to Ann,,-100', '03-05,Bank,Transfer from Bob,,100'],
  [
    'with different amounts',
    '03-05,Bank,Transfer to Ann,,-100',
    '03-05,Cash,Transfer from Bob,,101',
  ],
  ['in one direction', '03-05,Bank,Transfer to Ann,,-100', '03-05,Cash,Transfer to Ann,,-100'],
  ['four days apart', '03-05,Bank,Transfer to Ann,,-100', '03-09,Cash,Transfer from Bob,,100'],
  [
    'of two days without a word for a transfer',
    '03-05,Bank,Shoes,,-100',
    '03-06,Cash,Shoes returned,,100',
  ],
])('the importer keeps rows %s', (_, first, second) => {
  expect(read([`2026-${first}`, `2026-${second}`])).toEqual(ALL_KEPT);
});

it('the importer keeps rows of one account in a file of two accounts', () => {
  const lines = ['2026-03-05,Bank,Transfer to Ann,,-100', '2026-03-05,Bank,Transfer from Bob,,100'];
  expect(read([...lines, '2026-03-06,Cash,Bus,,-3'])).toMatchObject({ leftOut: [], questions: [] });
});

it('the importer uses each row for only one transfer', () => {
  const { lines, leftOut } = read([
    '2026-03-05,Bank,Transfer,,-100',
    '2026-03-05,Cash,Transfer,,100',
    '2026-03-06,Bank,Transfer to Ann,,-100',
  ]);
  expect([lines, leftOut]).toEqual([
    [2, 3, 6],
    [4, 5],
  ]);
});

it.each(['2026-03-04', '2026-03-05'])(
  'the importer prefers a row that names the account to a payment on %s',
  (date) => {
    const { lines, leftOut } = read([
      `${date},Bank,Transfer to landlord,,-100`,
      '2026-03-05,Bank,Transfer to cash,,-100',
      '2026-03-05,Cash,Transfer from bank,,100',
    ]);
    expect({ lines, leftOut }).toEqual({ lines: [2, 3, 4], leftOut: [5, 6] });
  },
);

it('the importer prefers the nearest of equal rows', () => {
  const { leftOut } = read([
    '2026-03-04,Bank,Transfer to cash,,-100',
    '2026-03-05,Bank,Transfer to cash,,-100',
    '2026-03-05,Cash,Transfer from bank,,100',
  ]);
  expect(leftOut).toEqual([5, 6]);
});

it('the importer finds a transfer among many other rows with its amount', () => {
  const gifts = Array.from({ length: 24 }, (_, n) => `2025-01-${n + 1},Cash,Gift,,100`);
  const { leftOut } = read([
    ...gifts,
    '2026-03-05,Bank,To cash,,-100',
    '2026-03-05,Cash,From bank,,100',
  ]);
  expect(leftOut).toEqual([28, 29]);
});
