// Finds the column of each field: by the names that the user gave, by the names that banks use, and by the contents of the
// cells.

import { type AmountColumns, findAmountColumns, type TableContext } from './amount-columns.ts';
import { looksLikeAmount } from './amounts.ts';
import {
  type ChosenColumns,
  type ChosenField,
  describeMissing,
  findChosenColumns,
  NO_COLUMN,
} from './chosen-columns.ts';
import { type Field, findNamedColumns, isOtherAmount, normalizeName } from './column-names.ts';
import {
  isMostlyFilled,
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
import { areDirectionLetters, findDirection } from './direction-words.ts';
import { findStatus } from './entry-words.ts';

/** Indexes of the columns of each field; if a field has several, a row uses the first that is not empty. */
export type Columns = Readonly<Record<Field, readonly number[]>>;

export interface FoundColumns {
  readonly columns: Columns;
  /** Messages about missing columns; empty if every required column was found. */
  readonly problems: readonly string[];
  /** True if known or chosen names say which columns contain the date and the amount. */
  readonly isNamed: boolean;
}

/** With fewer rows, repeated values prove nothing. */
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
  const sampledRows = sampleRows(rows);
  const samples = headers.map((_, index) => sampleColumn(sampledRows, index));
  const context = {
    headers,
    names: headers.map(normalizeName),
    samples,
    chosen,
    rows: sampledRows,
  };
  const { pickChosen, problems } = createPicker(headers, chosen);
  const dateColumns = pickChosen('date') ?? findDateColumns(context);
  const claimedColumns = new Set(dateColumns);
  const datedContext = { ...context, samples: sampleDated(context, dateColumns) };
  const amounts = findAmountColumns(datedContext, pickChosen, claimedColumns);
  for (const index of [...amounts.amountColumns, ...amounts.debitColumns, ...amounts.creditColumns])
    claimedColumns.add(index);
  if (dateColumns.length === 0 && chosen.date === undefined)
    problems.push(describeMissing('for the date', 'date'));
  if (amounts.problem !== undefined) problems.push(amounts.problem);
  const search = createSearch(context, pickChosen, claimedColumns);
  const { listNamed } = search;
  const isDateNamed = dateColumns.some(
    (index) => chosen.date !== undefined || listNamed('date').includes(index),
  );
  // The order matters: no field can use a column that an earlier one has claimed.
  const moneyColumns = findMoneyColumns(search, amounts);
  const idColumns = findIdColumns(search);
  const textColumns = findTextColumns(search);
  return {
    problems,
    isNamed: isDateNamed && amounts.isNamed,
    // A preview shows the columns in this order.
    columns: {
      ...{ date: dateColumns, description: textColumns.description },
      ...{
        amount: amounts.amountColumns,
        debit: amounts.debitColumns,
        credit: amounts.creditColumns,
      },
      ...{ ...moneyColumns, ...idColumns, ...textColumns },
      ...{ reference: listNamed('reference'), receivedAmount: listNamed('receivedAmount') },
      receivedCurrency: listNamed('receivedCurrency'),
    },
  };
}

/** Samples the rows that have a date: the others are not entries, and a balance below the table may be in any column. */
function sampleDated({ rows, samples }: TableContext, dates: readonly number[]): readonly Sample[] {
  const datedRows = rows.filter(({ cells }) => dates.some((index) => cells[index]?.trim()));
  if (datedRows.length === 0 || datedRows.length === rows.length) return samples;
  return samples.map((_, index) => sampleColumn(datedRows, index));
}

type PickChosen = (field: ChosenField) => readonly number[] | undefined;

/** Finds the columns that options name. */
function createPicker(headers: readonly string[], chosen: ChosenColumns) {
  const problems: string[] = [];
  const pickChosen: PickChosen = (field) => {
    const name = chosen[field];
    if (name === undefined) return undefined;
    if (name.trim().toLowerCase() === NO_COLUMN) return [];
    const columns = findChosenColumns(headers, name, field);
    if (columns.length === 0) problems.push(describeMissing(`"${name}"`, field));
    return columns;
  };
  return { pickChosen, problems };
}

type Indexes = readonly number[];

interface Search {
  readonly context: TableContext;
  readonly pickChosen: PickChosen;
  readonly listNamed: (field: Field) => Indexes;
  readonly keepUnclaimed: (indexes: Indexes) => Indexes;
  readonly claim: (indexes: Indexes) => Indexes;
}

function createSearch(
  context: TableContext,
  pickChosen: PickChosen,
  claimedColumns: Set<number>,
): Search {
  return {
    ...{ context, pickChosen },
    listNamed: (field) => findNamedColumns(context.names, field),
    keepUnclaimed: (indexes) => indexes.filter((index) => !claimedColumns.has(index)),
    claim: (indexes) => {
      for (const index of indexes) claimedColumns.add(index);
      return indexes;
    },
  };
}

/** Finds the columns that say what the amounts mean, and in which currency they are. */
function findMoneyColumns(
  { context, pickChosen, listNamed, keepUnclaimed, claim }: Search,
  amounts: AmountColumns,
) {
  const hasNumbers = (index: number) => isNumeric(context.samples[index]);
  const balance = keepUnclaimed(listNamed('balance')).filter(hasNumbers).slice(0, 1);
  const fee = pickChosen('fee') ?? keepUnclaimed(listNamed('fee')).filter(hasNumbers).slice(0, 1);
  claim([...balance, ...fee]);
  const type = claim(
    pickChosen('type') ?? findDirectionColumns(context, keepUnclaimed, amounts.isSplit),
  );
  const status = claim(pickChosen('status') ?? findStatusColumns(context, keepUnclaimed));
  const amountColumns = [
    amounts.amountColumns[0] ?? amounts.debitColumns[0] ?? 0,
    ...amounts.creditColumns.slice(0, 1),
  ];
  const currency = claim(
    pickChosen('currency') ?? findCurrencyColumns(context, keepUnclaimed, amountColumns),
  );
  return { balance, fee, type, status, currency };
}

function findIdColumns({
  context: { rows, samples },
  pickChosen,
  listNamed,
  keepUnclaimed,
  claim,
}: Search) {
  const idColumns = keepUnclaimed(listNamed('externalId')).filter((index) => isUnique(rows, index));
  const externalId = claim(pickChosen('externalId') ?? idColumns.slice(0, 1));
  const accountColumns = keepUnclaimed(listNamed('account')).filter((index) =>
    isMostlyFilled(samples[index]),
  );
  const account = pickChosen('account') ?? accountColumns.slice(0, 1);
  return { externalId, account };
}

function findTextColumns({ context, pickChosen, listNamed, keepUnclaimed, claim }: Search) {
  const { headers, samples, chosen } = context;
  const hasText = (index: number) => isText(samples[index]);
  const category = claim(
    pickChosen('category') ?? keepUnclaimed(listNamed('category')).slice(0, 1),
  );
  const namedTexts = findNamedTextColumns(context, keepUnclaimed(listNamed('description')));
  const namedNotes = keepUnclaimed(listNamed('notes')).filter(hasText);
  // Without another text, notes are the best description.
  const hasDescription = namedTexts.length > 0 || chosen.description !== undefined;
  const notes = claim(pickChosen('notes') ?? (hasDescription ? namedNotes.slice(0, 1) : []));
  const findUnnamed = () => [
    ...keepUnclaimed(namedNotes),
    ...findVaryingTextColumns(keepUnclaimed([...headers.keys()]), samples),
  ];
  return {
    ...{ category, notes, payer: keepUnclaimed(listNamed('payer')).filter(hasText) },
    description:
      pickChosen('description') ??
      (namedTexts.length > 0 ? namedTexts : dropRepeated(findUnnamed())),
    entryType: listNamed('entryType').filter((index) => !namedTexts.includes(index)),
  };
}

function dropRepeated(indexes: Indexes): Indexes {
  return [...new Set(indexes)];
}

/** True if most values differ: some banks repeat the id of an entry for its fee. */
function isUnique(rows: readonly TableRow[], index: number): boolean {
  const ids = new Map<string, string>();
  for (const { cells } of rows) if (cells[index]?.trim()) ids.set(cells.join('\n'), cells[index]);
  return ids.size < MIN_JUDGED_IDS || new Set(ids.values()).size >= ids.size * 0.7;
}

function findDateColumns({ names, samples }: TableContext): readonly number[] {
  const isDate = (index: number) => {
    const sample = samples[index];
    return sample?.cells.length === 0 || measureShare(sample, isDateOrSerial) > 0.3;
  };
  const knownColumns = findNamedColumns(names, 'date').filter(isDate);
  if (knownColumns.some((index) => (samples[index]?.cells.length ?? 0) > 0)) return knownColumns;
  const firstDateColumn = samples.findIndex(
    (sample) => isMostlyFilled(sample) && measureShare(sample, looksLikeDate) >= MIN_KIND_SHARE,
  );
  if (firstDateColumn >= 0 && samples[firstDateColumn]?.cells.length) return [firstDateColumn];
  return findNamedColumns(names, 'date');
}

function isDateOrSerial(cell: string): boolean {
  return looksLikeDate(cell) || /^[3-5]\d{4}(?:[.,]\d+)?$/.test(cell);
}

/** Finds the column that says debit or credit, by its name or because it has words of both directions. */
function findDirectionColumns(
  { names, samples }: TableContext,
  keepUnclaimed: (indexes: readonly number[]) => readonly number[],
  isSplit: boolean,
): readonly number[] {
  if (isSplit) return [];
  const isDirection = (cell: string) => findDirection(cell) !== undefined;
  const namedColumns = keepUnclaimed(findNamedColumns(names, 'type')).filter(
    (index) =>
      measureShare(samples[index], isDirection) >= 0.5 &&
      areDirectionLetters(samples[index]?.cells ?? []),
  );
  if (namedColumns.length > 0) return namedColumns.slice(0, 1);
  const otherColumns = [
    ...findNamedColumns(names, 'status'),
    ...findNamedColumns(names, 'description'),
  ];
  return keepUnclaimed([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (otherColumns.includes(index) || measureShare(sample, isDirection) < 1) return false;
      // Card issuers write CR beside payments only. If every row has CR or DR, the word belongs to a balance.
      if (isPartlyFilled(sample) && sample?.cells.every((cell) => /^[cd]r\.?$/i.test(cell)))
        return true;
      if (!isMostlyFilled(sample)) return false;
      const directions = new Set(sample?.cells.map(findDirection));
      if (!areDirectionLetters(sample?.cells ?? [])) return false;
      return directions.has('income') && directions.has('expense');
    })
    .slice(0, 1);
}

/** Names that only a status column has: the user is asked about its words even if all of them are unknown. */
const STATUS_NAME = /\b(?:status|statut|estado|stato|situacao)\b/;
const MAX_STATUS_WORDS = 6;

function hasFewWords(sample: Sample | undefined): boolean {
  const words = new Set(sample?.cells);
  return words.size > 1 && words.size <= MAX_STATUS_WORDS && isText(sample);
}

function findStatusColumns(
  { names, samples }: TableContext,
  keepUnclaimed: (indexes: readonly number[]) => readonly number[],
): readonly number[] {
  const isStatus = (cell: string) => findStatus(cell) !== undefined;
  const namedColumns = keepUnclaimed(findNamedColumns(names, 'status')).filter(
    (index) =>
      measureShare(samples[index], isStatus) > 0 ||
      (STATUS_NAME.test(names[index] ?? '') && hasFewWords(samples[index])),
  );
  if (namedColumns.length > 0) return namedColumns.slice(0, 1);
  const texts = findNamedColumns(names, 'description');
  return keepUnclaimed([...names.keys()])
    .filter((index) => {
      const sample = samples[index];
      if (
        texts.includes(index) ||
        measureShare(sample, (cell) => cell.length > 1 && isStatus(cell)) < 1
      )
        return false;
      return sample?.cells.some((cell) => findStatus(cell) !== 'done') ?? false;
    })
    .slice(0, 1);
}

/** Finds the currency column nearest to the amount, or one for each of debit and credit. */
function findCurrencyColumns(
  { names, samples }: TableContext,
  keepUnclaimed: (indexes: readonly number[]) => readonly number[],
  amountColumns: readonly number[],
): readonly number[] {
  const isCode = (cell: string) => isCurrencyCode(cell) || /^(?:\p{Sc}|人民币|元|円)$/u.test(cell);
  const namedColumns = keepUnclaimed(findNamedColumns(names, 'currency')).filter(
    (index) => measureShare(samples[index], isCode) > 0.5,
  );
  const otherColumns = keepUnclaimed([...names.keys()]).filter(
    (index) =>
      !isOtherAmount(names[index] ?? '') &&
      measureShare(samples[index], (cell) => /^[A-Z]{3}$/.test(cell) && isCode(cell)) === 1 &&
      isMostlyFilled(samples[index]),
  );
  const candidates = namedColumns.length > 0 ? namedColumns : otherColumns;
  const createDistanceMeter = (amount: number) => {
    const stem = names[amount]?.replace(/ amount$/, '');
    // Subtracting 0.1 prefers the column after the amount to the one before it.
    return (index: number) =>
      names[index]?.startsWith(`${stem} `) ? 0 : Math.abs(index - amount - 0.1);
  };
  const nearestColumns = amountColumns.flatMap((amount) => {
    const distance = createDistanceMeter(amount);
    return candidates.toSorted((a, b) => distance(a) - distance(b)).slice(0, 1);
  });
  return [...new Set(nearestColumns)];
}

/** Finds the text columns by name. An entry's direction and type are used as its text only if there is no other. */
function findNamedTextColumns(
  { names, samples }: TableContext,
  indexes: readonly number[],
): readonly number[] {
  const types = findNamedColumns(names, 'entryType');
  const isDirection = (cell: string) => findDirection(cell) !== undefined;
  const texts = indexes.filter((index) => isText(samples[index]));
  const informativeColumns = texts.filter(
    (index) => !types.includes(index) && measureShare(samples[index], isDirection) < 0.5,
  );
  return informativeColumns.length > 0 ? informativeColumns : texts;
}

/** Finds the columns whose texts vary most from row to row. A constant column is used only if there is no other. */
function findVaryingTextColumns(
  indexes: readonly number[],
  samples: readonly Sample[],
): readonly number[] {
  const isOther = (cell: string) =>
    looksLikeDate(cell) || looksLikeAmount(cell) || isCurrencyCode(cell) || !/\p{L}/u.test(cell);
  return indexes
    .filter(
      (index) => isMostlyFilled(samples[index]) && measureShare(samples[index], isOther) < 0.5,
    )
    .toSorted((a, b) => rateVariety(samples[b]) - rateVariety(samples[a]))
    .filter((index, n) => n === 0 || !isConstant(samples[index]));
}

function isConstant({ cells }: Sample = { cells: [], rows: 0 }): boolean {
  return cells.length > 2 && new Set(cells).size === 1;
}

function rateVariety(sample: Sample | undefined): number {
  if (!sample) return 0;
  const letters = sample.cells.reduce((sum, cell) => sum + Math.min(cell.length, 40), 0);
  return new Set(sample.cells).size * 10 + letters / Math.max(1, sample.cells.length);
}
