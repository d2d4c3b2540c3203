// A summary as clients ask for it and see it.
import * as v from 'valibot';
import { fromCents } from '../domain/money.ts';
import {
  SUMMARY_GROUPINGS,
  type Summary,
  type SummaryGroup,
  type SummaryQuery,
  type Totals,
} from '../domain/summary.ts';
import { parseFilter } from './fields.ts';
import { toTransactionFilter, transactionFilter } from './transaction-json.ts';

export const summaryQuery = v.object(
  {
    group_by: v.picklist(SUMMARY_GROUPINGS, 'Must be "category", "month" or "type".'),
    ...transactionFilter,
  },
  'Is required.',
);

/** @throws ValidationError with the errors of every parameter */
export function parseSummaryQuery(
  query: Readonly<Record<string, string | undefined>>,
): SummaryQuery {
  const { group_by: groupBy, ...sent } = parseFilter(summaryQuery, query);
  return { groupBy, ...toTransactionFilter(sent) };
}

export function toSummaryJson({ groups, ...totals }: Summary) {
  return { ...toTotalsJson(totals), groups: groups.map(toGroupJson) };
}

function toGroupJson({ key, name, ...totals }: SummaryGroup) {
  return { key, ...(name === undefined ? {} : { name }), ...toTotalsJson(totals) };
}

function toTotalsJson({ incomeCents, expenseCents, count }: Totals) {
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
