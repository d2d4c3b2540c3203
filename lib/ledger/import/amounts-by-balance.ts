// Finds the amounts among several columns of numbers whose names do not tell: a balance changes by the amount of its row.
import { isEmptyAmount, readAmount } from './amounts.ts';
import { compareWithBalances } from './balance.ts';
import type { TableRow } from './csv-text.ts';
import { findDecimalSign } from './decimal-sign.ts';

export type AmountsByBalance =
  | { readonly amount: number; readonly debit?: never; readonly credit?: never }
  | { readonly amount?: never; readonly debit: number; readonly credit: number };

/** Limit for the number of columns, because every two of them are compared. */
const MAX_COLUMNS = 8;

type Numbers = readonly (number | null)[];

/** @returns undefined if no column follows from another */
export function findByBalances(
  columns: readonly number[],
  rows: readonly TableRow[],
): AmountsByBalance | undefined {
  if (columns.length > MAX_COLUMNS) return undefined;
  const numbers = new Map(columns.map((index) => [index, readColumn(rows, index)]));
  const pairs = columns.flatMap((first) =>
    columns.flatMap((second) => (first === second ? [] : [[first, second] as const])),
  );
  for (const [amount, balance] of pairs)
    if (followsAmounts(numbers.get(amount) ?? [], numbers.get(balance) ?? [])) return { amount };
  for (const [debit, credit] of pairs) {
    const signed = joinSides(numbers.get(debit) ?? [], numbers.get(credit) ?? []);
    const others = columns.filter((index) => index !== debit && index !== credit);
    if (signed && others.some((index) => followsAmounts(signed, numbers.get(index) ?? [], true)))
      return { debit, credit };
  }
  // Balances may have a minus, too, but then the amounts are not the only column with one.
  const negative = columns.filter((index) =>
    numbers.get(index)?.some((number) => number !== null && number < 0),
  );
  const [amount, ...more] = negative;
  const isComplete =
    amount !== undefined && numbers.get(amount)?.every((number) => number !== null);
  return isComplete && more.length === 0 ? { amount } : undefined;
}

function readColumn(rows: readonly TableRow[], index: number): Numbers {
  const cells = rows.map(({ cells: all }) => all[index] ?? '');
  const decimal = findDecimalSign(cells) ?? 'point';
  return cells.map((cell) => {
    try {
      return isEmptyAmount(cell) ? null : readAmount(cell, decimal).signed;
    } catch {
      return null;
    }
  });
}

/**
 * True if most balances change by the amount of their row. If the amounts have no signs, either direction counts.
 */
function followsAmounts(amounts: Numbers, balances: Numbers, areSigned = false): boolean {
  const rows = amounts.flatMap((signed, n) =>
    signed === null ? [] : [{ signed, balance: balances[n] ?? null }],
  );
  const { agreeing, reversed, pairs } = compareWithBalances(rows);
  const hasSigns = areSigned || rows.some(({ signed }) => signed < 0);
  const matching = hasSigns ? agreeing : agreeing + reversed;
  const hasEnoughPairs = pairs > 0 && pairs * 2 > amounts.length - 1;
  return hasEnoughPairs && rows.length * 2 > amounts.length && matching >= pairs * 0.9;
}

/** Merges debits and credits into signed amounts; undefined if a row has both. */
function joinSides(debits: Numbers, credits: Numbers): Numbers | undefined {
  const hasOneSide = debits.every((debit, n) => (debit ?? 0) === 0 || (credits[n] ?? 0) === 0);
  if (!hasOneSide) return undefined;
  return debits.map((debit, n) => {
    const credit = credits[n] ?? null;
    if (debit === null && credit === null) return null;
    return Math.abs(credit ?? 0) - Math.abs(debit ?? 0);
  });
}
