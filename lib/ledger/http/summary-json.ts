// The parameters of a summary, and the JSON of its result.
import * as v from 'valibot';
import { toDayNumber } from '../domain/calendar-date.ts';
import { createDateRange } from '../domain/day-histogram.ts';
import { fromCents } from '../domain/money.ts';
import {
  GROUPINGS,
  type Grouping,
  MAX_SUMMARY_DAYS,
  PERIODS,
  type Period,
  type Summary,
  type SummaryGroup,
  type SummaryQuery,
  type SummarySeries,
  type Totals,
} from '../domain/summary.ts';
import type { TransactionType } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { replyWithData } from './replies.ts';
import { categoriesFilter, requireDates, toCategoriesFilter } from './transaction-query.ts';

/** A grouping and a period: each group is split into periods. */
const TWO_GROUPINGS = GROUPINGS.flatMap((grouping) =>
  PERIODS.map((period) => `${grouping},${period}` as const),
);

const ONE_GROUPING_RULE = `Must be ${quoteWords([...GROUPINGS, ...PERIODS])}`;
const TWO_GROUPINGS_RULE = `one of ${quoteWords(GROUPINGS)} with one of ${quoteWords(PERIODS)}: "category,month".`;

/** Parameters of a summary by one grouping. Its groups have numbers. */
export const summaryQuery = v.object(
  { group_by: v.picklist([...GROUPINGS, ...PERIODS], ONE_GROUPING_RULE), ...categoriesFilter },
  'Is required.',
);

/** Parameters of a summary by two groupings. Its groups have arrays of numbers. */
export const seriesQuery = v.object(
  { group_by: v.picklist(TWO_GROUPINGS, `Must be ${TWO_GROUPINGS_RULE}`), ...categoriesFilter },
  'Is required.',
);

/** Parameters of `/summary`. It accepts two groupings as well, as it did before `/summary/series` existed. */
const eitherQuery = v.object(
  {
    group_by: v.picklist(
      [...GROUPINGS, ...PERIODS, ...TWO_GROUPINGS],
      `${ONE_GROUPING_RULE}, or ${TWO_GROUPINGS_RULE}`,
    ),
    ...categoriesFilter,
  },
  'Is required.',
);

/** @throws ValidationError with the errors of every parameter */
export function parseSummaryQuery(query: Query, path: string): SummaryQuery {
  const isSeries = /\/series\/?$/.test(path);
  const { group_by, ...input } = parseFilter(isSeries ? seriesQuery : eitherQuery, query);
  const groupingNames = group_by.split(',');
  const period = PERIODS.find((each) => groupingNames.includes(each));
  const filter = toCategoriesFilter(input);
  if (period === 'day') {
    requireDates(input, `group_by=${group_by}`);
    refuseTooManyDays(filter);
  }
  return { grouping: GROUPINGS.find((each) => groupingNames.includes(each)), period, ...filter };
}

/** @throws ValidationError */
function refuseTooManyDays({ startDate, endDate }: SummaryQuery): void {
  const { start, end } = createDateRange(startDate, endDate);
  const days = toDayNumber(end) - toDayNumber(start) + 1;
  if (days <= MAX_SUMMARY_DAYS) return;
  const sentence = `A summary by day has at most ${MAX_SUMMARY_DAYS} days; these dates span ${days}: narrow the dates.`;
  const details = { start_date: [sentence], end_date: [sentence] };
  throw new ValidationError('Filter validation failed', { details });
}

/** Creates the reply. With two groupings, it lists the periods once, and a group has arrays with one number for each period. */
export function toSummaryReply(summary: Summary, { grouping }: Pick<SummaryQuery, 'grouping'>) {
  const totals = toTotalsJson(summary);
  if ('groups' in summary) {
    const groups = summary.groups.map((group) => ({
      ...toKeyJson(group, grouping),
      ...toTotalsJson(group),
    }));
    return replyWithData({ ...totals, groups });
  }
  const { period, periods, series } = summary;
  const groups = series.map((group) => ({ ...toKeyJson(group, grouping), ...toSeriesJson(group) }));
  const periodsByName: PeriodsJson = { [`${period}s` as const]: periods };
  return replyWithData({ ...totals, ...periodsByName, groups });
}

type PeriodsJson = { readonly [Name in `${Period}s`]?: readonly string[] };

/** The type of `key` depends on the grouping. For typed clients, the same value also has a name with a fixed type. */
function toKeyJson({ key, name }: SummaryGroup | SummarySeries, grouping: Grouping | undefined) {
  if (grouping === 'category')
    return { key, category_id: key as number | null, name: name ?? null };
  return grouping === 'type' ? { key, type: key as TransactionType } : { key, period: String(key) };
}

function toSeriesJson({ totals }: SummarySeries) {
  const figures = totals.map(toTotalsJson);
  return {
    income: figures.map(({ income }) => income),
    expense: figures.map(({ expense }) => expense),
    net: figures.map(({ net }) => net),
    count: figures.map(({ count }) => count),
  };
}

function quoteWords(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}

export function toTotalsJson({ incomeCents, expenseCents, count }: Totals) {
  return {
    income: toExactNumber(incomeCents),
    expense: toExactNumber(expenseCents),
    net: toExactNumber(incomeCents - expenseCents),
    count,
  };
}

// Keeps every digit in the JSON, even where a double would lose cents.
function toExactNumber(cents: bigint): number {
  const decimal = fromCents(cents);
  return (JSON.rawJSON?.(decimal) as unknown as number | undefined) ?? Number(decimal);
}
