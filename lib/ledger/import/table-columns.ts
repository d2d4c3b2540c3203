// Which column of a table holds what: by the names that were given, by the names that banks use, and by what the cells hold.
import { UserError } from '../../shared/user-error.ts';
import { looksLikeAmount } from './amounts.ts';
import { stateOfWord } from './booking-words.ts';
import { type Field, findNamed, isOtherAmount, normalizeName } from './column-names.ts';
import type { TableRow } from './csv-text.ts';
import { looksLikeDate } from './dates.ts';
import { directionOfWord } from './direction-words.ts';
import { findWitnessed } from './witnessed-amounts.ts';

/** Columns that options can name. */
export type ChosenField = Exclude<
  Field,
  'balance' | 'reference' | 'bookingType' | 'payer' | 'receivedAmount' | 'receivedCurrency'
>;
export type ChosenColumns = Readonly<Partial<Record<ChosenField, string | undefined>>>;

/** Indexes; of several, the first that has a text is used. */
export type Columns = Readonly<Record<Field, readonly number[]>>;

export interface FoundColumns {
  readonly columns: Columns;
  /** Missing columns; empty if every needed one was found. */
  readonly problems: readonly string[];
  /** Known or chosen names say which columns hold the date and the amount. */
  readonly isNamed: boolean;
}

/** In place of a column's name: the file has no column of this field. */
const NONE = 'none';
/** Rows whose cells are looked at. */
const MAX_SAMPLED_ROWS = 300;
const MOST = 0.8;
/** Fewer rows do not show that a column repeats itself. */
const MIN_JUDGED_IDS = 10;

export function optionName(field: Field): string {
  if (field === 'externalId') return '--id';
  return field === 'status' ? '--status-column' : `--${field}`;
}

/** The texts of a column that are not empty. */
interface Sample {
  readonly cells: readonly string[];
  readonly rows: number;
}

/**
 * @param headers names of the columns; empty texts where the file has no header
 * @param rows the rows below the header
 */
export function findColumns(
  headers: readonly string[],
  rows: readonly TableRow[],
  chosen: ChosenColumns,
): FoundColumns {
  const names = headers.map(normalizeName);
  const some = rows.slice(0, MAX_SAMPLED_ROWS);
  const samples = headers.map((_, index) => sampleColumn(some, index));
  const problems: string[] = [];
  const named = (field: Field) => findNamed(names, field);
  const pick = (field: ChosenField): readonly number[] | undefined => {
    const name = chosen[field];
    if (name === undefined) return undefined;
    if (name.trim().toLowerCase() === NONE) return [];
    const found = findChosen(headers, name, field);
    if (found.length === 0) problems.push(missing(`"${name}"`, field));
    return found;
  };
  const context = { headers, names, samples, chosen, rows: some };
  const date = pick('date') ?? findDates(context);
  const taken = new Set(date);
  const amounts = findAmounts(context, pick, taken);
  for (const index of [...amounts.amount, ...amounts.debit, ...amounts.credit]) taken.add(index);
  if (date.length === 0 && chosen.date === undefined)
    problems.push(missing('for the date', 'date'));
  if (amounts.problem !== undefined) problems.push(amounts.problem);

  const free = (indexes: readonly number[]) => indexes.filter((index) => !taken.has(index));
  const take = (indexes: readonly number[]) => {
    for (const index of indexes) taken.add(index);
    return indexes;
  };
  const balance = free(named('balance')).filter((index) => isNumeric(samples[index]));
  const fee =
    pick('fee') ??
    free(named('fee'))
      .filter((index) => isNumeric(samples[index]))
      .slice(0, 1);
  take([...balance.slice(0, 1), ...fee]);
  const type = take(pick('type') ?? findDirections(context, free, amounts.isSplit));
  const status = take(pick('status') ?? findStatuses(context, free));
  const near = amounts.amount[0] ?? amounts.debit[0] ?? 0;
  const currency = take(pick('currency') ?? findCurrencies(context, free, near));
  const externalId = take(
    pick('externalId') ??
      free(named('externalId'))
        .filter((index) => isUnique(some, index))
        .slice(0, 1),
  );
  const category = take(pick('category') ?? free(named('category')).slice(0, 1));
  const namedTexts = free(named('description')).filter((index) => isText(samples[index]));
  const namedNotes = free(named('notes')).filter((index) => isText(samples[index]));
  // Without another text, notes are the best description.
  const isDescribed = namedTexts.length > 0 || chosen.description !== undefined;
  const notes = take(pick('notes') ?? (isDescribed ? namedNotes.slice(0, 1) : []));
  const account =
    pick('account') ??
    free(named('account'))
      .filter((index) => isFilled(samples[index]))
      .slice(0, 1);
  const bookingType = named('bookingType').filter(
    (index) => !namedTexts.includes(index) || namedTexts.length > 1,
  );
  const payer = free(named('payer'));
  const description =
    pick('description') ??
    (namedTexts.length > 0
      ? namedTexts
      : [...free(namedNotes), ...findTexts(free([...headers.keys()]), samples)]);
  const isDateNamed = date.some(
    (index) => chosen.date !== undefined || named('date').includes(index),
  );
  return {
    problems,
    isNamed: isDateNamed && amounts.isNamed,
    columns: {
      ...{ date, description },
      ...{ amount: amounts.amount, debit: amounts.debit, credit: amounts.credit },
      ...{ type, status, currency, externalId, category, notes, account, payer },
      ...{ balance: balance.slice(0, 1), fee, reference: named('reference') },
      receivedAmount: named('receivedAmount'),
      receivedCurrency: named('receivedCurrency'),
      bookingType: bookingType.filter((index) => !date.includes(index)),
    },
  };
}

interface Context {
  readonly headers: readonly string[];
  readonly names: readonly string[];
  readonly samples: readonly Sample[];
  readonly chosen: ChosenColumns;
  readonly rows: readonly TableRow[];
}

function sampleColumn(rows: readonly TableRow[], index: number): Sample {
  const cells = rows.flatMap(({ cells: all }) => all[index]?.trim() || []);
  return { cells, rows: rows.length };
}

/** Finds a column by its header, in any letter case, or its number from 1. Several are separated by commas. */
export function findChosen(
  headers: readonly string[],
  name: string,
  field: Field,
): readonly number[] {
  const find = (text: string) => {
    const wanted = text.trim();
    const same = headers.flatMap((header, index) => (header.trim() === wanted ? [index] : []));
    if (same.length > 1)
      throw new UserError(
        `Two columns are named "${wanted}". Name one by its number: ${optionName(field)} ${(same[0] ?? 0) + 1} or ${(same[1] ?? 0) + 1}.`,
      );
    if (same.length === 1) return same;
    const lower = wanted.toLowerCase();
    const alike = headers.findIndex((header) => header.trim().toLowerCase() === lower);
    if (alike >= 0) return [alike];
    const number = /^\d{1,3}$/.test(wanted) ? Number(wanted) : 0;
    return number >= 1 && number <= headers.length ? [number - 1] : [];
  };
  const whole = find(name);
  if (whole.length > 0 || !name.includes(',')) return whole;
  const parts = name.split(',').map(find);
  return parts.every((part) => part.length > 0) ? parts.flat() : [];
}

export function isChosenByNumber(name: string | undefined): boolean {
  return name !== undefined && /^\d{1,3}(?:\s*,\s*\d{1,3})*$/.test(name.trim());
}

function missing(what: string, field: Field): string {
  const also = field === 'amount' ? ', or --debit COLUMN --credit COLUMN' : '';
  return `No column ${what}. Name it with ${optionName(field)} COLUMN${also}.`;
}

function share(sample: Sample | undefined, test: (cell: string) => boolean): number {
  if (!sample || sample.cells.length === 0) return 0;
  return sample.cells.filter(test).length / sample.cells.length;
}

function isNumeric(sample: Sample | undefined): boolean {
  return (
    share(sample, looksLikeAmountOrDash) >= MOST && (sample?.cells.some(looksLikeAmount) ?? false)
  );
}

function looksLikeAmountOrDash(cell: string): boolean {
  return looksLikeAmount(cell) || /^[-–—]+$/.test(cell);
}

function isFilled(sample: Sample | undefined): boolean {
  return sample !== undefined && sample.cells.length >= sample.rows / 2;
}

/** Almost: some banks repeat the id of a booking for its fee. */
function isUnique(rows: readonly TableRow[], index: number): boolean {
  const ids = new Map<string, string>();
  for (const { cells } of rows) if (cells[index]?.trim()) ids.set(cells.join('\n'), cells[index]);
  return ids.size < MIN_JUDGED_IDS || new Set(ids.values()).size >= ids.size * 0.7;
}

function isText(sample: Sample | undefined): boolean {
  if (!sample) return false;
  return sample.cells.length === 0 || share(sample, (cell) => /\p{L}/u.test(cell)) > 0.2;
}

function findDates({ names, samples }: Context): readonly number[] {
  const isDate = (index: number) => {
    const sample = samples[index];
    return sample?.cells.length === 0 || share(sample, isDateOrSerial) > 0.3;
  };
  const known = findNamed(names, 'date').filter(isDate);
  if (known.some((index) => (samples[index]?.cells.length ?? 0) > 0)) return known;
  const found = samples.findIndex(
    (sample) => isFilled(sample) && share(sample, looksLikeDate) >= MOST,
  );
  if (found >= 0 && samples[found]?.cells.length) return [found];
  return findNamed(names, 'date');
}

function isDateOrSerial(cell: string): boolean {
  return looksLikeDate(cell) || /^[3-5]\d{4}(?:[.,]\d+)?$/.test(cell);
}

interface FoundAmounts {
  readonly amount: readonly number[];
  readonly debit: readonly number[];
  readonly credit: readonly number[];
  readonly isSplit: boolean;
  readonly isNamed: boolean;
  readonly problem?: string;
}

const NAMED = { amount: [], debit: [], credit: [], isSplit: false, isNamed: true };

function findAmounts(
  { headers, names, samples, chosen, rows }: Context,
  pick: (field: ChosenField) => readonly number[] | undefined,
  taken: ReadonlySet<number>,
): FoundAmounts {
  const usable = (field: Field) =>
    findNamed(names, field).filter((index) => {
      const sample = samples[index];
      return !taken.has(index) && (sample?.cells.length === 0 || isNumeric(sample));
    });
  const debit = pick('debit') ?? usable('debit').slice(0, 1);
  const credit = pick('credit') ?? usable('credit').slice(0, 1);
  const split = { ...NAMED, debit, credit, isSplit: true };
  if (chosen.debit !== undefined || chosen.credit !== undefined) {
    const lacking = debit.length === 0 ? 'debit' : 'credit';
    if ((debit.length > 0 && credit.length > 0) || chosen[lacking] !== undefined) return split;
    return { ...split, problem: missing(`for the ${lacking}`, lacking) };
  }
  const picked = pick('amount');
  if (picked !== undefined) return { ...NAMED, amount: picked };
  const hasSplit = debit.length > 0 && credit.length > 0;
  const amounts = usable('amount').filter((index) => isFilled(samples[index]));
  // Beside a fee, a net amount is what the account paid.
  const net = usable('fee').length === 0 ? [] : amounts.filter((index) => isNet(names[index]));
  const amount = [...net, ...amounts].slice(0, 1);
  if (amount.length > 0) {
    // Amounts without signs leave the direction to the columns beside them.
    const isSigned = samples[amount[0] ?? -1]?.cells.some((cell) => /[-−(]/.test(cell));
    const isSplitUsed = [...debit, ...credit].some((index) =>
      samples[index]?.cells.some((cell) => /[1-9]/.test(cell)),
    );
    return hasSplit && isSplitUsed && !isSigned ? split : { ...NAMED, amount };
  }
  if (hasSplit) return split;
  const byCurrency = [...names.keys()].filter(
    (index) =>
      !taken.has(index) &&
      currencyOfColumn(headers[index] ?? '') !== null &&
      (samples[index]?.cells.length === 0 || isNumeric(samples[index])),
  );
  if (byCurrency.length > 0) return { ...NAMED, amount: byCurrency };
  const found = isShared(names) ? undefined : findByContent(names, samples, taken, rows);
  if (found) return found;
  // Its cells are refused one by one.
  const named = findNamed(names, 'amount')
    .filter((index) => !taken.has(index))
    .slice(0, 1);
  if (named.length > 0) return { ...NAMED, amount: named };
  return { ...NAMED, isNamed: false, problem: missing('for the amount', 'amount') };
}

/** Splitwise has a column for each person of a group: only a person knows whose rows these are. */
function isShared(names: readonly string[]): boolean {
  return ['description', 'category', 'cost', 'currency'].every((name) => names.includes(name));
}

function isNet(name = ''): boolean {
  return /^net(?: amount)?$/.test(name);
}

/** Numbers with decimals under a name that says nothing; balances tell which of several are the amounts. */
function findByContent(
  names: readonly string[],
  samples: readonly Sample[],
  taken: ReadonlySet<number>,
  rows: readonly TableRow[],
): FoundAmounts | undefined {
  const others = new Set(
    (['fee', 'externalId', 'account'] as const).flatMap((field) => findNamed(names, field)),
  );
  const money = samples.flatMap((sample, index) => {
    if (taken.has(index) || others.has(index) || isOtherAmount(names[index] ?? '')) return [];
    const hasCents = share(sample, (cell) => /\d[.,]\d{2}(?!\d)/.test(cell)) > 0.3;
    return sample.cells.length > 0 && isNumeric(sample) && hasCents ? [index] : [];
  });
  const unnamed = { ...NAMED, isNamed: false };
  const balances = findNamed(names, 'balance');
  const candidates = money.filter((index) => !balances.includes(index));
  const filled = candidates.filter((index) => isFilled(samples[index]));
  if (filled.length === 1 && candidates.length === 1) return { ...unnamed, amount: filled };
  const found = findWitnessed(money, rows);
  if (!found) return undefined;
  const { debit, credit, amount } = found;
  if (amount !== undefined) return { ...unnamed, amount: [amount] };
  return { ...unnamed, debit: [debit], credit: [credit], isSplit: true };
}

/** The column that says debit or credit: by its name, or by words of both directions. */
function findDirections(
  { names, samples }: Context,
  free: (indexes: readonly number[]) => readonly number[],
  isSplit: boolean,
): readonly number[] {
  if (isSplit) return [];
  const isDirection = (cell: string) => directionOfWord(cell) !== undefined;
  const named = free(findNamed(names, 'type')).filter(
    (index) => share(samples[index], isDirection) >= 0.5,
  );
  if (named.length > 0) return named.slice(0, 1);
  const others = [...findNamed(names, 'status'), ...findNamed(names, 'description')];
  return free([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (!isFilled(sample) || others.includes(index) || share(sample, isDirection) < 1)
        return false;
      const meant = new Set(sample?.cells.map(directionOfWord));
      return meant.has('income') && meant.has('expense');
    })
    .slice(0, 1);
}

function findStatuses(
  { names, samples }: Context,
  free: (indexes: readonly number[]) => readonly number[],
): readonly number[] {
  const isState = (cell: string) => stateOfWord(cell) !== undefined;
  const named = free(findNamed(names, 'status')).filter(
    (index) => share(samples[index], isState) > 0,
  );
  if (named.length > 0) return named.slice(0, 1);
  const texts = findNamed(names, 'description');
  return free([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (texts.includes(index) || share(sample, (cell) => cell.length > 1 && isState(cell)) < 1)
        return false;
      return sample?.cells.some((cell) => stateOfWord(cell) !== 'done') ?? false;
    })
    .slice(0, 1);
}

const CURRENCY_CODES = new Set([...Intl.supportedValuesOf('currency'), 'RMB', 'NIS', 'BTC', 'ETH']);

export function isCurrencyCode(text: string): boolean {
  return CURRENCY_CODES.has(text.trim().toUpperCase());
}

/** Some banks have a column of amounts for each currency, and name it by the code: "CAD$". */
export function currencyOfColumn(header: string): string | null {
  // Bob is a name, BOB a currency.
  const code = /^([A-Z]{3})\$?$/.exec(header.trim())?.[1];
  return code !== undefined && CURRENCY_CODES.has(code) ? code : null;
}

/** Prefers the column beside the amount. */
function findCurrencies(
  { names, samples }: Context,
  free: (indexes: readonly number[]) => readonly number[],
  near: number,
): readonly number[] {
  const isCode = (cell: string) => isCurrencyCode(cell) || /^(?:\p{Sc}|人民币|元|円)$/u.test(cell);
  const named = free(findNamed(names, 'currency')).filter(
    (index) => share(samples[index], isCode) > 0.5,
  );
  const others = free([...names.keys()]).filter(
    (index) =>
      !isOtherAmount(names[index] ?? '') &&
      share(samples[index], (cell) => /^[A-Z]{3}$/.test(cell) && isCode(cell)) === 1 &&
      isFilled(samples[index]),
  );
  const candidates = named.length > 0 ? named : others;
  return candidates
    .toSorted((one, other) => Math.abs(one - near) - Math.abs(other - near))
    .slice(0, 1);
}

/** The texts that differ most from row to row. */
function findTexts(indexes: readonly number[], samples: readonly Sample[]): readonly number[] {
  const isOther = (cell: string) =>
    looksLikeDate(cell) || looksLikeAmount(cell) || !/\p{L}/u.test(cell);
  return indexes
    .filter((index) => isFilled(samples[index]) && share(samples[index], isOther) < 0.5)
    .toSorted((one, other) => variety(samples[other]) - variety(samples[one]));
}

function variety(sample: Sample | undefined): number {
  if (!sample) return 0;
  const letters = sample.cells.reduce((sum, cell) => sum + Math.min(cell.length, 40), 0);
  return new Set(sample.cells).size * 10 + letters / Math.max(1, sample.cells.length);
}
