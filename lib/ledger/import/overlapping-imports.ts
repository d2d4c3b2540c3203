// Compares a file with the imports whose rows it repeats. A file of the same account also has their other rows of its days, except
// those that the bank took back or booked anew. A file of another account has few of them.
import { counted, type Need } from './booking.ts';
import type { LedgerRow, StatementRow } from './transaction-row.ts';

/** Such as the fee and the interest of one day. */
const MAX_CHANCE_ROWS = 2;

export interface Overlap {
  readonly period: Period;
  /** Rows of the file and of an import, by import. */
  readonly shared: ReadonlyMap<string | null, readonly (readonly [StatementRow, LedgerRow])[]>;
  /** Transactions of these imports, on the days of the file, that no row of it is. */
  readonly lacking: readonly LedgerRow[];
}

/** First and last date of a file. */
export interface Period {
  readonly first: string;
  readonly last: string;
}

/** @param unmatched transactions that no row of the file is */
export function findOverlap(
  rows: readonly StatementRow[],
  pairs: ReadonlyMap<StatementRow, LedgerRow>,
  unmatched: readonly LedgerRow[],
): Overlap {
  const period = findPeriod(rows);
  const shared = Map.groupBy(
    [...pairs].filter(([row, { importId }]) => row.exported === null && importId !== null),
    ([, { importId }]) => importId,
  );
  const lacking = unmatched.filter(
    ({ importId, date }) => shared.has(importId) && period.first <= date && date <= period.last,
  );
  return { period, shared, lacking };
}

function findPeriod(rows: readonly StatementRow[]): Period {
  const dates = new Set(rows.map(({ date }) => date));
  const sorted = [...dates].toSorted();
  return { first: sorted[0] ?? '', last: sorted.at(-1) ?? '' };
}

/** Two accounts seldom share so many rows of the same days. */
const MIN_ROWS_OF_ACCOUNT = 10;
const MAX_SHARE_LACKING = 1 / 4;

/**
 * The file repeats the import as only a file of the same account does: many rows, and most of those that either has on these days.
 * @param unknown rows of the file that were never imported
 */
export function isOfAccount(
  { shared, lacking }: Overlap,
  importId: string | null,
  unknown: readonly StatementRow[],
): boolean {
  const equal = (shared.get(importId) ?? []).map(([, there]) => there);
  const others = lacking.filter((there) => there.importId === importId);
  const days = [...equal, ...others].map(({ date }) => date).toSorted();
  const [first = '', last = ''] = [days[0], days.at(-1)];
  const added = unknown.filter(({ date }) => first <= date && date <= last);
  const most = equal.length * MAX_SHARE_LACKING;
  return equal.length >= MIN_ROWS_OF_ACCOUNT && others.length <= most && added.length <= most;
}

interface Comparison extends Overlap {
  /** Transactions that no row of the file is or may be. */
  readonly strangers: readonly LedgerRow[];
  readonly missing: readonly StatementRow[];
}

/**
 * Two accounts may have equal rows, and only a name tells them apart. Where file and import have only one day in common, one or two
 * rows show nothing, unless they have the bank's id or a balance.
 */
export function findOtherAccount(comparison: Comparison): readonly Need[] {
  const { shared, strangers } = comparison;
  const isStrange = new Set(strangers);
  const lacking = Map.groupBy(
    comparison.lacking.filter((there) => isStrange.has(there)),
    ({ importId }) => importId,
  );
  const isExtending = new Set(strangers.map(({ importId }) => importId));
  const mayRepeatByChance = hasFewUnprovenRows(comparison);
  return [...shared].flatMap(([importId, equal]): Need[] => {
    const others = lacking.get(importId)?.length ?? 0;
    const isDoubtful = mayRepeatByChance && isExtending.has(importId);
    if (others < equal.length && !isDoubtful) return [];
    const why =
      others < equal.length
        ? 'nothing else shows whether the file is of another account'
        : `${counted(others, 'other row')} of that import on these days ${others === 1 ? 'is' : 'are'} not in the file: it seems to be of another account, unless they were pending`;
    const message = `${counted(equal.length, 'row')} of the file and of the import ${importId} ${equal.length === 1 ? 'is' : 'are'} equal, and ${why}. Name the account with --account NAME, the same each time. If it is the same account, add --as-it-is.`;
    return [{ question: 'account', message }];
  });
}

/** One or two rows of one day, without an id of the bank or a balance. */
function hasFewUnprovenRows({ shared, missing }: Comparison): boolean {
  const all = [...shared.values()].flat().map(([row]) => row);
  const isShown = all.some(({ bankId, hasBalance }) => bankId !== null || hasBalance);
  return missing.length > 0 && isFew(all) && !isShown;
}

function isFew(rows: readonly StatementRow[]): boolean {
  return rows.length <= MAX_CHANCE_ROWS && rows.every(({ date }) => date === rows[0]?.date);
}
