// Finds rows that the ledger may have under another identity: entered by hand, imported from another format, or edited since.
import { fromDayNumber, toDayNumber } from '../domain/calendar-date.ts';
import { listWords } from './learned-categories.ts';
import type { RecordedRows } from './recorded-rows.ts';
import { readBankId } from './row-ids.ts';
import type { LedgerRow, StatementRow, TransactionRow } from './transaction-row.ts';

/** A row of the file, and a transaction of the ledger. */
export interface Pair {
  readonly row: StatementRow;
  readonly transaction: LedgerRow;
}

/**
 * Pairs a row with at most one transaction, and a transaction with at most one row. The first choice is a transaction with the
 * row's date, type and amount, or an edited one with the id that an earlier release gave the row. The second has the row's bank
 * id and date. The third is one whose amount or date was edited.
 */
export function findDuplicates(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  recorded: RecordedRows | undefined,
): readonly Pair[] {
  const transactionsByKey = Map.groupBy(ledger, toMatchKey);
  const editedById = Map.groupBy(
    ledger.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt),
    ({ externalId }) => externalId,
  );
  return pairInTurn(rows, [
    (row) => [
      ...(transactionsByKey.get(toMatchKey(row))?.splice(0, 1) ?? []),
      ...(row.legacyBankId === null ? [] : (editedById.get(row.legacyBankId) ?? [])),
    ],
    createBankIdFinder(rows, ledger),
    createEditedFinder(ledger, recorded),
  ]);
}

/** Finds transactions with the row's bank id and date: earlier releases took the amount from another column. */
function createBankIdFinder(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
): FindTransactions {
  if (rows.every(({ bankId }) => bankId === null)) return () => [];
  const transactionsByBankId = Map.groupBy(
    ledger.filter(({ externalId }) => externalId !== null),
    ({ externalId, date }) => `${date} ${readBankId(externalId ?? '')}`,
  );
  return ({ bankId, date }) =>
    bankId === null ? [] : (transactionsByBankId.get(`${date} ${bankId}`) ?? []);
}

/**
 * Pairs rows with transactions on another date: an entry that was pending, or that another of the bank's files dates by the
 * purchase. Failing that, it pairs them with vanished transactions: the bank rebooks a pending row, often with another text or
 * amount.
 * @param rows rows that `findDuplicates` left unpaired; it runs first, because a pair with the same date is likelier
 * @param ledger transactions that `findDuplicates` left unpaired
 */
export function findRebooked(
  rows: readonly StatementRow[],
  ledger: readonly LedgerRow[],
  { firstDate, vanished }: RebookedOptions,
): readonly Pair[] {
  if (ledger.length === 0) return [];
  const finders = [
    createNearFinder(Map.groupBy(ledger, toMatchKey), firstDate),
    ...createVanishedFinders(vanished),
  ];
  return pairInTurn(rows, finders);
}

type FindTransactions = (row: StatementRow) => readonly LedgerRow[];

/**
 * Pairs each row with the first free transaction. Each finder sees all rows before the next one does, so a certain pair is
 * never lost to an uncertain one.
 */
function pairInTurn(
  rows: readonly StatementRow[],
  finders: readonly FindTransactions[],
): readonly Pair[] {
  const usedTransactions = new Set<LedgerRow>();
  const pairs = new Map<StatementRow, LedgerRow>();
  for (const find of finders)
    for (const row of rows) {
      const transaction = pairs.has(row)
        ? undefined
        : find(row).find((each) => !usedTransactions.has(each));
      if (!transaction) continue;
      usedTransactions.add(transaction);
      pairs.set(row, transaction);
    }
  return rows.flatMap((row) => {
    const transaction = pairs.get(row);
    return transaction ? { row, transaction } : [];
  });
}

interface RebookedOptions {
  /** Earliest date in the file. */
  readonly firstDate: string;
  /** Transactions of earlier imports that are missing from the file although it covers their days. */
  readonly vanished: readonly LedgerRow[];
}

/**
 * Finds transactions that may have been the row before they were edited: their record says so, or they share the row's date,
 * its type and a word of its text.
 */
function createEditedFinder(ledger: readonly LedgerRow[], recorded: RecordedRows | undefined) {
  const editedTransactions = ledger.filter(
    (transaction) =>
      transaction.createdAt !== transaction.updatedAt && !recorded?.isOnlyCategorised(transaction),
  );
  const byDate = Map.groupBy(editedTransactions, ({ date }) => date);
  const byAmount = Map.groupBy(editedTransactions, ({ type, amount }) => `${type} ${amount}`);
  return (row: StatementRow): readonly LedgerRow[] => {
    if (editedTransactions.length === 0) return [];
    const sameDate = byDate.get(row.date)?.slice(0, MAX_COMPARED) ?? [];
    const sameAmount = byAmount.get(`${row.type} ${row.amount}`)?.slice(0, MAX_COMPARED) ?? [];
    const sharesWord = createWordMatcher(row);
    return [
      ...[...sameDate, ...sameAmount].filter((transaction) =>
        recorded?.wasImportedAs(transaction, row),
      ),
      ...sameDate.filter((transaction) => transaction.type === row.type && sharesWord(transaction)),
    ];
  };
}

/** Finds transactions on a near date with the row's type, its amount and a word of its text; the nearest first. */
function createNearFinder(byKey: ReadonlyMap<string, readonly LedgerRow[]>, firstDate: string) {
  const nearDates = new Map<string, readonly string[]>();
  return (row: StatementRow): readonly LedgerRow[] => {
    if (byKey.size === 0) return [];
    const { date } = row;
    const dates =
      nearDates.get(date) ?? listNearDates(date).filter((nearDate) => nearDate >= firstDate);
    nearDates.set(date, dates);
    const candidates = dates.flatMap(
      (nearDate) => byKey.get(toMatchKey({ ...row, date: nearDate }))?.slice(0, MAX_COMPARED) ?? [],
    );
    return candidates.length === 0 ? [] : candidates.filter(createWordMatcher(row));
  };
}

/**
 * Searches first by the amount, whatever the text, then by a word of the text, whatever the amount: a tip changes the amount.
 */
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
  const toGroupKey = (row: TransactionRow, period: number, key: string | number) =>
    `${row.type} ${period} ${key}`;
  const groups = Map.groupBy(
    vanished.flatMap((transaction) => {
      const period = numberPeriod(transaction);
      return listKeys(transaction).map((key) => ({
        transaction,
        groupKey: toGroupKey(transaction, period, key),
      }));
    }),
    ({ groupKey }) => groupKey,
  );
  return (row: StatementRow): readonly LedgerRow[] => {
    if (groups.size === 0) return [];
    const period = numberPeriod(row);
    const measureDistance = ({ date }: TransactionRow) =>
      Math.abs(toDayNumber(date) - toDayNumber(row.date));
    return listKeys(row)
      .flatMap((key) => [period - 1, period, period + 1].map((each) => toGroupKey(row, each, key)))
      .flatMap((groupKey) => groups.get(groupKey)?.slice(0, MAX_COMPARED) ?? [])
      .map(({ transaction }) => transaction)
      .filter((transaction) => measureDistance(transaction) <= MAX_DAYS_PENDING)
      .toSorted((a, b) => measureDistance(a) - measureDistance(b));
  };
}

/**
 * Numbers calendar periods of MAX_DAYS_PENDING days: a pending row and its booked entry are in the same period or in neighbouring
 * ones.
 */
function numberPeriod({ date }: TransactionRow): number {
  return Math.floor(toDayNumber(date) / MAX_DAYS_PENDING);
}

/** Matches rows that share a word with this row's description. */
function createWordMatcher(row: TransactionRow): (transaction: TransactionRow) => boolean {
  const words = new Set(listWords(row.description));
  return ({ description }) => listWords(description).some((word) => words.has(word));
}

/** Days between a purchase and its posting, including a weekend and a holiday. */
const MAX_DAYS_BETWEEN = 5;
/** Days that a row may be pending: hotels and fuel pumps book that late. */
const MAX_DAYS_PENDING = 14;
/** Maximum number of candidates compared: a day may have thousands of equal amounts. */
const MAX_COMPARED = 10;

/** Lists the dates before and after a date, the nearest first. */
function listNearDates(date: string): readonly string[] {
  const day = toDayNumber(date);
  return Array.from({ length: MAX_DAYS_BETWEEN }, (_, n) => n + 1)
    .flatMap((distance) => [-distance, distance])
    .map((days) => fromDayNumber(day + days));
}

export function toMatchKey({ date, type, amount }: TransactionRow): string {
  return `${date} ${type} ${amount}`;
}
