// The day histogram in the table. The item of a year has the number of transactions and the sum of their amounts for each
// month; the item of a month has the same for each day. Attributes i1, i2 ... are numbers of income transactions, I1, I2 ...
// are sums of income in cents, and e1, E1 ... are the same for expenses. The names are short because every list reads them. In
// the histogram of all transactions, years also have the digests of their months: d1, d2 ...

import type { Database, Item, Key, Write } from '../../shared/database.ts';
import { addToCounters } from '../../shared/update-writes.ts';
import { type CalendarMonth, monthOf, toMonth, yearOf } from '../domain/calendar-date.ts';
import {
  countRowsByMonth,
  type DateRange,
  findSlots,
  isWithinOneMonth,
  listEdgeMonths,
  type MonthCounts,
  type RangeCounts,
  type SlotCounts,
  type SlotSums,
  sum,
  sumTotalsByMonth,
  toYearRange,
  type YearCounts,
} from '../domain/day-histogram.ts';
import { toCents } from '../domain/money.ts';
import { computeDigestShare } from '../domain/month-digest.ts';
import type { Transaction, TransactionFilter, TransactionType } from '../domain/transaction.ts';
import { type Keys, parsePeriod, toMonthKey, toYearKey } from './keys.ts';

/** Fields of a transaction that affect counters and digests. */
export type CountedTransaction = Pick<
  Transaction,
  'date' | 'type' | 'categoryId' | 'amount' | 'id' | 'version' | 'createdAt' | 'updatedAt'
>;

/** Only years in the histogram of all transactions have digests, one for each month. */
type StoredSums = SlotSums & { readonly digests: ReadonlyMap<number, bigint> };
type StoredYear = YearCounts & StoredSums;
type StoredMonth = MonthCounts & StoredSums;

export type DayCounts = ReturnType<typeof createDayCounts>;

const COUNTS: Readonly<Record<TransactionType, string>> = { income: 'i', expense: 'e' };
const SUMS: Readonly<Record<TransactionType, string>> = { income: 'I', expense: 'E' };
const DIGEST = 'd';
const COUNTER = /^[iIeEd]\d+$/;

export function createDayCounts(database: Database, keys: Keys) {
  /** Reads the counts that the totals of a range need. */
  async function readRange(
    range: DateRange,
    categoryId?: number | null,
  ): Promise<RangeCounts<StoredSums>> {
    const [years, edgeMonths] = await Promise.all([
      isWithinOneMonth(range) ? [] : readYears(range, categoryId),
      Promise.all(listEdgeMonths(range).map((each) => readMonth(each, categoryId))),
    ]);
    return { years, edgeMonths };
  }

  /** Counts the rows of a list exactly, in total and by month. */
  async function countList({ categoryId, type }: TransactionFilter, range: DateRange) {
    const counts = await readRange(range, categoryId);
    const months = countRowsByMonth(range, counts, type);
    return { total: sum(months.map(([, count]) => count)), months, ...counts };
  }

  /** Reads the years of the range that have transactions. */
  async function readYears(
    range: DateRange,
    categoryId?: number | null,
    consistent = false,
  ): Promise<StoredYear[]> {
    const { first, last } = toYearRange(range);
    const value = keys.days(categoryId);
    const between = [toYearKey(first), toYearKey(last)] as const;
    return (await database.query({ value, between, consistent })).map(toYear);
  }

  /** Reads the totals and the digest of each month that has transactions, oldest first; strongly consistent. */
  async function readWholeMonths(range: DateRange) {
    const storedYears = await readYears(range, undefined, true);
    const digests = mapDigestsByMonth(storedYears);
    return sumTotalsByMonth(range, { years: storedYears, edgeMonths: [] })
      .filter(([, { count }]) => count > 0)
      .map(([month, figures]) => ({ month, ...figures, digest: digests.get(month) ?? 0n }))
      .reverse();
  }

  /** Reads the months of the range that have transactions, with the counts of their days. */
  async function readMonthsByDay(
    { start, end }: DateRange,
    categoryId?: number | null,
  ): Promise<StoredMonth[]> {
    const value = keys.days(categoryId);
    const between = [toMonthKey(monthOf(start)), toMonthKey(monthOf(end))] as const;
    const items = await database.query({ value, between });
    return items.map((item) => ({ month: parsePeriod(String(item.sk)), ...toSlotCounts(item) }));
  }

  async function readMonth(month: CalendarMonth, categoryId?: number | null): Promise<StoredMonth> {
    const key = { pk: keys.days(categoryId), sk: toMonthKey(month) };
    const item = await database.get(key, { consistent: false });
    return { month, ...toSlotCounts(item ?? {}) };
  }

  /** Creates the writes that keep the counts correct when transactions are created, deleted or changed. */
  function createCounterWrites(
    before: readonly CountedTransaction[],
    after: readonly CountedTransaction[],
  ): Write[] {
    const changes = new Map<string, CountChange>();
    for (const each of before) addChange(changes, keys, each, -1n);
    for (const each of after) addChange(changes, keys, each, 1n);
    return [...changes.values()].flatMap(createCounterWrite);
  }

  return { readRange, countList, readMonthsByDay, readMonth, readWholeMonths, createCounterWrites };
}

interface CountChange {
  readonly key: Key;
  readonly increments: Map<string, bigint>;
}

/**
 * Lists the counters that include a transaction, and what it adds to each. They are in two histograms: that of all transactions,
 * and that of the transaction's category or of the transactions without a category.
 */
export function listCounters(keys: Keys, transaction: CountedTransaction) {
  const { date, type, categoryId, amount } = transaction;
  const partitions = [keys.days(), keys.days(categoryId)];
  const { ofYear, ofMonth } = findSlots(date);
  const counters = partitions.flatMap((pk) =>
    [
      { key: { pk, sk: toYearKey(yearOf(date)) }, slot: ofYear },
      { key: { pk, sk: toMonthKey(monthOf(date)) }, slot: ofMonth },
    ].flatMap(({ key, slot }) => [
      { key, attribute: COUNTS[type] + slot, increment: 1n },
      { key, attribute: SUMS[type] + slot, increment: BigInt(toCents(amount)) },
    ]),
  );
  const year = { pk: keys.days(), sk: toYearKey(yearOf(date)) };
  return [
    ...counters,
    { key: year, attribute: DIGEST + ofYear, increment: computeDigestShare(transaction) },
  ];
}

export function isDigest(attribute: string): boolean {
  return attribute.startsWith(DIGEST);
}

/** Reads the counters of a year's or a month's item, without its other attributes. */
export function readCounters(item: Item): [attribute: string, count: bigint][] {
  return Object.entries(item).flatMap(([name, value]): [string, bigint][] =>
    COUNTER.test(name) ? [[name, BigInt(value as number)]] : [],
  );
}

/** True if a counter is a sum of amounts; false if it is a number of rows. */
export function isSum(attribute: string): boolean {
  return Object.values(SUMS).some((prefix) => attribute.startsWith(prefix));
}

/** Describes a counter of a year or month in words: `income of 2026-03`. */
export function describeCounter(sk: string, attribute: string): string {
  const [type] = Object.entries(COUNTS).find(([, prefix]) => attribute.startsWith(prefix)) ?? [];
  const slot = attribute.slice(1).padStart(2, '0');
  return type ? `${type} of ${parsePeriod(sk)}-${slot}` : `${attribute} of ${sk}`;
}

function addChange(
  changes: Map<string, CountChange>,
  keys: Keys,
  transaction: CountedTransaction,
  sign: bigint,
): void {
  for (const { key, attribute, increment } of listCounters(keys, transaction)) {
    const name = `${key.pk} ${key.sk}`;
    const change = changes.get(name) ?? { key, increments: new Map<string, bigint>() };
    change.increments.set(attribute, (change.increments.get(attribute) ?? 0n) + sign * increment);
    changes.set(name, change);
  }
}

function createCounterWrite({ key, increments }: CountChange): Write[] {
  const changedIncrements = [...increments].filter(([, increment]) => increment !== 0n);
  return changedIncrements.length === 0 ? [] : [addToCounters(key, new Map(changedIncrements))];
}

/** The sum of the digests of each month, by month. */
export type MonthDigests = ReadonlyMap<CalendarMonth, bigint>;

export function mapDigestsByMonth(years: readonly StoredYear[]): MonthDigests {
  return new Map(
    years.flatMap(({ year, digests }) =>
      [...digests].map(([slot, digest]) => [toMonth(year, slot), digest] as const),
    ),
  );
}

function toYear(item: Item): StoredYear {
  return { year: parsePeriod(String(item.sk)), ...toSlotCounts(item) };
}

function toSlotCounts(item: Item): SlotCounts & StoredSums {
  const income = new Map<number, number>();
  const expense = new Map<number, number>();
  const cents = { income: new Map<number, bigint>(), expense: new Map<number, bigint>() };
  const digests = new Map<number, bigint>();
  const setters: Record<string, (slot: number, count: bigint) => unknown> = {
    [COUNTS.income]: (slot, count) => income.set(slot, Number(count)),
    [COUNTS.expense]: (slot, count) => expense.set(slot, Number(count)),
    [SUMS.income]: (slot, count) => cents.income.set(slot, count),
    [SUMS.expense]: (slot, count) => cents.expense.set(slot, count),
    [DIGEST]: (slot, count) => digests.set(slot, count),
  };
  for (const [name, count] of readCounters(item)) {
    setters[name.slice(0, 1)]?.(Number(name.slice(1)), count);
  }
  return { income, expense, cents, digests };
}
