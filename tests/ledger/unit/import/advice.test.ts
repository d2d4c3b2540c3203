// Every message that names an option is right: who takes its advice has the file read to the end.
import { expect, it } from 'vitest';
import {
  readStatement,
  type Statement,
  type StatementOptions,
  splitTrailer,
} from '../../../../lib/ledger/import/statement.ts';

const TODAY = '2026-01-15';

/** `|` ends a line. */
async function read(file: string, options: StatementOptions): Promise<Statement> {
  return await readStatement(Buffer.from(file.replaceAll('|', '\n')), { today: TODAY, ...options });
}

/** Messages that a person sees: an error, or everything that still prevents the import. */
async function listMessages(file: string, options: StatementOptions): Promise<readonly string[]> {
  try {
    const { needs, refused } = await read(file, options);
    return [...needs, ...refused].map(({ message }) => message);
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
const FAR = `date,name,amount|${ROWS}|0206-12-30,Old,-1.00`;
const REVERSED =
  'date,name,amount,balance|2025-12-27,Tea,-3.00,103.00|2025-12-28,Bus,-4.00,107.00|2025-12-29,Car,-5.00,112.00|2025-12-30,Pay,6.00,106.00';
const TWO_WAYS = 'date,name,amount|1/2/2025,Tea,-3.00|3/4/2025,Bus,-4.00';
const POSTINGS = `date,name,amount,account|${['a', 'b', 'c']
  .flatMap((name) => [`2025-12-30,${name},-3.00,Giro`, `2025-12-30,${name},3.00,Food`])
  .join('|')}`;

it.each<[says: string, file: string, advice: StatementOptions, before?: StatementOptions]>([
  ['--date-order dmy or mdy', TWO_WAYS, { dateOrder: 'dmy' }],
  [
    '"2/13/2025" is no date in dmy, and all dates are in mdy',
    `${TWO_WAYS}|2/13/2025,Car,-5.00`,
    { dateOrder: 'mdy' },
    { dateOrder: 'dmy' },
  ],
  ['add --invert', INCOME, { isInverted: true }],
  ['add --as-it-is', INCOME, { isAsItIs: true }],
  [
    '--income WORD --expense WORD',
    WORDS.replaceAll('Ab', 'Foo').replaceAll('Zu', 'Bar'),
    { columns: { type: 'Type' }, words: { income: ['Bar'], expense: ['Foo'] } },
  ],
  ['--leave-out "quux"', STATUS, { leaveOut: ['quux'] }],
  ['--status-column none', STATUS, { columns: { status: 'none' } }],
  ['--currency EUR', CURRENCIES, { currency: 'EUR' }],
  ['--only-account NAME; the file has Giro, Food', POSTINGS, { onlyAccount: 'Giro' }],
  ['--as-it-is', FAR, { isAsItIs: true }],
  ['--invert', REVERSED, { isInverted: true }],
  ['--as-it-is', REVERSED, { isAsItIs: true }],
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
    '--decimal chooses it',
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
])('"%s" is right (%#)', async (says, file, advice, before = {}) => {
  expect(await listMessages(file, before)).toContainEqual(expect.stringContaining(says));
  expect(await listMessages(file, { ...before, ...advice })).toEqual([]);
});

it('--trailer leaves out what the bank writes after the rows', async () => {
  const statement = await read(`date,name,amount|${ROWS}|The end`, {});
  const { trailer } = splitTrailer(statement, undefined);
  expect(splitTrailer(statement, trailer.length)).toMatchObject({ refused: [] });
});

it('--description names the columns of texts', async () => {
  const file = 'date,description,Quux,amount|2025-12-30,,Tea,-3.00|2025-12-29,Bus,x,-4.00';
  const { findings } = await read(file, {});
  expect(findings).toContainEqual(expect.stringContaining('--description COLUMN,COLUMN'));
  const { rows } = await read(file, { columns: { description: 'description,Quux' } });
  expect(rows.map(({ description }) => description)).toEqual(['Tea', expect.stringMatching(/Bus/)]);
});
