// Decides whether a fee in a separate column must be added to the amount beside it, or is already part of it. Balances decide.
// Without balances, the known rule of the bank's layout decides. Without such a rule, the user is asked.
import { compareWithBalances } from './balance.ts';
import { pluralize, type Question } from './entry.ts';

/** A fee must be added to the amount, or is already included. */
export type FeeRule = 'added' | 'included' | 'unknown';

interface PaidRow {
  readonly signed: number;
  readonly balance: number | null;
}

export interface AddedFees<Row> {
  readonly rows: readonly (Row | Error)[];
  readonly findings: readonly string[];
  readonly questions: readonly Question[];
}

export interface FeeOptions {
  readonly rule: FeeRule;
  /** True if the user has named the column: its fees are added, even if balances disagree. */
  readonly isChosen: boolean;
  /** Header of the column. */
  readonly column: string;
}

/** Headers of Revolut's column for the time when a payment began, in several languages. */
const REVOLUT = new Set([
  ...['started date', 'datum des beginns', 'date de debut', 'fecha de inicio', 'data di inizio'],
  ...['data de inicio', 'startdatum', 'data rozpoczecia'],
]);

/**
 * @param names normalized headers of all columns
 * @param column normalized headers of the fee column and the amount column
 */
export function findFeeRule(
  names: readonly string[],
  column: { readonly fee: string; readonly amount: string },
): FeeRule {
  // Wise sends the whole source amount, and charges the fee on top.
  if (column.fee === 'source fee amount') return 'added';
  const isTotalAmount = column.amount === 'total' && names.includes('subtotal');
  if (isTotalAmount || /\bnet\b|after fees/.test(column.amount) || column.fee === 'total fees')
    return 'included';
  return names.some((name) => REVOLUT.has(name)) ? 'added' : 'unknown';
}

/** @param fees fees of the same rows, null for a row that has none; empty if the file has no such column */
export function addFees<Row extends PaidRow>(
  rows: readonly (Row | Error)[],
  fees: readonly (number | null)[],
  { rule, isChosen, column }: FeeOptions,
): AddedFees<Row> {
  const unchangedRows = { rows, findings: [], questions: [] };
  if (fees.length === 0) return unchangedRows;
  const rowsWithFees = rows.map((row, n) => {
    const fee = fees[n] ?? 0;
    if (row instanceof Error || fee === 0) return row;
    return { ...row, signed: Math.round((row.signed - Math.abs(fee)) * 100) / 100 };
  });
  const count = rowsWithFees.filter((row, n) => row !== rows[n]).length;
  if (count === 0) return unchangedRows;
  const gainedMatches = isChosen
    ? 1
    : countMatchingBalances(rowsWithFees) - countMatchingBalances(rows);
  if (gainedMatches > 0 || (gainedMatches === 0 && rule === 'added'))
    return {
      rows: rowsWithFees,
      findings: [`the fee was added to the amount in ${pluralize(count, 'row')}`],
      questions: [],
    };
  if (gainedMatches < 0 || rule === 'included') return unchangedRows;
  return { ...unchangedRows, questions: [askAboutFees(column, count)] };
}

function countMatchingBalances(rows: readonly (PaidRow | Error)[]): number {
  return compareWithBalances(rows.flatMap((row) => (row instanceof Error ? [] : row)))
    .agreeingCount;
}

function askAboutFees(column: string, count: number): Question {
  return {
    topic: 'fees',
    message: `The column "${column}" has a fee in ${pluralize(count, 'row')}, and no balance shows whether the amounts include it. Add it with --fee "${column}", or leave the amounts as they are with --fee none.`,
  };
}
