// The JSON of months and their digests.
import * as v from 'valibot';
import { formatDigest } from '../domain/month-digest.ts';
import type { MonthFigures } from '../service/months.ts';
import { parseFilter } from './fields.ts';
import type { Query } from './query-string.ts';
import { toTotalsJson } from './summary-json.ts';
import { transactionFilter } from './transaction-query.ts';

export const monthsQuery = v.object({
  start_date: transactionFilter.start_date,
  end_date: transactionFilter.end_date,
});

/** @throws ValidationError with the errors of every parameter */
export function parseMonthsQuery(query: Query): [string | undefined, string | undefined] {
  const input = parseFilter(monthsQuery, query);
  return [input.start_date, input.end_date];
}

export function toMonthsReply(months: readonly MonthFigures[]) {
  const data = months.map(({ month, digest, ...totals }) => ({
    month,
    ...toTotalsJson(totals),
    digest: toDigestJson(digest),
  }));
  const areDigestsComplete = months.every(({ digest }) => digest !== undefined);
  const digest = months.reduce((sum, month) => sum + (month.digest ?? 0n), 0n);
  const body = {
    success: true,
    data,
    digest: toDigestJson(areDigestsComplete ? digest : undefined),
  };
  return { status: 200, body };
}

function toDigestJson(digest: bigint | undefined): string | null {
  return digest === undefined ? null : formatDigest(digest);
}
