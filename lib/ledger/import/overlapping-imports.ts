// Compares a file with earlier imports that share rows with it. A file of the same account also has the other rows of those
// imports on the same days, except those that the bank removed or rebooked. A file of another account has few of them.
import { pluralize, type Question } from './entry.ts';
import type { LedgerRow, StatementRow } from './transaction-row.ts';

/** Rows of one day that may be equal by chance, such as a fee and interest. */
const MAX_CHANCE_ROWS = 2;

export interface Overlap {
  readonly period: Period;
  /** Pairs of a row of the file and the equal row of an import, by import. */
  readonly sharedRowsByImport: ReadonlyMap<
    string | null,
    readonly (readonly [StatementRow, LedgerRow])[]
  >;
  /** Transactions of these imports within the file's period that match no row of the file. */
  readonly missingFromFile: readonly LedgerRow[];
}

/** First and last date of a file. */
export interface Period {
  readonly first: string;
  readonly last: string;
}

/** @param unmatched transactions that match no row of the file */
export function findOverlap(
  rows: readonly StatementRow[],
  pairs: ReadonlyMap<StatementRow, LedgerRow>,
  unmatched: readonly LedgerRow[],
): Overlap {
  const period = findPeriod(rows);
  const sharedRowsByImport = Map.groupBy(
    [...pairs].filter(([row, { importId }]) => row.exported === null && importId !== null),
    ([, { importId }]) => importId,
  );
  const missingFromFile = unmatched.filter(
    ({ importId, date }) =>
      sharedRowsByImport.has(importId) && period.first <= date && date <= period.last,
  );
  return { period, sharedRowsByImport, missingFromFile };
}

function findPeriod(rows: readonly StatementRow[]): Period {
  const dates = new Set(rows.map(({ date }) => date));
  const sorted = [...dates].toSorted();
  return { first: sorted[0] ?? '', last: sorted.at(-1) ?? '' };
}

/** Number of equal rows that prove the same account: two accounts seldom share so many rows of the same days. */
const MIN_ROWS_OF_ACCOUNT = 10;
const MAX_MISSING_SHARE = 1 / 4;

/**
 * True if the file must be of the import's account: they share many rows, and few rows of the same days are in only one of them.
 * @param unknownRows rows of the file that were never imported
 */
export function isSameAccount(
  { sharedRowsByImport, missingFromFile }: Overlap,
  importId: string | null,
  unknownRows: readonly StatementRow[],
): boolean {
  const equalTransactions = (sharedRowsByImport.get(importId) ?? []).map(
    ([, transaction]) => transaction,
  );
  const otherTransactions = missingFromFile.filter(
    (transaction) => transaction.importId === importId,
  );
  const days = [...equalTransactions, ...otherTransactions].map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const addedRows = unknownRows.filter(({ date }) => first <= date && date <= last);
  const maxDifferingRows = equalTransactions.length * MAX_MISSING_SHARE;
  return (
    equalTransactions.length >= MIN_ROWS_OF_ACCOUNT &&
    otherTransactions.length <= maxDifferingRows &&
    addedRows.length <= maxDifferingRows
  );
}

interface Comparison extends Overlap {
  /** Transactions that match no row of the file, and duplicate none. */
  readonly unexplained: readonly LedgerRow[];
  /** Rows of the file that the ledger lacks. */
  readonly missing: readonly StatementRow[];
}

/**
 * Asks for the account if the file may be of another one: two accounts may have equal rows, and only a name tells them apart.
 * If the file and the import share only one day, one or two equal rows prove nothing without the bank's id or a balance.
 */
export function askAboutAccount(comparison: Comparison): readonly Question[] {
  const { sharedRowsByImport, unexplained } = comparison;
  const unexplainedSet = new Set(unexplained);
  const othersByImport = Map.groupBy(
    comparison.missingFromFile.filter((transaction) => unexplainedSet.has(transaction)),
    ({ importId }) => importId,
  );
  const unexplainedImports = new Set(unexplained.map(({ importId }) => importId));
  const mayRepeatByChance = hasFewUnprovenRows(comparison);
  return [...sharedRowsByImport].flatMap(([importId, equalPairs]): Question[] => {
    const otherCount = othersByImport.get(importId)?.length ?? 0;
    const isAccountDoubtful = mayRepeatByChance && unexplainedImports.has(importId);
    if (otherCount < equalPairs.length && !isAccountDoubtful) return [];
    const explanation =
      otherCount < equalPairs.length
        ? 'nothing else shows whether the file is from the same account'
        : `${pluralize(otherCount, 'other row')} of that import on these days ${otherCount === 1 ? 'is' : 'are'} not in the file: it seems to be from another account, unless they were pending`;
    const message = `${pluralize(equalPairs.length, 'row')} of the file and of the import ${importId} ${equalPairs.length === 1 ? 'is' : 'are'} equal, and ${explanation}. Name the account with --account NAME, the same each time. If it is the same account, add --as-it-is.`;
    return [{ topic: 'account', message }];
  });
}

/** True if only one or two rows of one day are shared, without a bank's id or a balance. */
function hasFewUnprovenRows({ sharedRowsByImport, missing }: Comparison): boolean {
  const sharedRows = [...sharedRowsByImport.values()].flat().map(([row]) => row);
  const hasProof = sharedRows.some(({ bankId, hasBalance }) => bankId !== null || hasBalance);
  return missing.length > 0 && areFewOfOneDay(sharedRows) && !hasProof;
}

function areFewOfOneDay(rows: readonly StatementRow[]): boolean {
  return rows.length <= MAX_CHANCE_ROWS && rows.every(({ date }) => date === rows[0]?.date);
}
