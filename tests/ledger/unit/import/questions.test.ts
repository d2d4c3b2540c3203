// The importer asks about each ambiguity of a file, accepts the options that its question names, and remembers them for the layout.
import { expect, it } from 'vitest';
import {
  readCsv as readText,
  type Statement,
  type StatementOptions,
} from '../../../../lib/ledger/import/statement.ts';

const splitLines = (text: string) => text.split('|').join('\n');
const readCsv = (text: string, options: StatementOptions = {}) =>
  readText(text, { today: '2026-01-15', ...options });

function summarize({ rows, questions }: Statement) {
  const signed = rows.map(({ type, amount }) => (type === 'expense' ? -amount : amount));
  return { signed, questions: questions.map(({ topic }) => topic) };
}

const POSITIVE_AMOUNTS =
  'Date,Text,Amount,Kind|2026-01-02,a,3,Foo|2026-01-03,b,4,Foo|2026-01-04,c,9,Bar';
const DISTANT_DATE = 'Date,Text,Amount|2026-01-02,a,-3|2062-01-03,b,-4|2026-01-04,c,-9';
const STATUS =
  'Date,Text,Amount,Status|2026-01-02,a,-3,Completed|2026-01-03,b,-4,Zorp|2026-01-04,c,-9,Completed';
const TWO_CURRENCIES = 'Date,Text,Amount,Currency|2026-01-02,a,-3,EUR|2026-01-03,b,-4,USD';
const POSTINGS =
  'Date,Text,Account,Amount|2026-01-02,a,Bank,-3|2026-01-02,a,Food,3|2026-01-03,b,Bank,-4|2026-01-03,b,Food,4';
const FLAGGED_ROW =
  'Date,Text,Amount,Status,Reversed|2026-01-02,a,-3,Completed,No|2026-01-03,b,-4,Completed,Yes|2026-01-04,c,-9,Pending,No';
const FUTURE_DATE = 'Date,Text,Amount|2026-01-02,a,-3|2027-01-03,b,-4|2026-01-04,c,-9';
const TAXED_AMOUNTS =
  'Date,Text,Gross,VAT,Amount|2026-01-02,a,-3.00,-0.50,-2.50|2026-01-03,b,-4.00,-0.60,-3.40';
const BALANCES =
  'Date,Text,Amount,Balance|2026-01-02,a,-3,103|2026-01-03,b,-4,107|2026-01-04,c,9,98';

it.each<[question: string, file: string, answer: StatementOptions, signed: number[]]>([
  ['direction', POSITIVE_AMOUNTS, { isInverted: true }, [-3, -4, -9]],
  ['direction', POSITIVE_AMOUNTS, { isPreviewAccepted: true }, [3, 4, 9]],
  [
    'direction',
    POSITIVE_AMOUNTS,
    { columns: { type: 'Kind' }, words: { expense: ['Foo'], income: ['Bar'] } },
    [-3, -4, 9],
  ],
  ['direction', BALANCES, { isInverted: true }, [3, 4, -9]],
  ['direction', BALANCES, { isPreviewAccepted: true }, [-3, -4, 9]],
  ['dates', DISTANT_DATE, { isPreviewAccepted: true }, [-3, -4, -9]],
  ['status', STATUS, { leaveOut: ['Zorp'] }, [-3, -9]],
  ['status', STATUS, { columns: { status: 'none' } }, [-3, -4, -9]],
  ['status', FLAGGED_ROW, { leaveOut: ['reversed'] }, [-3]],
  ['status', FLAGGED_ROW, { isPreviewAccepted: true }, [-3, -4]],
  ['dates', FUTURE_DATE, { isPreviewAccepted: true }, [-3, -4, -9]],
  ['columns', TAXED_AMOUNTS, { columns: { amount: 'Amount' } }, [-2.5, -3.4]],
  ['columns', TAXED_AMOUNTS, { columns: { amount: 'Gross' } }, [-3, -4]],
  ['currency', TWO_CURRENCIES, { currency: 'eur' }, [-3]],
  ['postings', POSTINGS, { onlyAccount: 'Bank' }, [-3, -4]],
])('the importer asks about %s in %s, and accepts %o', (question, file, answer, signed) => {
  expect(summarize(readCsv(splitLines(file))).questions).toContain(question);
  expect(summarize(readCsv(splitLines(file), answer))).toEqual({ signed, questions: [] });
});

it.each([
  ['Excluded', 'true', 'false'],
  ['Is excluded', '1', '0'],
  ['Excluded from budget', 'X', ''],
  ['Storno', 'Ja', 'Nein'],
  ['Extourné', 'VRAI', 'FAUX'],
  ['Revertido', 'sí', 'no'],
  ['Estornado', 'verdadeiro', 'falso'],
  ['Escluso', 'vero', 'falso'],
  ['Återförd', 'Ja', 'Nej'],
  ['Wykluczone', 'tak', 'nie'],
  ['Сторно', 'да', 'нет'],
  ['対象外', '○', ''],
  ['計算対象', '0', '1'],
  ['振替', '1', '0'],
])('the importer asks about rows that a column "%s" marks with %s', (name, yes, no) => {
  const createMarkedFile = (mark: string) =>
    `Date,Text,Amount,${name}|2026-01-02,a,-3,${no}|2026-01-03,b,-4,${mark}|2026-01-04,c,-5,${no}`;
  expect(summarize(readCsv(splitLines(createMarkedFile(yes)))).questions).toEqual(['status']);
  expect(summarize(readCsv(splitLines(createMarkedFile(no)))).questions).toEqual([]);
  // A date or an id in this column does not mark a row.
  expect(summarize(readCsv(splitLines(createMarkedFile('R-1042')))).questions).toEqual([]);
});

it('the importer does not ask about a column of transfers if both sides are left out', () => {
  const file = [
    'Date,Account,Text,Category,Amount,Transfer',
    '2026-01-02,Bank,Shop,Food,-45.10,false',
    '2026-01-03,Bank,,Transfer,-100,true',
    '2026-01-03,Cash,,Transfer,100,true',
  ].join('|');
  expect(summarize(readCsv(splitLines(file)))).toEqual({ signed: [-45.1], questions: [] });
});

it('the importer does not ask about a column of amounts whose name suggests that it marks rows', () => {
  const file = 'Date,Text,Amount,Refunded|2026-01-02,a,-3,0|2026-01-03,b,-4,1|2026-01-04,c,-9,2.50';
  expect(summarize(readCsv(splitLines(file)))).toEqual({ signed: [-3, -4, -9], questions: [] });
});

const createFile = (...dates: readonly string[]) =>
  `Date,Text,Amount|${dates.map((date, n) => `${date},a${n},-${n + 1}`).join('|')}`;

it.each([
  ['nothing about rows a few days ahead', createFile('2026-01-02', '2026-01-14', '2026-01-22'), []],
  [
    'nothing if a wrong clock puts all rows in the future',
    createFile('2027-03-02', '2027-03-14', '2027-04-20'),
    [],
  ],
  [
    'nothing about the next row of a regular series',
    createFile('2025-11-02', '2025-12-14', '2026-01-02', '2026-01-30'),
    [],
  ],
  [
    'about a row in the next month',
    createFile('2025-12-20', '2026-01-10', '2026-02-27'),
    ['dates'],
  ],
  [
    'about rows in the next year',
    createFile('2025-12-20', '2026-01-10', '2027-01-11', '2027-02-11'),
    ['dates'],
  ],
])('the importer asks %s', (_, file, questions) => {
  expect(summarize(readCsv(splitLines(file))).questions).toEqual(questions);
});

it.each([
  ['they are equal', '-3.00,-0.50,-3.00', '-4.00,-0.60,-4.00', []],
  ['they differ only in their sign', '-3.00,-0.50,3.00', '-4.00,-0.60,4.00', []],
  ['they differ', '-3.00,-0.50,-3.10', '-4.00,-0.60,-4.00', ['columns']],
])(
  'the importer asks which amount was paid only if they differ: %s',
  (_, first, second, questions) => {
    const file = `Date,Text,Gross,VAT,Amount|2026-01-02,a,${first}|2026-01-03,b,${second}`;
    expect(summarize(readCsv(splitLines(file)))).toEqual({ signed: [-3, -4], questions });
  },
);

it('the importer never adds up two currencies, even with --as-it-is', () => {
  expect(
    summarize(readCsv(splitLines(TWO_CURRENCIES), { isPreviewAccepted: true })).questions,
  ).toEqual(['currency']);
});

const NO_HEADER = '01/02/2025,Tea,3.00|02/03/2025,Bus,4.00';

it.each([
  ['its header', POSITIVE_AMOUNTS, { isInverted: true }],
  ['its cells if it has no header', NO_HEADER, { dateOrder: 'dmy', isInverted: true }],
] as const)('the importer remembers the options of a file by %s', (_, file, options) => {
  const { layout, rows } = readCsv(splitLines(file), options);
  expect(layout?.used).toEqual(options);
  const layouts = { [layout?.key ?? '']: layout?.used ?? {} };
  const second = readCsv(splitLines(file), { layouts });
  const listIds = ({ otherIds, idWithAccount, ...row }: (typeof rows)[number]) => ({
    ...row,
    ids: [...(otherIds?.() ?? []), idWithAccount?.('Giro')],
  });
  expect(second.rows.map(listIds)).toEqual(rows.map(listIds));
  expect(second).toMatchObject({ questions: [], layout: { recalled: options } });
  // Options of the command override remembered options, which do not apply to other layouts.
  expect(summarize(readCsv(splitLines(file), { layouts, isInverted: false })).signed[0]).toBe(3);
  expect(readCsv(splitLines(DISTANT_DATE), { layouts }).layout?.recalled).toBeNull();
});

it.each([
  ['leaves out a split entry before its parts', 'Split', '-2', [-3, -2, -4]],
  ['keeps a split entry if the next rows are not its parts', '--Split--', '-9', [-5, -3, -9, -4]],
  [
    'keeps an entry that equals the sum of the next rows if nothing marks it as split',
    'Food',
    '-2',
    [-5, -3, -2, -4],
  ],
])('the importer %s', (_, category, part, signed) => {
  const file = `Date,Payee,Category,Amount|2026-01-02,Shop,${category},-5|2026-01-02,Shop,Food,-3|2026-01-02,Shop,Fun,${part}|2026-01-03,Bus,Fun,-4`;
  expect(summarize(readCsv(splitLines(file)))).toEqual({ signed, questions: [] });
});

it('the importer refuses a value as the name of a column if the file has no header', () => {
  expect(() => readCsv(splitLines(NO_HEADER), { columns: { date: '01/02/2025' } })).toThrow(
    '"01/02/2025" is a value, not the name of a column. Name the columns by their numbers',
  );
  const columns = { date: '1', amount: '3', description: '2' };
  const { rows } = readCsv(splitLines(NO_HEADER), { columns, dateOrder: 'mdy' });
  expect(rows.map(({ description }) => description)).toEqual(['Tea', 'Bus']);
});

it('the importer joins the named columns of the description', () => {
  const columns = { description: 'Payee,Memo' };
  const file = 'Date,Payee,Memo,Amount|2026-01-02,Shop,Tea,-1|2026-01-03,,Bus,-2|2026-01-04,,,-3';
  expect(readCsv(splitLines(file), { columns }).rows.map(({ description }) => description)).toEqual(
    [...['Shop, Tea', 'Bus', '(no description)']],
  );
});
