// What came in and what went out, in whole cents.
import type { TransactionFilter } from './transaction.ts';

export interface Totals {
  readonly incomeCents: bigint;
  readonly expenseCents: bigint;
  readonly count: number;
}

export const SUMMARY_GROUPINGS = ['category', 'month', 'type'] as const;
export type SummaryGrouping = (typeof SUMMARY_GROUPINGS)[number];

export interface SummaryQuery extends TransactionFilter {
  readonly groupBy: SummaryGrouping;
}

export interface SummaryGroup extends Totals {
  /** A category's id (null: no category), a month or a type. */
  readonly key: number | string | null;
  /** Of a category. */
  readonly name?: string | null;
}

export interface Summary extends Totals {
  readonly groups: readonly SummaryGroup[];
}

export function addUp(all: readonly Totals[]): Totals {
  return all.reduce(
    (sum, { incomeCents, expenseCents, count }) => ({
      incomeCents: sum.incomeCents + incomeCents,
      expenseCents: sum.expenseCents + expenseCents,
      count: sum.count + count,
    }),
    { incomeCents: 0n, expenseCents: 0n, count: 0 },
  );
}
