// Codes and signs that mean the same currency, and files in which that is ambiguous.
import { expect, it } from 'vitest';
import { readCsv, type StatementOptions } from '../../../../lib/ledger/import/statement.ts';

function summarize(lines: readonly string[], options?: StatementOptions) {
  const { rows, refused, questions } = readCsv(lines.join('\n'), {
    today: '2026-11-25',
    ...options,
  });
  return {
    signed: rows.map(({ type, amount }) => (type === 'expense' ? -amount : amount)),
    refused,
    questions: questions.map(({ message }) => message),
  };
}

/** Creates a file with these amounts. */
const createFile = (header: string, ...amounts: readonly string[]) => [
  `Date;Text;${header}`,
  ...amounts.map((amount, n) => `2026-11-0${n + 1};a;${amount}`),
];

it.each([
  ['€ and EUR', createFile('Amount', '-8.00 €', '-9.00 EUR')],
  ['€ and a column of codes', createFile('Amount;Currency', '-8.00 €;', '-9.00;EUR')],
  ['£ and GBP', createFile('Amount', '-£8.00', '-9.00 GBP')],
  ['kr in upper or lower case', createFile('Amount', '-8.00 kr', '-9.00 Kr.')],
  ['zł and PLN', createFile('Amount', '-8.00 zł', '-9.00 PLN')],
  ['$ and USD in a column of USD', createFile('Amount (USD)', '-$8.00', '-9.00 USD')],
  ['$ and USD with balances in USD', createFile('Amount;Balance', '-$8.00;88 USD', '-9.00 USD;79')],
  [
    '$ and USD above the rows',
    ['Account;12;USD', '', ...createFile('Amount', '-$8.00', '-9.00 USD')],
  ],
  ['$ and USD in one cell', createFile('Amount', '-$8.00 USD', '-9.00 USD')],
])('the importer reads %s as one currency', (_, lines) => {
  expect(summarize(lines)).toEqual({ signed: [-8, -9], refused: [], questions: [] });
});

const DOLLARS = createFile('Amount', '-$8.00', '-9.00 USD');

it('the importer asks whether $ is USD, and accepts each answer', () => {
  expect(summarize(DOLLARS).questions).toEqual([
    "The amounts are in several currencies, which cannot be added up: $ (1 row), USD (1 row). Import only one with --currency '$'; if $ is USD, import both with --currency '$,USD'.",
  ]);
  const answers = ['$', 'usd', '$,USD'].map((currency) => summarize(DOLLARS, { currency }));
  expect(answers).toEqual(
    [[-8], [-9], [-8, -9]].map((signed) => ({ signed, refused: [], questions: [] })),
  );
});

it.each([
  ['Amount;Currency;Amount (EUR)', '-5;GBP;-8', '-9;EUR;-9'],
  ['Betrag;Währung;Betrag in EUR', '-5;GBP;-8', '-9;EUR;-9'],
  ['Amount (EUR);Currency', '-8;GBP', '-9;EUR'],
  ['Amount;Amount (EUR)', '-5;-8', '-9;-9'],
  ['Amount;Currency;Amount (USD)', '-8;EUR;-10', '-9;EUR;-11'],
  [
    'Transaction Amount;Transaction Currency;Billing Amount;Billing Currency',
    ...['-5;GBP;-8;EUR', '-9;EUR;-9;EUR'],
  ],
  ['Currency;Amount;Account Currency;Account Amount', 'GBP;-5;EUR;-8', 'EUR;-9;EUR;-9'],
])('the importer reads amounts in the currency of the account: %s', (header, ...rows) => {
  expect(summarize(createFile(header, ...rows))).toEqual({
    signed: [-8, -9],
    refused: [],
    questions: [],
  });
});

it.each([
  ['after debit and credit', 'Debit;Debit currency;Credit;Credit currency', '1;EUR;;', ';;2;USD'],
  ['before debit and credit', 'Debit currency;Debit;Credit currency;Credit', 'EUR;1;;', ';;USD;2'],
])('the importer reads currencies in columns %s', (_, header, debit, credit) => {
  const { questions } = summarize(createFile(header, debit, credit));
  expect(questions).toEqual([expect.stringContaining('EUR (1 row), USD (1 row)')]);
});

it.each([
  ['Debit;Debit currency;Credit;Credit currency', '1.00;EUR;0.00;EUR', '0.00;EUR;2.00;USD'],
  ['Debit currency;Debit;Credit currency;Credit', 'EUR;1.00;EUR;0.00', 'EUR;0.00;USD;2.00'],
])('the importer reads the currency of the side that has the amount: %s', (header, ...rows) => {
  const read = (currency: string) => summarize(createFile(header, ...rows), { currency }).signed;
  expect(['EUR', 'USD'].map(read)).toEqual([[-1], [2]]);
});

it('the importer does not read a currency from a word in a header if there is a column of currencies', () => {
  const lines = createFile('ALL AMOUNT;Currency', '-8.00;EUR', '-9.00;EUR');
  expect(summarize(lines, { currency: 'EUR' }).signed).toEqual([-8, -9]);
  expect(summarize(lines, { currency: 'ALL' }).signed).toEqual([]);
});

it.each([
  ['two kinds of dollars', createFile('Amount', '-8.00 CAD', '-9.00 USD')],
  [
    '$ and two kinds of dollars',
    createFile('Amount USD;Balance', '-$8.00;1 CAD', '-9.00 USD;2 CAD'),
  ],
  ['$ in an account in EUR', createFile('Amount (EUR)', '-$8.00', '-9.00 EUR')],
  ['€ and £', createFile('Amount', '-8.00 €', '-£9.00')],
])('the importer asks about %s', (_, lines) => {
  expect(summarize(lines).questions).toEqual([expect.stringContaining('cannot be added up')]);
});
