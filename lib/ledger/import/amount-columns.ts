// Finds the columns of a table that hold the amounts: one column with signs, or a debit and a credit column.

import { findByBalances } from './amounts-by-balance.ts';
import { type ChosenColumns, type ChosenField, describeMissing } from './chosen-columns.ts';
import { type Field, findNamed, isOtherAmount } from './column-names.ts';
import { isFilled, isNumeric, measureShare, type Sample } from './column-samples.ts';
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

export interface FoundAmounts {
  readonly amount: readonly number[];
  readonly debit: readonly number[];
  readonly credit: readonly number[];
  readonly isSplit: boolean;
  readonly isNamed: boolean;
  readonly problem?: string;
}

const NAMED = { amount: [], debit: [], credit: [], isSplit: false, isNamed: true };

export function findAmounts(
  context: TableContext,
  pick: (field: ChosenField) => readonly number[] | undefined,
  claimed: ReadonlySet<number>,
): FoundAmounts {
  const { names, samples, chosen } = context;
  const usable: Usable = (field) =>
    findNamed(names, field).filter(
      (index) => !claimed.has(index) && mayHoldAmounts(samples[index]),
    );
  const debit = pick('debit') ?? usable('debit').slice(0, 1);
  const credit = pick('credit') ?? usable('credit').slice(0, 1);
  const split = { ...NAMED, debit, credit, isSplit: true };
  const hasSplit = debit.length > 0 && credit.length > 0;
  if (chosen.debit !== undefined || chosen.credit !== undefined) {
    const missing = debit.length === 0 ? 'debit' : 'credit';
    if (hasSplit || chosen[missing] !== undefined) return split;
    return { ...split, problem: describeMissing(`for the ${missing}`, missing) };
  }
  const picked = pick('amount');
  if (picked !== undefined) return { ...NAMED, amount: picked };
  const amount = findNamedAmount(context, usable);
  if (amount === undefined) return hasSplit ? split : findOtherAmounts(context, claimed);
  // If the amounts have no signs, the debit and credit columns beside them state the direction.
  const isSigned = samples[amount]?.cells.some((cell) => /[-−(]/.test(cell));
  const isSplitUsed = [...debit, ...credit].some((index) =>
    samples[index]?.cells.some((cell) => /[1-9]/.test(cell)),
  );
  return hasSplit && isSplitUsed && !isSigned ? split : { ...NAMED, amount: [amount] };
}

type Usable = (field: Field) => readonly number[];

function mayHoldAmounts(sample: Sample | undefined): boolean {
  return sample?.cells.length === 0 || isNumeric(sample);
}

function findNamedAmount(context: TableContext, usable: Usable): number | undefined {
  const { names, samples } = context;
  const amounts = usable('amount').filter((index) => isFilled(samples[index]));
  const gross = names.findIndex(isGross);
  const hasFee = usable('fee').length > 0;
  if (!hasFee && names.some((name) => TAX.test(name)) && isNumeric(samples[gross])) return gross;
  // Beside a fee, a net amount is what the account paid.
  const net = hasFee ? amounts.filter((index) => isNet(names[index])) : [];
  return [...net, ...preferOwnCurrency(amounts, context)][0];
}

/** Finds amounts in columns that are named after currencies, or whose names say nothing. */
function findOtherAmounts(
  { headers, names, samples, rows }: TableContext,
  claimed: ReadonlySet<number>,
): FoundAmounts {
  const unclaimed = [...names.keys()].filter((index) => !claimed.has(index));
  const byCurrency = unclaimed.filter(
    (index) => parseCurrencyHeader(headers[index] ?? '') !== null && mayHoldAmounts(samples[index]),
  );
  if (byCurrency.length > 0) return { ...NAMED, amount: byCurrency };
  const content = isShared(names) ? undefined : findByContent(names, samples, claimed, rows);
  if (content) return content;
  // The column is called an amount but its cells do not look like one: take it, so that each cell is refused with its line.
  const named = findNamed(names, 'amount').filter((index) => !claimed.has(index));
  if (named.length > 0) return { ...NAMED, amount: named.slice(0, 1) };
  return { ...NAMED, isNamed: false, problem: describeMissing('for the amount', 'amount') };
}

/**
 * Puts the amount in the account's currency first. If two columns share a name, such as "Amount" and "Amount in EUR", the one
 * whose header has a currency comes first. If a currency column has one value only, the order stays.
 */
function preferOwnCurrency(
  amounts: readonly number[],
  { headers, names, samples }: TableContext,
): readonly number[] {
  const [first, ...others] = amounts;
  const codes = findNamed(names, 'currency').map((index) => new Set(samples[index]?.cells));
  if (codes.some(({ size }) => size === 1)) return amounts;
  const hasCurrency = (index: number) => findCurrencyCodes(headers[index] ?? '').length > 0;
  if (first === undefined || hasCurrency(first)) return amounts;
  const own = others.filter((index) => names[index] === names[first] && hasCurrency(index));
  return own.length === 1 ? [...own, ...amounts] : amounts;
}

/**
 * Recognizes an export of Splitwise, which has a column for each person of a group: the file does not say which person the
 * ledger belongs to.
 */
function isShared(names: readonly string[]): boolean {
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

/** Finds columns of numbers with cents by their cells alone; if there are several, the balances show which are the amounts. */
function findByContent(
  names: readonly string[],
  samples: readonly Sample[],
  claimed: ReadonlySet<number>,
  rows: readonly TableRow[],
): FoundAmounts | undefined {
  const others = new Set(
    (['fee', 'externalId', 'account'] as const).flatMap((field) => findNamed(names, field)),
  );
  const money = samples.flatMap((sample, index) => {
    if (claimed.has(index) || others.has(index) || isOtherAmount(names[index] ?? '')) return [];
    const hasCents = measureShare(sample, (cell) => /\d[.,]\d{2}(?!\d)/.test(cell)) > 0.3;
    return sample.cells.length > 0 && isNumeric(sample) && hasCents ? [index] : [];
  });
  const unnamed = { ...NAMED, isNamed: false };
  const balances = findNamed(names, 'balance');
  const candidates = money.filter((index) => !balances.includes(index));
  const filled = candidates.filter((index) => isFilled(samples[index]));
  if (filled.length === 1 && candidates.length === 1) return { ...unnamed, amount: filled };
  const proven = findByBalances(money, rows);
  if (!proven) return undefined;
  const { debit, credit, amount } = proven;
  if (amount !== undefined) return { ...unnamed, amount: [amount] };
  return { ...unnamed, debit: [debit], credit: [credit], isSplit: true };
}
