// Reads QIF, the line-based format of Quicken and many other programs: accounts with their rows, splits and transfers. All dates
// of the file together show whether the day or the month is written first.
import { type DecimalSeparator, readAmount } from './amounts.ts';
import { type DateOrder, readDates } from './dates.ts';
import { decideDecimals } from './decimal-separator.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  pluralize,
  type RefusedLine,
} from './entry.ts';
import { INVESTMENTS, refuseInvestments, tidyText, toEntry } from './stated-entries.ts';

interface Split {
  category: string | null;
  memo: string;
  amount: string;
}

/** The lines up to a `^`, keyed by their first letters. */
interface QifRecord {
  readonly line: number;
  readonly account: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly splits: readonly Split[];
}

export interface QifOptions {
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  /** `YYYY-MM-DD`; two-digit years are read relative to this day. */
  readonly today: string;
}

const ACCOUNT_TYPES = ['bank', 'cash', 'ccard', 'oth a', 'oth l'];
const INVESTMENT_TYPES = ['invst', 'port', '401(k)/403(b)'];
const OPENING_BALANCE = /^(?:opening|starting|initial) balance$/i;
const TRANSFER = /^\[(.*)\]/;

/** @throws UserError if the dates fit two orders */
export function readQif(text: string, { dateOrder, decimal, today }: QifOptions) {
  const { records, leftOut } = readRecords(text);
  const dateTexts = records.map(({ fields }) => fields.D ?? '');
  const dates = readDates(dateTexts, { chosenOrder: dateOrder, today, isDayFirst: false });
  const amounts = records.flatMap(({ fields, splits }) => [
    readWrittenAmount(fields),
    ...splits.map(({ amount }) => amount),
  ]);
  const decimals = decideDecimals({
    amountCells: amounts,
    otherCells: [],
    currencyTexts: [],
    chosenSeparator: decimal,
  });
  const entries: Entry[] = [];
  const refused: RefusedLine[] = [];
  for (const record of records) {
    const { line, fields } = record;
    if (isOpeningBalance(record)) {
      const content = `${fields.D ?? ''} ${readWrittenAmount(fields)} ${fields.P ?? ''}`;
      leftOut.push({ line, reason: 'opening balance', text: content });
      continue;
    }
    try {
      const date = dates.read(fields.D ?? '');
      entries.push(...readParts(record, { date, decimal: decimals.decimal }));
    } catch (error) {
      refused.push({ line, message: (error as Error).message });
    }
  }
  refuseInvestments({ entries, leftOut, refused });
  const finding = `dates are read as ${dates.order} (--date-order sets another order)`;
  const findings = entries.length === 0 ? [] : [finding];
  const questions = decimals.question === undefined ? [] : [decimals.question];
  return { entries, leftOut, refused, findings, questions } satisfies ParsedEntries;
}

interface PartOptions {
  readonly date: string;
  readonly decimal: DecimalSeparator;
}

/** Makes an entry of each split, so that each keeps its category; a single one if the splits do not add up to the amount. */
function readParts({ line, account, fields, splits }: QifRecord, { date, decimal }: PartOptions) {
  const sharedFields = { line, date, account, bankId: null, currency: null };
  const checkNumber = fields.N && /^\d+$/.test(fields.N) ? `Check ${fields.N}` : '';
  const { signed } = readAmount(readWrittenAmount(fields), decimal);
  const texts = [fields.P, fields.M, checkNumber];
  const wholeEntry = toEntry({ ...sharedFields, signed, texts, ...readCategory(fields.L) });
  const parts = splits.map(({ amount, category, memo }) =>
    toEntry({
      ...{ ...sharedFields, signed: readAmount(amount || '0', decimal).signed },
      ...{ texts: [fields.P, memo, fields.M, checkNumber], ...readCategory(category ?? '') },
    }),
  );
  const cents = parts.reduce((sum, part) => sum + Math.round(part.signed * 100), 0);
  const addsUpToAmount = parts.length > 0 && cents === Math.round(signed * 100);
  return addsUpToAmount ? parts.filter((part) => part.signed !== 0) : [wholeEntry];
}

/** Reads a category without the class after its slash. An account in brackets is a transfer. */
function readCategory(source = '') {
  const [, otherAccount] = TRANSFER.exec(source) ?? [];
  if (otherAccount !== undefined) return { category: null, remark: `Transfer: ${otherAccount}` };
  const name = source.startsWith('--') ? '' : (source.split('/')[0] ?? '');
  return { category: tidyText(name), remark: null };
}

/** True for an account's opening balance, which programs write as a transfer from the account to itself. */
function isOpeningBalance({ fields, account }: QifRecord): boolean {
  const [, otherAccount] = TRANSFER.exec(fields.L ?? '') ?? [];
  const hasOpeningText = OPENING_BALANCE.test((fields.P ?? fields.M ?? '').trim());
  return otherAccount !== undefined && (hasOpeningText || otherAccount === account);
}

function readWrittenAmount({ T, U }: QifRecord['fields']): string {
  return T ?? U ?? '';
}

/** Reads the records of accounts. Investments are left out and counted; lists, such as categories, are skipped. */
function readRecords(text: string) {
  const records: QifRecord[] = [];
  const investments: number[] = [];
  let account: string | null = null;
  for (const { section, ...record } of splitRecords(text)) {
    if (section === 'account') account = tidyText(record.fields.N);
    else if (ACCOUNT_TYPES.includes(section)) records.push({ ...record, account });
    else if (INVESTMENT_TYPES.includes(section)) investments.push(record.line);
  }
  const leftOut: LeftOutLine[] = investments.slice(0, 1).map((line) => ({
    line,
    reason: INVESTMENTS,
    text: pluralize(investments.length, 'movement'),
  }));
  return { records, leftOut };
}

interface SectionRecord {
  /** Name of the section in lower case, such as "bank". */
  readonly section: string;
  readonly line: number;
  readonly fields: Record<string, string>;
  readonly splits: Split[];
}

function splitRecords(text: string): readonly SectionRecord[] {
  const records: SectionRecord[] = [];
  let section = 'bank';
  let record: SectionRecord | undefined;
  for (const [n, source] of text.split(/\r\n|\n|\r/).entries()) {
    const line = source.trimEnd();
    const [letter = '', value] = [line[0], line.slice(1).trim()];
    if (letter === '^' || letter === '!') record = undefined;
    if (letter === '!') section = readSection(value) ?? section;
    else if (letter !== '' && letter !== '^') {
      if (!record) {
        record = { section, line: n + 1, fields: {}, splits: [] };
        records.push(record);
      }
      addField(record, letter, value);
    }
  }
  return records;
}

/** @returns undefined for a line that begins no section, such as an option */
function readSection(header: string): string | undefined {
  const [, type] = /^type:\s*(.*)$/i.exec(header) ?? [];
  if (type !== undefined) return type.trim().toLowerCase();
  return /^account\b/i.test(header) ? 'account' : undefined;
}

/** S begins a split; E and $ belong to the last split. */
function addField(
  record: Pick<SectionRecord, 'fields' | 'splits'>,
  letter: string,
  text: string,
): void {
  const split = record.splits.at(-1);
  if (letter === 'S') record.splits.push({ category: text, memo: '', amount: '' });
  else if (letter === 'E' && split) split.memo = text;
  else if (letter === '$' && split) split.amount = text;
  else record.fields[letter] ??= text;
}
