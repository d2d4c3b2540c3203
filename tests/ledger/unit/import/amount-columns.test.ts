// Amounts in several columns: one column for each currency, a column of fees, or columns for both sides of a transfer.
import { expect, it } from 'vitest';
import {
  readCsv,
  type Statement,
  type StatementOptions,
} from '../../../../lib/ledger/import/statement.ts';

function summarize({ rows, questions, refused, leftOut }: Statement) {
  return {
    signed: rows.map(({ type, amount }) => (type === 'expense' ? -amount : amount)),
    questions: questions.map(({ topic }) => topic),
    refused: refused.map(({ message }) => message),
    leftOut: leftOut.map(({ line }) => line),
  };
}

/** Reads a file, in which `|` ends a line. */
const read = (file: string, options: StatementOptions = {}) =>
  summarize(readCsv(file.replaceAll('|', '\n'), options));

const TWO_CURRENCIES = 'Account,Transaction Date,Description 1,CAD$,USD$|1,12/30/2025,Tea,-4.00,';

it('the importer reads a file with a column of amounts for each currency', () => {
  expect(read(TWO_CURRENCIES)).toMatchObject({ signed: [-4], questions: [], refused: [] });
  const mixed = `${TWO_CURRENCIES}|1,12/29/2025,Bus,,-3.00`;
  expect(read(mixed)).toMatchObject({ questions: ['currency'], refused: [] });
  expect(read(mixed, { currency: 'CAD' })).toMatchObject({
    signed: [-4],
    questions: [],
    leftOut: [3],
  });
});

const FEES = 'Date,Text,Amount,Fee|2026-01-02,Tea,-3.00,0.10|2026-01-03,Bus,-4.00,0.00';
const createFileWithBalance = (closingBalance: string) =>
  `Date,Text,Amount,Commission,Balance|2026-01-02,Tea,-3.00,0.00,97.00|2026-01-03,Bus,-4.00,0.50,${closingBalance}`;

it('the importer asks whether amounts include a fee that no balance shows, and accepts the answer', () => {
  expect(read(FEES)).toMatchObject({ questions: ['fees'] });
  expect(read(FEES, { columns: { fee: 'Fee' } })).toMatchObject({
    signed: [-3.1, -4],
    questions: [],
  });
  expect(read(FEES, { columns: { fee: 'none' } })).toMatchObject({
    signed: [-3, -4],
    questions: [],
  });
});

it.each([
  ['no fee at all', FEES.replace('0.10', '0.00'), [-3, -4]],
  ['balances that include the fee', createFileWithBalance('92.50'), [-3, -4.5]],
  ['balances without the fee', createFileWithBalance('93.00'), [-3, -4]],
  ['a net amount', 'Date,Text,Amount,Fee,Net Amount|2026-01-02,Tea,-3.00,-0.10,-3.10', [-3.1]],
  ['fees that Wise includes in its amounts', FEES.replace('Fee', 'Total fees'), [-3, -4]],
  [
    'the statements of Revolut',
    'Started Date,Completed Date,Text,Amount,Fee|2026-01-01,2026-01-02,Tea,-3.00,0.10',
    [-3.1],
  ],
])('the importer asks nothing about fees for %s', (_, file, signed) => {
  expect(read(file)).toMatchObject({ signed, questions: [] });
});

const WISE =
  'ID,Direction,Created on,Source fee amount,Source name,Source amount (after fees),Source currency,Target name,Target amount (after fees),Target currency,Exchange rate';

it('the importer reads the side of a transfer that belongs to the account', () => {
  const paid = '1,OUT,2026-01-02,1.50,Me,98.50,EUR,Shop,110.00,USD,1.117';
  const received = '2,IN,2026-01-03,2.00,Employer,1000.00,USD,Me,900.00,EUR,0.902';
  const ownTransfer = '3,NEUTRAL,2026-01-04,0.50,Me,50.00,EUR,Me,55.00,USD,1.1';
  expect(read([WISE, paid, received, ownTransfer].join('|'))).toEqual({
    signed: [-100, 900],
    questions: [],
    refused: [],
    leftOut: [4],
  });
});
