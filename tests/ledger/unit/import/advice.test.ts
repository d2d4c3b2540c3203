// Every message that names an option gives correct advice: with that option, the whole file is read.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  readStatement,
  type Statement,
  type StatementOptions,
  splitTrailer,
} from '../../../../lib/ledger/import/statement.ts';
import { listAdvice, toPattern } from '../../support/import/messages.ts';

const TODAY = '2026-01-15';

/** Reads a file, in which `|` ends a line. */
async function read(file: string, options: StatementOptions): Promise<Statement> {
  return await readStatement(Buffer.from(file.replaceAll('|', '\n')), { today: TODAY, ...options });
}

/** Lists the messages that the user sees: an error, or everything that still prevents the import. */
async function listMessages(file: string, options: StatementOptions): Promise<readonly string[]> {
  try {
    const { questions, refused, findings } = await read(file, options);
    const advice = findings.filter((finding) => finding.includes('--'));
    return [...[...questions, ...refused].map(({ message }) => message), ...advice];
  } catch (error) {
    return [(error as Error).message];
  }
}

const ROWS = '2025-12-30,Tea,-3.00|2025-12-29,Bus,-4.00|2025-12-28,Pay,9.00';
const INCOME = 'date,name,amount|2025-12-30,Tea,3.00|2025-12-29,Bus,4.00';
const WORDS = 'date,name,amount,Type|2025-12-30,Tea,3,Ab|2025-12-29,Bus,4,Zu|2025-12-28,Car,5,Ab';
const STATUS = `date,name,amount,Status|${[
  '2025-12-30,Tea,-3.00,booked',
  '2025-12-29,Bus,-4.00,pending',
  '2025-12-28,Car,-5.00,quux',
].join('|')}`;
const CURRENCIES = 'date,name,amount,currency|2025-12-30,Tea,-3,EUR|2025-12-29,Bus,-4,USD';
const DISTANT_DATE = `date,name,amount|${ROWS}|0206-12-30,Old,-1.00`;
const FUTURE_DATE = `date,name,amount|${ROWS}|2026-12-30,Tea,-1.00`;
const FLAGGED = 'date,name,amount,Reversed|2025-12-30,Tea,-3,No|2025-12-29,Bus,-4,Yes';
const TRANSFER = `date,name,amount,account|2025-12-30,Transfer,-3.00,Giro|2025-12-30,Bus,3.00,Cash`;
const TAXED =
  'date,name,Gross,VAT,Amount|2025-12-30,Tea,-3.00,-0.50,-2.50|2025-12-29,Bus,-4.00,-0.60,-3.40';
const REVERSED =
  'date,name,amount,balance|2025-12-27,Tea,-3.00,103.00|2025-12-28,Bus,-4.00,107.00|2025-12-29,Car,-5.00,112.00|2025-12-30,Pay,6.00,106.00';
const AMBIGUOUS_DATES = 'date,name,amount|1/2/2025,Tea,-3.00|3/4/2025,Bus,-4.00';
const THOUSANDS = 'date,name,amount|2025-12-30,Tea,"-3,000"|2025-12-29,Bus,"-4,001"';
const FEES = 'date,name,amount,Fee|2025-12-30,Tea,-3.00,0.10|2025-12-29,Bus,-4.00,';
const CARD =
  'date,name,amount|2025-12-30,Tea,3.00|2025-12-29,Bus,4.00|2025-12-28,Car,5.00|2025-12-27,Payment - thank you,-7.00';
const POSTINGS = `date,name,amount,account|${['a', 'b', 'c']
  .flatMap((name) => [`2025-12-30,${name},-3.00,Giro`, `2025-12-30,${name},3.00,Food`])
  .join('|')}`;

const BALANCES =
  'date,name,amount|2025-12-27,Fillestare,100.00|2025-12-28,Tea,-3.00|2025-12-29,Bus,-4.00|2025-12-30,Car,-5.00|2025-12-31,Fundit,88.00';
const REVERSAL =
  '<Document><BkToCstmrStmt><Stmt><Ntry><Amt Ccy="EUR">3.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><RvslInd>true</RvslInd><BookgDt><Dt>2025-12-30</Dt></BookgDt></Ntry></Stmt></BkToCstmrStmt></Document>';

type Case = [
  message: string,
  file: string,
  advice: StatementOptions,
  earlierOptions?: StatementOptions,
];

const CASES: readonly Case[] = [
  ['--date-order dmy or mdy', AMBIGUOUS_DATES, { dateOrder: 'dmy' }],
  [
    '"2/13/2025" is not a date in dmy, and all dates fit mdy',
    `${AMBIGUOUS_DATES}|2/13/2025,Car,-5.00`,
    { dateOrder: 'mdy' },
    { dateOrder: 'dmy' },
  ],
  ['add --invert', INCOME, { isInverted: true }],
  ['add --as-it-is', INCOME, { isPreviewAccepted: true }],
  [
    '--income WORD --expense WORD',
    WORDS.replaceAll('Ab', 'Foo').replaceAll('Zu', 'Bar'),
    { columns: { type: 'Type' }, words: { income: ['Bar'], expense: ['Foo'] } },
  ],
  ['--leave-out "quux"', STATUS, { leaveOut: ['quux'] }],
  ['--status-column none', STATUS, { columns: { status: 'none' } }],
  ['--currency EUR', CURRENCIES, { currency: 'EUR' }],
  ["--currency '$,USD'", CURRENCIES.replace('EUR', '$'), { currency: '$,USD' }],
  ['--only-account NAME; the file has Giro, Food', POSTINGS, { onlyAccount: 'Giro' }],
  ['--as-it-is', DISTANT_DATE, { isPreviewAccepted: true }],
  ['import them with --as-it-is', FUTURE_DATE, { isPreviewAccepted: true }],
  [
    'choose --date-order',
    'date,name,amount|01/12/25,Tea,-3|02/12/25,Bus,-4|13/12/25,Car,-5',
    { dateOrder: 'dmy' },
    { dateOrder: 'ymd' },
  ],
  ['--only-account "Giro", or', TRANSFER, { onlyAccount: 'Giro' }],
  ['or add --as-it-is if they are income and expenses', TRANSFER, { isPreviewAccepted: true }],
  ['--only-account "Giro"', TRANSFER.replace('Transfer', 'Tea'), { onlyAccount: 'Giro' }],
  ['--leave-out "Reversed"', FLAGGED, { leaveOut: ['Reversed'] }],
  ['or import them with --as-it-is', FLAGGED, { isPreviewAccepted: true }],
  ['--amount "Gross"', TAXED, { columns: { amount: 'Gross' } }],
  ['--amount "Amount"', TAXED, { columns: { amount: 'Amount' } }],
  ['--invert', REVERSED, { isInverted: true }],
  ['--as-it-is', REVERSED, { isPreviewAccepted: true }],
  [
    'Name it with --amount COLUMN',
    `date,name,Quantum|${ROWS}`,
    { columns: { amount: 'Quantum' } },
    { columns: { amount: 'Kwantum' } },
  ],
  [
    '--debit COLUMN --credit COLUMN',
    'date,name,Foo,Bar|2025-12-30,Tea,3.00,|2025-12-28,Pay,,9.00',
    { columns: { debit: 'Foo', credit: 'Bar' } },
  ],
  [
    'by their numbers, such as --date 1 --amount 2 --description 3',
    'Tea,x,2025-12-30,y,-3|Bus,x,2025-12-29,y,-4',
    { columns: { date: '3', amount: '5', description: '1' } },
  ],
  [
    '--decimal sets it',
    'date;name;amount|2025-12-30;Tea;-3,00|2025-12-29;Bus;-4,00',
    { decimal: 'comma' },
    { decimal: 'point' },
  ],
  ['with --encoding', `date,name,amount|${ROWS}`, { encoding: 'utf-8' }, { encoding: 'x-quux' }],
  [
    '--type none',
    'date,name,amount,type|2025-12-30,Tea,-3,expense|2025-12-29,Bus,4,expense|2025-12-28,Car,-5,expense|2025-12-27,Pay,-6,income',
    { columns: { type: 'none' } },
  ],
  [
    'or --id none',
    'date,name,amount,Ref|2025-12-30,Tea,-3.00,1|2025-12-30,Bus,-3.00,1',
    { columns: { externalId: 'none' } },
    { columns: { externalId: 'Ref' } },
  ],
  ['--decimal point if it is thousands', THOUSANDS, { decimal: 'point' }],
  ['--fee "Fee"', FEES, { columns: { fee: 'Fee' } }],
  ['--fee none', FEES, { columns: { fee: 'none' } }],
  [
    'choose --decimal point',
    THOUSANDS.replace('-3.00', '"-3,000"').replace('-4.00', '"-4,001"'),
    { decimal: 'point' },
    { decimal: 'comma' },
  ],
  [
    '--amount names another column',
    'date,name,amount,Paid|2025-12-30,Tea,-3.00,-3.00|2025-12-29,Bus,,-4.00',
    { columns: { amount: 'Paid' } },
  ],
  [
    'add --as-it-is',
    POSTINGS.replace(',account', '').replaceAll(/,(?:Giro|Food)/g, ''),
    { isPreviewAccepted: true },
  ],
  [
    'Name the column of --income and --expense with --type',
    WORDS.replace('Type', 'Quux'),
    { columns: { type: 'Quux' } },
    { words: { income: ['Zu'], expense: ['Ab'] } },
  ],
  [
    '--income "Zu" or --expense "Zu"',
    WORDS,
    { words: { income: ['Zu'], expense: ['Ab'] } },
    { columns: { type: 'Type' }, words: { expense: ['Ab'] } },
  ],
  [
    'Name one by its number: --amount 3',
    'date,name,Money,Money|2025-12-30,Tea,-3.00,1|2025-12-29,Bus,-4.00,1',
    { columns: { amount: '3' } },
    { columns: { amount: 'Money' } },
  ],
  [
    '--date-order sets another order',
    '!Type:Bank|D12/30/2025|T-3.00|PTea|^|D12/29/2025|T-4.00|PBus|^',
    { dateOrder: 'mdy' },
  ],
  [
    'add --as-it-is if it is a transaction',
    '2025-12-31,Old,88.00|30.12.2025,Tea,-3.00|29.12.2025,Bus,-4.00|28.12.2025,Car,-5.00',
    { isPreviewAccepted: true },
  ],
  ['add --as-it-is if they are transactions', BALANCES, { isPreviewAccepted: true }],
  ['--as-it-is reads them as they are', CARD, { isPreviewAccepted: true }],
  ['If the preview is right, add --as-it-is', REVERSAL, { isPreviewAccepted: true }],
  [
    '--description COLUMN,COLUMN',
    'date,description,Quux,amount|2025-12-30,,Tea,-3.00|2025-12-29,Bus,x,-4.00',
    { columns: { description: 'description,Quux' } },
  ],
];

it.each(CASES)('"%s" is good advice (%#)', async (message, file, advice, earlierOptions = {}) => {
  expect(await listMessages(file, earlierOptions)).toContainEqual(expect.stringContaining(message));
  const remaining = await listMessages(file, { ...earlierOptions, ...advice });
  expect(remaining.filter((text) => !REMARK.test(text))).toEqual([]);
});

/** A remark about every QIF file, which asks for no option */
const REMARK = /^dates are read as/;

it('--trailer leaves out the lines that the bank writes after the rows', async () => {
  const statement = await read(`date,name,amount|${ROWS}|The end`, {});
  const { trailer } = splitTrailer(statement, undefined);
  expect(splitTrailer(statement, trailer.length)).toMatchObject({ refused: [] });
});

const IMPORT = join(import.meta.dirname, '../../../../lib/ledger/import');

it('the cases cover every message of the importer that names an option', async () => {
  const messages = await Promise.all(
    CASES.map(([, file, , earlierOptions = {}]) => listMessages(file, earlierOptions)),
  );
  // The test above covers the messages about a trailer, and plan.test.ts those about two accounts.
  const excluded = [/unreadable lines after its rows/, /of the file and of the import/];
  const uncovered = listAdvice(IMPORT).filter(
    (text) =>
      !excluded.some((pattern) => pattern.test(text)) &&
      !messages.flat().some((message) => toPattern(text).test(message)),
  );
  expect(uncovered).toEqual([]);
});
