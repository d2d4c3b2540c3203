// Finds the amount column among several columns of numbers with unknown names: each balance changes by the amount of its row.
import { isEmptyAmount, readAmount } from './amounts.ts';
import { compareWithBalances } from './balance.ts';
import type { TableRow } from './csv-text.ts';
import { findDecimalSeparator } from './decimal-separator.ts';

export type AmountsByBalance =
  | { readonly amountColumn: number; readonly debitColumn?: never; readonly creditColumn?: never }
  | { readonly amountColumn?: never; readonly debitColumn: number; readonly creditColumn: number };

/** Maximum number of columns, because every column is compared with every other. */
const MAX_COLUMNS = 8;

type Numbers = readonly (number | null)[];

/** @returns undefined if the balances do not show which column contains the amounts */
export function findAmountsByBalances(
  columns: readonly number[],
  rows: readonly TableRow[],
): AmountsByBalance | undefined {
  if (columns.length > MAX_COLUMNS) return undefined;
  const numbersByColumn = new Map(columns.map((index) => [index, readColumn(rows, index)]));
  const pairs = columns.flatMap((first) =>
    columns.flatMap((second) => (first === second ? [] : [[first, second] as const])),
  );
  const readNumbers = (column: number) => numbersByColumn.get(column) ?? [];
  for (const [amountColumn, balanceColumn] of pairs)
    if (balancesMatch(readNumbers(amountColumn), readNumbers(balanceColumn)))
      return { amountColumn };
  for (const [debitColumn, creditColumn] of pairs) {
    const signedAmounts = mergeDebitsAndCredits(
      readNumbers(debitColumn),
      readNumbers(creditColumn),
    );
    const otherColumns = columns.filter((index) => index !== debitColumn && index !== creditColumn);
    if (
      signedAmounts &&
      otherColumns.some((index) => balancesMatch(signedAmounts, readNumbers(index), true))
    )
      return { debitColumn, creditColumn };
  }
  // Amounts have minus signs. Balances may have them too; then two columns have them, and neither is certain.
  const columnsWithMinus = columns.filter((index) =>
    readNumbers(index).some((number) => number !== null && number < 0),
  );
  const [amountColumn, ...otherColumns] = columnsWithMinus;
  const isColumnComplete =
    amountColumn !== undefined && readNumbers(amountColumn).every((number) => number !== null);
  return isColumnComplete && otherColumns.length === 0 ? { amountColumn } : undefined;
}

function readColumn(rows: readonly TableRow[], index: number): Numbers {
  const cells = rows.map((row) => row.cells[index] ?? '');
  const decimal = findDecimalSeparator(cells) ?? 'point';
  return cells.map((cell) => {
    try {
      return isEmptyAmount(cell) ? null : readAmount(cell, decimal).signed;
    } catch {
      return null;
    }
  });
}

/** True if most balances change by the amount of their row. If the amounts have no signs, either direction counts. */
function balancesMatch(amounts: Numbers, balances: Numbers, areSigned = false): boolean {
  const rows = amounts.flatMap((signed, n) =>
    signed === null ? [] : [{ signed, balance: balances[n] ?? null }],
  );
  const { agreeingCount, reversedCount, pairCount } = compareWithBalances(rows);
  const hasSigns = areSigned || rows.some(({ signed }) => signed < 0);
  const matchingPairs = hasSigns ? agreeingCount : agreeingCount + reversedCount;
  const hasEnoughPairs = pairCount > 0 && pairCount * 2 > amounts.length - 1;
  return hasEnoughPairs && rows.length * 2 > amounts.length && matchingPairs >= pairCount * 0.9;
}

/** Merges debits and credits into signed amounts; undefined if a row has both. */
function mergeDebitsAndCredits(debits: Numbers, credits: Numbers): Numbers | undefined {
  const hasOneSide = debits.every((debit, n) => (debit ?? 0) === 0 || (credits[n] ?? 0) === 0);
  if (!hasOneSide) return undefined;
  return debits.map((debit, n) => {
    const credit = credits[n] ?? null;
    if (debit === null && credit === null) return null;
    return Math.abs(credit ?? 0) - Math.abs(debit ?? 0);
  });
}
