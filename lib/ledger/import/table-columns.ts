// Finds the column of each field: by the names that the user gave, by the names that banks use, and by the contents of the
// cells.

import { type FoundAmounts, findAmounts, type TableContext } from './amount-columns.ts';
import { looksLikeAmount } from './amounts.ts';
import { stateOfWord } from './booking-words.ts';
import {
  type ChosenColumns,
  type ChosenField,
  describeMissing,
  findChosen,
  NO_COLUMN,
} from './chosen-columns.ts';
import { type Field, findNamed, isOtherAmount, normalizeName } from './column-names.ts';
import {
  isFilled,
  isNumeric,
  isPartlyFilled,
  isText,
  MIN_KIND_SHARE,
  measureShare,
  type Sample,
  sampleColumn,
  sampleRows,
} from './column-samples.ts';
import type { TableRow } from './csv-text.ts';
import { isCurrencyCode } from './currencies.ts';
import { looksLikeDate } from './dates.ts';
import { areDirectionLetters, directionOfWord } from './direction-words.ts';

/** Indexes of the columns of each field; if there are several, a row uses the first with a text. */
export type Columns = Readonly<Record<Field, readonly number[]>>;

export interface FoundColumns {
  readonly columns: Columns;
  /** Missing columns; empty if every needed one was found. */
  readonly problems: readonly string[];
  /** True if known or chosen names say which columns hold the date and the amount. */
  readonly isNamed: boolean;
}

/** Fewer rows do not show whether a column repeats its values. */
const MIN_JUDGED_IDS = 10;

/**
 * @param headers names of the columns; "column 1" and so on if the file has no header
 * @param rows the rows below the header
 */
export function findColumns(
  headers: readonly string[],
  rows: readonly TableRow[],
  chosen: ChosenColumns,
): FoundColumns {
  const some = sampleRows(rows);
  const samples = headers.map((_, index) => sampleColumn(some, index));
  const context = { headers, names: headers.map(normalizeName), samples, chosen, rows: some };
  const { pick, problems } = createPicker(headers, chosen);
  const date = pick('date') ?? findDates(context);
  const taken = new Set(date);
  const amounts = findAmounts({ ...context, samples: sampleDated(context, date) }, pick, taken);
  for (const index of [...amounts.amount, ...amounts.debit, ...amounts.credit]) taken.add(index);
  if (date.length === 0 && chosen.date === undefined)
    problems.push(describeMissing('for the date', 'date'));
  if (amounts.problem !== undefined) problems.push(amounts.problem);
  const search = createSearch(context, pick, taken);
  const { named } = search;
  const isDateNamed = date.some(
    (index) => chosen.date !== undefined || named('date').includes(index),
  );
  // The order matters: a column that one field has taken is not offered to the next.
  const money = findMoneyColumns(search, amounts);
  const ids = findIdColumns(search);
  const texts = findTextColumns(search);
  return {
    problems,
    isNamed: isDateNamed && amounts.isNamed,
    // A preview shows them in this order.
    columns: {
      ...{ date, description: texts.description },
      ...{ amount: amounts.amount, debit: amounts.debit, credit: amounts.credit },
      ...{ ...money, ...ids, ...texts },
      ...{ reference: named('reference'), receivedAmount: named('receivedAmount') },
      receivedCurrency: named('receivedCurrency'),
    },
  };
}

/** Samples the rows that have a date: the others are no bookings, and a balance below the rows may stand in any column. */
function sampleDated({ rows, samples }: TableContext, dates: readonly number[]): readonly Sample[] {
  const dated = rows.filter(({ cells }) => dates.some((index) => cells[index]?.trim()));
  if (dated.length === 0 || dated.length === rows.length) return samples;
  return samples.map((_, index) => sampleColumn(dated, index));
}

type Pick = (field: ChosenField) => readonly number[] | undefined;

/** Finds the columns that options name. */
function createPicker(headers: readonly string[], chosen: ChosenColumns) {
  const problems: string[] = [];
  const pick: Pick = (field) => {
    const name = chosen[field];
    if (name === undefined) return undefined;
    if (name.trim().toLowerCase() === NO_COLUMN) return [];
    const found = findChosen(headers, name, field);
    if (found.length === 0) problems.push(describeMissing(`"${name}"`, field));
    return found;
  };
  return { pick, problems };
}

type Indexes = readonly number[];

interface Search {
  readonly context: TableContext;
  readonly pick: Pick;
  readonly named: (field: Field) => Indexes;
  readonly free: (indexes: Indexes) => Indexes;
  readonly take: (indexes: Indexes) => Indexes;
}

function createSearch(context: TableContext, pick: Pick, taken: Set<number>): Search {
  return {
    ...{ context, pick },
    named: (field) => findNamed(context.names, field),
    free: (indexes) => indexes.filter((index) => !taken.has(index)),
    take: (indexes) => {
      for (const index of indexes) taken.add(index);
      return indexes;
    },
  };
}

/** Finds the columns that say what the amounts mean, and in which currency they are. */
function findMoneyColumns({ context, pick, named, free, take }: Search, amounts: FoundAmounts) {
  const isNumbers = (index: number) => isNumeric(context.samples[index]);
  const balance = free(named('balance')).filter(isNumbers).slice(0, 1);
  const fee = pick('fee') ?? free(named('fee')).filter(isNumbers).slice(0, 1);
  take([...balance, ...fee]);
  const type = take(pick('type') ?? findDirections(context, free, amounts.isSplit));
  const status = take(pick('status') ?? findStatuses(context, free));
  const near = [amounts.amount[0] ?? amounts.debit[0] ?? 0, ...amounts.credit.slice(0, 1)];
  const currency = take(pick('currency') ?? findCurrencies(context, free, near));
  return { balance, fee, type, status, currency };
}

function findIdColumns({ context: { rows, samples }, pick, named, free, take }: Search) {
  const ids = free(named('externalId')).filter((index) => isUnique(rows, index));
  const externalId = take(pick('externalId') ?? ids.slice(0, 1));
  const accounts = free(named('account')).filter((index) => isFilled(samples[index]));
  const account = pick('account') ?? accounts.slice(0, 1);
  return { externalId, account };
}

function findTextColumns({ context, pick, named, free, take }: Search) {
  const { headers, samples, chosen } = context;
  const isOfText = (index: number) => isText(samples[index]);
  const category = take(pick('category') ?? free(named('category')).slice(0, 1));
  const namedTexts = findNamedTexts(context, free(named('description')));
  const namedNotes = free(named('notes')).filter(isOfText);
  // Without another text, notes are the best description.
  const isDescribed = namedTexts.length > 0 || chosen.description !== undefined;
  const notes = take(pick('notes') ?? (isDescribed ? namedNotes.slice(0, 1) : []));
  const found = () => [...free(namedNotes), ...findTexts(free([...headers.keys()]), samples)];
  return {
    ...{ category, notes, payer: free(named('payer')).filter(isOfText) },
    description: pick('description') ?? (namedTexts.length > 0 ? namedTexts : unique(found())),
    bookingType: named('bookingType').filter((index) => !namedTexts.includes(index)),
  };
}

function unique(indexes: Indexes): Indexes {
  return [...new Set(indexes)];
}

/** True if almost all values differ: some banks repeat the id of a booking for its fee. */
function isUnique(rows: readonly TableRow[], index: number): boolean {
  const ids = new Map<string, string>();
  for (const { cells } of rows) if (cells[index]?.trim()) ids.set(cells.join('\n'), cells[index]);
  return ids.size < MIN_JUDGED_IDS || new Set(ids.values()).size >= ids.size * 0.7;
}

function findDates({ names, samples }: TableContext): readonly number[] {
  const isDate = (index: number) => {
    const sample = samples[index];
    return sample?.cells.length === 0 || measureShare(sample, isDateOrSerial) > 0.3;
  };
  const known = findNamed(names, 'date').filter(isDate);
  if (known.some((index) => (samples[index]?.cells.length ?? 0) > 0)) return known;
  const found = samples.findIndex(
    (sample) => isFilled(sample) && measureShare(sample, looksLikeDate) >= MIN_KIND_SHARE,
  );
  if (found >= 0 && samples[found]?.cells.length) return [found];
  return findNamed(names, 'date');
}

function isDateOrSerial(cell: string): boolean {
  return looksLikeDate(cell) || /^[3-5]\d{4}(?:[.,]\d+)?$/.test(cell);
}

/** Finds the column that says debit or credit, by its name or by words of both directions. */
function findDirections(
  { names, samples }: TableContext,
  free: (indexes: readonly number[]) => readonly number[],
  isSplit: boolean,
): readonly number[] {
  if (isSplit) return [];
  const isDirection = (cell: string) => directionOfWord(cell) !== undefined;
  const named = free(findNamed(names, 'type')).filter(
    (index) =>
      measureShare(samples[index], isDirection) >= 0.5 &&
      areDirectionLetters(samples[index]?.cells ?? []),
  );
  if (named.length > 0) return named.slice(0, 1);
  const others = [...findNamed(names, 'status'), ...findNamed(names, 'description')];
  return free([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (others.includes(index) || measureShare(sample, isDirection) < 1) return false;
      // Cards write CR beside payments alone. If every row has CR or DR, it belongs to a balance.
      if (isPartlyFilled(sample) && sample?.cells.every((cell) => /^[cd]r\.?$/i.test(cell)))
        return true;
      if (!isFilled(sample)) return false;
      const meant = new Set(sample?.cells.map(directionOfWord));
      if (!areDirectionLetters(sample?.cells ?? [])) return false;
      return meant.has('income') && meant.has('expense');
    })
    .slice(0, 1);
}

/** Names that only a status column has: the user is asked about its words, even if none is known. */
const STATUS_NAME = /\b(?:status|statut|estado|stato|situacao)\b/;
const MAX_STATUS_WORDS = 6;

function isFewWords(sample: Sample | undefined): boolean {
  const words = new Set(sample?.cells);
  return words.size > 1 && words.size <= MAX_STATUS_WORDS && isText(sample);
}

function findStatuses(
  { names, samples }: TableContext,
  free: (indexes: readonly number[]) => readonly number[],
): readonly number[] {
  const isState = (cell: string) => stateOfWord(cell) !== undefined;
  const named = free(findNamed(names, 'status')).filter(
    (index) =>
      measureShare(samples[index], isState) > 0 ||
      (STATUS_NAME.test(names[index] ?? '') && isFewWords(samples[index])),
  );
  if (named.length > 0) return named.slice(0, 1);
  const texts = findNamed(names, 'description');
  return free([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (
        texts.includes(index) ||
        measureShare(sample, (cell) => cell.length > 1 && isState(cell)) < 1
      )
        return false;
      return sample?.cells.some((cell) => stateOfWord(cell) !== 'done') ?? false;
    })
    .slice(0, 1);
}

/** Finds the currency column nearest to the amount, or one for each of debit and credit. */
function findCurrencies(
  { names, samples }: TableContext,
  free: (indexes: readonly number[]) => readonly number[],
  near: readonly number[],
): readonly number[] {
  const isCode = (cell: string) => isCurrencyCode(cell) || /^(?:\p{Sc}|人民币|元|円)$/u.test(cell);
  const named = free(findNamed(names, 'currency')).filter(
    (index) => measureShare(samples[index], isCode) > 0.5,
  );
  const others = free([...names.keys()]).filter(
    (index) =>
      !isOtherAmount(names[index] ?? '') &&
      measureShare(samples[index], (cell) => /^[A-Z]{3}$/.test(cell) && isCode(cell)) === 1 &&
      isFilled(samples[index]),
  );
  const candidates = named.length > 0 ? named : others;
  const measure = (amount: number) => {
    const stem = names[amount]?.replace(/ amount$/, '');
    // The column after the amount is preferred to the one before it.
    return (index: number) =>
      names[index]?.startsWith(`${stem} `) ? 0 : Math.abs(index - amount - 0.1);
  };
  const nearest = near.flatMap((amount) => {
    const distance = measure(amount);
    return candidates.toSorted((one, other) => distance(one) - distance(other)).slice(0, 1);
  });
  return [...new Set(nearest)];
}

/** Finds the text columns by name. Words of the direction and the type of a booking are used only if there is no other text. */
function findNamedTexts(
  { names, samples }: TableContext,
  indexes: readonly number[],
): readonly number[] {
  const types = findNamed(names, 'bookingType');
  const isWord = (cell: string) => directionOfWord(cell) !== undefined;
  const texts = indexes.filter((index) => isText(samples[index]));
  const telling = texts.filter(
    (index) => !types.includes(index) && measureShare(samples[index], isWord) < 0.5,
  );
  return telling.length > 0 ? telling : texts;
}

/** Finds the columns whose texts differ most from row to row. One that never differs is used only if there is no other. */
function findTexts(indexes: readonly number[], samples: readonly Sample[]): readonly number[] {
  const isOther = (cell: string) =>
    looksLikeDate(cell) || looksLikeAmount(cell) || isCurrencyCode(cell) || !/\p{L}/u.test(cell);
  return indexes
    .filter((index) => isFilled(samples[index]) && measureShare(samples[index], isOther) < 0.5)
    .toSorted((one, other) => variety(samples[other]) - variety(samples[one]))
    .filter((index, n) => n === 0 || !isConstant(samples[index]));
}

function isConstant({ cells }: Sample = { cells: [], rows: 0 }): boolean {
  return cells.length > 2 && new Set(cells).size === 1;
}

function variety(sample: Sample | undefined): number {
  if (!sample) return 0;
  const letters = sample.cells.reduce((sum, cell) => sum + Math.min(cell.length, 40), 0);
  return new Set(sample.cells).size * 10 + letters / Math.max(1, sample.cells.length);
}
