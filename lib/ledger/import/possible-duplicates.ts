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
  { recorded, firstDate, vanished }: DuplicateOptions,
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
  for (const find of [
    createNearFinder(others, firstDate),
    createEditedFinder(ledger, recorded),
    ...createVanishedFinders(vanished),
  ])
    for (const row of rows.filter((each) => !pairs.has(each))) pair(row, find(row).find(isFree));
  return rows.flatMap((row) => {
    const there = pairs.get(row);
    return there ? { row, there } : [];
  });
}

interface DuplicateOptions {
  readonly recorded: RecordedRows | undefined;
  /** Earliest date in the file; it has no transactions before it. */
  readonly firstDate: string;
  /** Transactions that an earlier file of the account had on the days of this one, which lacks them. */
  readonly vanished: readonly LedgerRow[];
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

/** By the amount, whatever the text; then by a word of the text, whatever the amount, as with a tip or fuel. */
function createVanishedFinders(vanished: readonly LedgerRow[]) {
  return [
    createPendingFinder(vanished, ({ amount }) => [amount]),
    createPendingFinder(vanished, ({ description }) => listWords(description)),
  ];
}

/** Finds vanished transactions of the row's direction that share a key with it; the nearest first. */
function createPendingFinder(
  vanished: readonly LedgerRow[],
  listKeys: (row: TransactionRow) => readonly (string | number)[],
) {
  const listPlaces = (row: TransactionRow, period: number) =>
    listKeys(row).map((key) => `${row.type} ${period} ${key}`);
  const places = Map.groupBy(
    vanished.flatMap((there) =>
      listPlaces(there, findPeriod(there)).map((place) => [place, there] as const),
    ),
    ([place]) => place,
  );
  return (row: StatementRow): readonly LedgerRow[] => {
    if (places.size === 0) return [];
    const period = findPeriod(row);
    const distance = ({ date }: TransactionRow) =>
      Math.abs(toDayNumber(date) - toDayNumber(row.date));
    return [period - 1, period, period + 1]
      .flatMap((each) => listPlaces(row, each))
      .flatMap((place) => places.get(place)?.slice(0, MAX_COMPARED) ?? [])
      .map(([, there]) => there)
      .filter((there) => distance(there) <= MAX_DAYS_PENDING)
      .toSorted((one, other) => distance(one) - distance(other));
  };
}

/** Rows that are no further apart than a pending one and its booking are in one period, or in two neighbouring ones. */
function findPeriod({ date }: TransactionRow): number {
  return Math.floor(toDayNumber(date) / MAX_DAYS_PENDING);
}

/** Matches rows that share a word with this row's description. */
function createWordMatcher(row: TransactionRow): (there: TransactionRow) => boolean {
  const words = new Set(listWords(row.description));
  return ({ description }) => listWords(description).some((word) => words.has(word));
}

/** Between a purchase and its booking; a weekend and a holiday are among them. */
const MAX_DAYS_BETWEEN = 5;
/** Hotels and fuel pumps book as late. */
const MAX_DAYS_PENDING = 14;
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
