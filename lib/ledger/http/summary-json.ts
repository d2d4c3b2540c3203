// A summary as clients ask for it and see it.
import * as v from 'valibot';
import { fromCents } from '../domain/money.ts';
import {
  GROUPINGS,
  PERIODS,
  type Summary,
  type SummaryGroup,
  type SummaryQuery,
  type SummarySeries,
  type Totals,
} from '../domain/summary.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { toTransactionFilter, transactionFilter } from './transaction-json.ts';

/** Each group by its periods. */
const BOTH = GROUPINGS.flatMap((grouping) =>
  PERIODS.map((period) => `${grouping},${period}` as const),
);

export const summaryQuery = v.object(
  {
    group_by: v.picklist(
      [...GROUPINGS, ...PERIODS, ...BOTH],
      'Must be "category", "type", "month", "year", or one of the first two with one of the others: "category,month".',
    ),
    ...transactionFilter,
  },
  'Is required.',
);

/** @throws ValidationError with the errors of every parameter */
export function parseSummaryQuery(query: Query): SummaryQuery {
  const { group_by, ...sent } = parseFilter(summaryQuery, query);
  const named = group_by.split(',');
  return {
    grouping: GROUPINGS.find((each) => named.includes(each)),
    period: PERIODS.find((each) => named.includes(each)),
    ...toTransactionFilter(sent),
  };
}

/** By two groupings the periods are named once, and each group has arrays of numbers, one for each period. */
export function toSummaryJson(summary: Summary) {
  const totals = toTotalsJson(summary);
  if ('groups' in summary) return { ...totals, groups: summary.groups.map(toGroupJson) };
  const { period, periods, series } = summary;
  return { ...totals, [`${period}s`]: periods, groups: series.map(toSeriesJson) };
}

function toGroupJson({ key, name, ...totals }: SummaryGroup) {
  return { key, ...(name === undefined ? {} : { name }), ...toTotalsJson(totals) };
}

function toSeriesJson({ key, name, totals }: SummarySeries) {
  const figures = totals.map(toTotalsJson);
  return {
    key,
    ...(name === undefined ? {} : { name }),
    income: figures.map(({ income }) => income),
    expense: figures.map(({ expense }) => expense),
    net: figures.map(({ net }) => net),
    count: figures.map(({ count }) => count),
  };
}

export function toTotalsJson({ incomeCents, expenseCents, count }: Totals) {
  return {
    income: exactNumber(incomeCents),
    expense: exactNumber(expenseCents),
    net: exactNumber(incomeCents - expenseCents),
    count,
  };
}

// As JSON the number has every digit, also where a double would lose cents.
function exactNumber(cents: bigint): unknown {
  const decimal = fromCents(cents);
  return JSON.rawJSON?.(decimal) ?? Number(decimal);
}
