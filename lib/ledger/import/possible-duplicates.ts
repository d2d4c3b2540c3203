// Rows that the ledger may have under another identity: entered by hand, imported from another format, or edited since.
import { fromDayNumber, toDayNumber } from '../domain/calendar-date.ts';
import { listWords } from './learned-categories.ts';
import type { RecordedRows } from './recorded-rows.ts';
import type { LedgerRow, StatementRow, TransactionRow } from './transaction-row.ts';

/** A row, and a transaction of the ledger. */
export interface Pair {
  readonly row: StatementRow;
  readonly there: LedgerRow;
}

/**
 * One transaction is the possible duplicate of one row: one with its date, type and amount, or one that has the row's id from
 * an earlier release and was edited, so that its date and amount say nothing. Else one of a near date: a booking that was pending,
 * or that another file of the bank has by the date of the purchase. Else one whose amount or date was edited.
 */
export function findDuplicates(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  { recorded, firstDate }: DuplicateOptions,
): Pair[] {
  if (ledger.length === 0) return [];
  const others = Map.groupBy(ledger, matchKey);
  const used = new Set<LedgerRow>();
  const edited = Map.groupBy(
    ledger.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt),
    ({ externalId }) => externalId,
  );
  const isFree = (there: LedgerRow) => !used.has(there);
  const pairs = new Map<StatementRow, LedgerRow>();
  const pair = (row: StatementRow, there: LedgerRow | undefined) => {
    if (!there || !isFree(there)) return;
    used.add(there);
    pairs.set(row, there);
  };
  for (const row of rows) {
    const { formerBankId } = row;
    const same = others.get(matchKey(row));
    pair(
      row,
      same?.shift() ?? (formerBankId === null ? undefined : edited.get(formerBankId)?.find(isFree)),
    );
  }
  // Only of what is left: a transaction of the same date is the likelier one.
  const findNear = createNearFinder(others, firstDate);
  for (const row of rows.filter((each) => !pairs.has(each))) pair(row, findNear(row).find(isFree));
  const findEdited = createEditedFinder(ledger, recorded);
  for (const row of rows.filter((each) => !pairs.has(each)))
    pair(row, findEdited(row).find(isFree));
  return rows.flatMap((row) => {
    const there = pairs.get(row);
    return there ? { row, there } : [];
  });
}

interface DuplicateOptions {
  readonly recorded: RecordedRows | undefined;
  /** Earliest date in the file; it has no transactions before it. */
  readonly firstDate: string;
}

/**
 * Finds transactions that were edited and may have been the row before: their record says so, or they share its date and a
 * word of its text.
 */
function createEditedFinder(ledger: readonly LedgerRow[], recorded: RecordedRows | undefined) {
  const edited = ledger.filter(
    (there) => there.createdAt !== there.updatedAt && !recorded?.isOnlyCategorised(there),
  );
  const byDate = Map.groupBy(edited, ({ date }) => date);
  const byAmount = Map.groupBy(edited, ({ type, amount }) => `${type} ${amount}`);
  return (row: StatementRow): readonly LedgerRow[] => {
    if (edited.length === 0) return [];
    const ofDate = byDate.get(row.date)?.slice(0, MAX_COMPARED) ?? [];
    const ofAmount = byAmount.get(`${row.type} ${row.amount}`)?.slice(0, MAX_COMPARED) ?? [];
    const sharesWord = createWordMatcher(row);
    return [
      ...[...ofDate, ...ofAmount].filter((there) => recorded?.wasImportedAs(there, row)),
      ...ofDate.filter((there) => there.type === row.type && sharesWord(there)),
    ];
  };
}

/** Finds transactions of a near date with the row's type and amount, and a word of its text; the nearest first. */
function createNearFinder(byKey: ReadonlyMap<string, readonly LedgerRow[]>, firstDate: string) {
  const nearDates = new Map<string, readonly string[]>();
  return (row: StatementRow): readonly LedgerRow[] => {
    if (byKey.size === 0) return [];
    const { date } = row;
    const dates = nearDates.get(date) ?? listNearDates(date).filter((near) => near >= firstDate);
    nearDates.set(date, dates);
    const found = dates.flatMap(
      (near) => byKey.get(matchKey({ ...row, date: near }))?.slice(0, MAX_COMPARED) ?? [],
    );
    return found.length === 0 ? [] : found.filter(createWordMatcher(row));
  };
}

/** Matches rows that share a word with this row's description. */
function createWordMatcher(row: TransactionRow): (there: TransactionRow) => boolean {
  const words = new Set(listWords(row.description));
  return ({ description }) => listWords(description).some((word) => words.has(word));
}

/** Between a purchase and its booking; a weekend and a holiday are among them. */
const MAX_DAYS_BETWEEN = 5;
/** Equal amounts of one day may be thousands. */
const MAX_COMPARED = 10;

/** The nearest first, without the date itself. */
function listNearDates(date: string): readonly string[] {
  const day = toDayNumber(date);
  return Array.from({ length: MAX_DAYS_BETWEEN }, (_, n) => n + 1)
    .flatMap((distance) => [-distance, distance])
    .map((days) => fromDayNumber(day + days));
}

export function matchKey({ date, type, amount }: TransactionRow): string {
  return `${date} ${type} ${amount}`;
}
