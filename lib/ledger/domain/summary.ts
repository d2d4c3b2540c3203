// Adds up income and expenses by group and by period, in whole cents.
import { ValidationError } from '../errors.ts';
import {
  type CalendarDate,
  type CalendarMonth,
  type CalendarYear,
  fromDayNumber,
  monthOfYear,
  toDayNumber,
  toMonth,
  yearOf,
} from './calendar-date.ts';
import { toCents } from './money.ts';
import type { CategoriesFilter, Transaction, TransactionType } from './transaction.ts';

export interface Totals {
  readonly incomeCents: bigint;
  readonly expenseCents: bigint;
  readonly count: number;
}

export const GROUPINGS = ['category', 'type'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const PERIODS = ['day', 'month', 'year'] as const;
export type Period = (typeof PERIODS)[number];

/** Groups by category or type, by period, or by both. With both, each group has totals by period. */
export interface SummaryQuery extends CategoriesFilter {
  readonly grouping?: Grouping | undefined;
  readonly period?: Period | undefined;
}

interface GroupKey {
  /** A category's id (null: no category), a type, a day, a month or a year. */
  readonly key: number | string | null;
  /** Name of the category, if grouped by category. */
  readonly name?: string | null;
}

/** Totals by day or by month, in any order. A day or month may occur more than once. */
export type DatedTotals = readonly (readonly [CalendarDate | CalendarMonth, Totals])[];

export interface DatedGroup extends GroupKey {
  readonly datedTotals: DatedTotals;
}

export interface SummaryGroup extends GroupKey, Totals {}

/** One total for each period of the summary. */
export interface SummarySeries extends GroupKey {
  readonly totals: readonly Totals[];
}

/** A summary by one grouping, or by a grouping and a period. */
export type Summary = Totals &
  (
    | { readonly groups: readonly SummaryGroup[] }
    | {
        readonly period: Period;
        readonly periods: readonly string[];
        readonly series: readonly SummarySeries[];
      }
  );

const DATE_FORMATS: Readonly<Record<Period, string>> = {
  day: 'YYYY-MM-DD',
  month: 'YYYY-MM',
  year: 'YYYY',
};

/** Numbers the periods. Consecutive periods have consecutive numbers. */
const NUMBERINGS: Readonly<
  Record<
    Period,
    { readonly toNumber: (period: string) => number; readonly fromNumber: (n: number) => string }
  >
> = {
  day: { toNumber: toDayNumber, fromNumber: fromDayNumber },
  month: { toNumber: toMonthNumber, fromNumber: fromMonthNumber },
  year: { toNumber: Number, fromNumber: fromYearNumber },
};

export const ZERO_TOTALS: Totals = { incomeCents: 0n, expenseCents: 0n, count: 0 };

/** Maximum number of days in a summary by day. */
export const MAX_SUMMARY_DAYS = 366;
/** Maximum number of periods in one response. */
export const MAX_PERIODS = 1_200;
/**
 * Maximum number of totals in one response. The largest response (601 groups by the months of ten years) has about 5 MB. Lambda
 * allows 6 MB.
 */
const MAX_TOTALS = 80_000;

/** @throws ValidationError if there are more periods than a response may have */
export function summarize(
  groups: readonly DatedGroup[],
  { grouping, period }: Pick<SummaryQuery, 'grouping' | 'period'>,
): Summary {
  const total = addTotals(groups.map(({ datedTotals }) => sumTotals(datedTotals)));
  if (!period)
    return {
      ...total,
      groups: groups.map(({ datedTotals, ...key }) => ({ ...key, ...sumTotals(datedTotals) })),
    };
  const groupsByPeriod = groups.map(({ datedTotals, ...key }) => ({
    key,
    totals: sumTotalsByPeriod(period, datedTotals),
  }));
  const periods = listPeriods(
    period,
    groupsByPeriod.flatMap(({ totals }) => [...totals.keys()]),
  );
  refuseTooManyPeriods(period, periods, groups.length);
  const series = groupsByPeriod.map(({ key, totals }) => ({
    ...key,
    totals: periods.map((each) => totals.get(each) ?? ZERO_TOTALS),
  }));
  if (grouping) return { ...total, period, periods, series };
  const totals = series.flatMap((each) => each.totals);
  return { ...total, groups: periods.map((key, n) => ({ key, ...(totals[n] ?? ZERO_TOTALS) })) };
}

export function addTotals(all: readonly Totals[]): Totals {
  return all.reduce(
    (sum, { incomeCents, expenseCents, count }) => ({
      incomeCents: sum.incomeCents + incomeCents,
      expenseCents: sum.expenseCents + expenseCents,
      count: sum.count + count,
    }),
    ZERO_TOTALS,
  );
}

export function sumRows(rows: readonly Pick<Transaction, 'type' | 'amount'>[]): Totals {
  const sumAmounts = (type: TransactionType) =>
    rows.reduce((sum, row) => (row.type === type ? sum + BigInt(toCents(row.amount)) : sum), 0n);
  return {
    incomeCents: sumAmounts('income'),
    expenseCents: sumAmounts('expense'),
    count: rows.length,
  };
}

function sumTotals(datedTotals: DatedTotals): Totals {
  return addTotals(datedTotals.map(([, totals]) => totals));
}

/** Sums up each period that has transactions. */
function sumTotalsByPeriod(period: Period, datedTotals: DatedTotals): Map<string, Totals> {
  const nonEmptyTotals = datedTotals.filter(([, { count }]) => count > 0);
  const { length } = DATE_FORMATS[period];
  const totalsByKey = Map.groupBy(nonEmptyTotals, ([date]) => date.slice(0, length));
  return new Map([...totalsByKey].map(([key, all]) => [key, sumTotals(all)]));
}

/** Lists every period from the first with transactions to the last. */
function listPeriods(period: Period, nonEmptyPeriods: readonly string[]): string[] {
  const sorted = nonEmptyPeriods.toSorted();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { toNumber, fromNumber } = NUMBERINGS[period];
  const start = toNumber(first);
  return Array.from({ length: toNumber(last) + 1 - start }, (_, n) => fromNumber(start + n));
}

function toMonthNumber(month: CalendarMonth): number {
  return Number(yearOf(month)) * 12 + monthOfYear(month) - 1;
}

function fromMonthNumber(number: number): CalendarMonth {
  return toMonth(fromYearNumber(Math.floor(number / 12)), (number % 12) + 1);
}

function fromYearNumber(number: number): CalendarYear {
  return String(number).padStart(4, '0');
}

function refuseTooManyPeriods(
  period: Period,
  periods: readonly string[],
  groupCount: number,
): void {
  const maxPeriods = Math.min(MAX_PERIODS, Math.floor(MAX_TOTALS / Math.max(1, groupCount)));
  if (periods.length <= maxPeriods) return;
  const sentence = `The transactions of these dates span ${periods.length} ${period}s, from ${periods[0]} to ${periods.at(-1)}; this summary may have ${maxPeriods}.`;
  throw new ValidationError('Filter validation failed', { details: { group_by: [sentence] } });
}
