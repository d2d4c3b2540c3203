// Finds the amount columns of a table: one column with signs, or a debit and a credit column.

import { findAmountsByBalances } from './amounts-by-balance.ts';
import { type ChosenColumns, type ChosenField, describeMissing } from './chosen-columns.ts';
import { type Field, findNamedColumns, isOtherAmount } from './column-names.ts';
import { isMostlyFilled, isNumeric, measureShare, type Sample } from './column-samples.ts';
import type { TableRow } from './csv-text.ts';
import { findCurrencyCodes, parseCurrencyHeader } from './currencies.ts';

/** Columns of a table: their headers, normalized names and sampled cells. */
export interface TableContext {
  readonly headers: readonly string[];
  readonly names: readonly string[];
  readonly samples: readonly Sample[];
  readonly chosen: ChosenColumns;
  readonly rows: readonly TableRow[];
}

export interface AmountColumns {
  readonly amountColumns: readonly number[];
  readonly debitColumns: readonly number[];
  readonly creditColumns: readonly number[];
  /** True if debits and credits have separate columns. */
  readonly isSplit: boolean;
  /** True if the columns were found by their names, not by their contents. */
  readonly isNamed: boolean;
  readonly problem?: string;
}

const EMPTY_COLUMNS = {
  amountColumns: [],
  debitColumns: [],
  creditColumns: [],
  isSplit: false,
  isNamed: true,
};

export function findAmountColumns(
  context: TableContext,
  pickChosen: (field: ChosenField) => readonly number[] | undefined,
  claimedColumns: ReadonlySet<number>,
): AmountColumns {
  const { names, samples, chosen } = context;
  const findUsable: FindUsable = (field) =>
    findNamedColumns(names, field).filter(
      (index) => !claimedColumns.has(index) && mayContainAmounts(samples[index]),
    );
  const debitColumns = pickChosen('debit') ?? findUsable('debit').slice(0, 1);
  const creditColumns = pickChosen('credit') ?? findUsable('credit').slice(0, 1);
  const splitColumns = { ...EMPTY_COLUMNS, debitColumns, creditColumns, isSplit: true };
  const hasSplit = debitColumns.length > 0 && creditColumns.length > 0;
  if (chosen.debit !== undefined || chosen.credit !== undefined) {
    const missingField = debitColumns.length === 0 ? 'debit' : 'credit';
    if (hasSplit || chosen[missingField] !== undefined) return splitColumns;
    return { ...splitColumns, problem: describeMissing(`for the ${missingField}`, missingField) };
  }
  const chosenColumns = pickChosen('amount');
  if (chosenColumns !== undefined) return { ...EMPTY_COLUMNS, amountColumns: chosenColumns };
  const amountColumn = findNamedAmountColumn(context, findUsable);
  if (amountColumn === undefined)
    return hasSplit ? splitColumns : findOtherAmountColumns(context, claimedColumns);
  // If the amounts have no signs, the debit and credit columns beside them state the direction.
  const areAmountsSigned = samples[amountColumn]?.cells.some((cell) => /[-−(]/.test(cell));
  const areSplitColumnsUsed = [...debitColumns, ...creditColumns].some((index) =>
    samples[index]?.cells.some((cell) => /[1-9]/.test(cell)),
  );
  return hasSplit && areSplitColumnsUsed && !areAmountsSigned
    ? splitColumns
    : { ...EMPTY_COLUMNS, amountColumns: [amountColumn] };
}

type FindUsable = (field: Field) => readonly number[];

function mayContainAmounts(sample: Sample | undefined): boolean {
  return sample?.cells.length === 0 || isNumeric(sample);
}

function findNamedAmountColumn(context: TableContext, findUsable: FindUsable): number | undefined {
  const { names, samples } = context;
  const namedColumns = findUsable('amount').filter((index) => isMostlyFilled(samples[index]));
  const grossColumn = names.findIndex(isGross);
  const hasFee = findUsable('fee').length > 0;
  if (!hasFee && names.some((name) => TAX.test(name)) && isNumeric(samples[grossColumn]))
    return grossColumn;
  // If the file has fees, the account paid the net amount.
  const netColumns = hasFee ? namedColumns.filter((index) => isNet(names[index])) : [];
  return [...netColumns, ...preferOwnCurrency(namedColumns, context)][0];
}

/** Finds amounts in columns that are named after currencies, or whose names say nothing. */
function findOtherAmountColumns(
  { headers, names, samples, rows }: TableContext,
  claimedColumns: ReadonlySet<number>,
): AmountColumns {
  const unclaimedColumns = [...names.keys()].filter((index) => !claimedColumns.has(index));
  const currencyColumns = unclaimedColumns.filter(
    (index) =>
      parseCurrencyHeader(headers[index] ?? '') !== null && mayContainAmounts(samples[index]),
  );
  if (currencyColumns.length > 0) return { ...EMPTY_COLUMNS, amountColumns: currencyColumns };
  const columnsByContent = isSplitwiseExport(names)
    ? undefined
    : findAmountsByContent(names, samples, claimedColumns, rows);
  if (columnsByContent) return columnsByContent;
  // If the cells of an amount column do not look like amounts, use it anyway: each cell is then refused with its line.
  const namedColumns = findNamedColumns(names, 'amount').filter(
    (index) => !claimedColumns.has(index),
  );
  if (namedColumns.length > 0) return { ...EMPTY_COLUMNS, amountColumns: namedColumns.slice(0, 1) };
  return { ...EMPTY_COLUMNS, isNamed: false, problem: describeMissing('for the amount', 'amount') };
}

/**
 * Puts the column in the account's currency first. If two columns share a name, such as "Amount" and "Amount in EUR", the one
 * whose header has a currency comes first. If the file has a single currency, the order does not change.
 */
function preferOwnCurrency(
  columns: readonly number[],
  { headers, names, samples }: TableContext,
): readonly number[] {
  const [firstColumn, ...otherColumns] = columns;
  const codes = findNamedColumns(names, 'currency').map((index) => new Set(samples[index]?.cells));
  if (codes.some(({ size }) => size === 1)) return columns;
  const hasCurrency = (index: number) => findCurrencyCodes(headers[index] ?? '').length > 0;
  if (firstColumn === undefined || hasCurrency(firstColumn)) return columns;
  const ownColumns = otherColumns.filter(
    (index) => names[index] === names[firstColumn] && hasCurrency(index),
  );
  return ownColumns.length === 1 ? [...ownColumns, ...columns] : columns;
}

/**
 * Recognizes an export from Splitwise, which has a column for each person of a group: the file does not say which person the
 * ledger belongs to.
 */
function isSplitwiseExport(names: readonly string[]): boolean {
  return ['description', 'category', 'cost', 'currency'].every((name) => names.includes(name));
}

/** Names of a gross amount, which is what the account paid if the file names a tax. */
const GROSS = /^(?:gross|gross amount|total gross|brutto|bruttobetrag)$/;
const TAX = /^(?:vat|tax|gst|sales tax|mwst|ust|iva|tva|btw|moms)(?: amount| betrag)?$/;

export function isGross(name = ''): boolean {
  return GROSS.test(name);
}

export function isNet(name = ''): boolean {
  return /^net(?: amount)?$/.test(name);
}

/** Finds columns of numbers with cents. If there are several, the balances show which ones contain the amounts. */
function findAmountsByContent(
  names: readonly string[],
  samples: readonly Sample[],
  claimedColumns: ReadonlySet<number>,
  rows: readonly TableRow[],
): AmountColumns | undefined {
  const otherColumns = new Set(
    (['fee', 'externalId', 'account'] as const).flatMap((field) => findNamedColumns(names, field)),
  );
  const moneyColumns = samples.flatMap((sample, index) => {
    if (claimedColumns.has(index) || otherColumns.has(index) || isOtherAmount(names[index] ?? ''))
      return [];
    const hasCents = measureShare(sample, (cell) => /\d[.,]\d{2}(?!\d)/.test(cell)) > 0.3;
    return sample.cells.length > 0 && isNumeric(sample) && hasCents ? [index] : [];
  });
  const unnamedColumns = { ...EMPTY_COLUMNS, isNamed: false };
  const balanceColumns = findNamedColumns(names, 'balance');
  const candidates = moneyColumns.filter((index) => !balanceColumns.includes(index));
  const filledColumns = candidates.filter((index) => isMostlyFilled(samples[index]));
  if (filledColumns.length === 1 && candidates.length === 1)
    return { ...unnamedColumns, amountColumns: filledColumns };
  const columnsByBalance = findAmountsByBalances(moneyColumns, rows);
  if (!columnsByBalance) return undefined;
  const { debitColumn, creditColumn, amountColumn } = columnsByBalance;
  if (amountColumn !== undefined) return { ...unnamedColumns, amountColumns: [amountColumn] };
  return {
    ...unnamedColumns,
    debitColumns: [debitColumn],
    creditColumns: [creditColumn],
    isSplit: true,
  };
}
