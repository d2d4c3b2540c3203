// Use case of the list of months: the totals of each month, and a digest. By the digest, a client knows whether its copy of the
// month is current.
import { type CalendarMonth, daysInMonth, monthOf, toDate } from '../domain/calendar-date.ts';
import { createDateRange } from '../domain/day-histogram.ts';
import { isCompleteDigest } from '../domain/month-digest.ts';
import { MAX_PERIODS, type Totals } from '../domain/summary.ts';
import type { TransactionFilter } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import type { DayCounts } from '../store/day-counts.ts';

export interface MonthFigures extends Totals {
  readonly month: CalendarMonth;
  /** Undefined until every transaction of the month is part of the digest. */
  readonly digest: bigint | undefined;
}

export type Months = ReturnType<typeof createMonths>;

export function createMonths({
  dayCounts,
}: {
  readonly dayCounts: Pick<DayCounts, 'readWholeMonths'>;
}) {
  /**
   * Lists the months that overlap the range and have transactions, oldest first; strongly consistent. The figures of a month
   * include its days outside the range.
   * @throws ValidationError if there are more months than a response may have
   */
  async function list(startDate?: string, endDate?: string): Promise<MonthFigures[]> {
    const range = createDateRange(startDate, endDate);
    if (range.start > range.end) return [];
    const months = await dayCounts.readWholeMonths(range);
    if (months.length > MAX_PERIODS) throw createTooManyMonthsError(months.length);
    return months.map(({ digest, ...figures }) => ({
      ...figures,
      digest: isCompleteDigest(digest, figures.count) ? digest : undefined,
    }));
  }

  /** True if the digest of the selected month is complete; undefined if the filter does not select exactly one month. */
  async function hasMonthDigest({ startDate, endDate, ...otherFilters }: TransactionFilter) {
    if (!startDate || !endDate || Object.values(otherFilters).some((each) => each !== undefined)) {
      return undefined;
    }
    const month = monthOf(startDate);
    const isWholeMonth =
      startDate === toDate(month, 1) && endDate === toDate(month, daysInMonth(month));
    if (!isWholeMonth) return undefined;
    return (await list(startDate, endDate)).every(({ digest }) => digest !== undefined);
  }

  return { list, hasMonthDigest };
}

function createTooManyMonthsError(count: number): ValidationError {
  const sentence = `One response has at most ${MAX_PERIODS} months; these dates have ${count}: narrow the dates.`;
  const details = { start_date: [sentence], end_date: [sentence] };
  return new ValidationError('Filter validation failed', { details });
}
