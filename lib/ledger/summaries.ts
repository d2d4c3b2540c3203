// Use case of the summary: totals of a date range from the day histogram alone, at a cost that does not grow with the
// number of transactions.
import { dateRange, totalsByMonth } from '../domain/day-histogram.ts';
import {
  addUp,
  type Summary,
  type SummaryGroup,
  type SummaryGrouping,
  type SummaryQuery,
  type Totals,
} from '../domain/summary.ts';
import { TRANSACTION_TYPES, type TransactionFilter } from '../domain/transaction.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { DayCounts } from '../store/day-counts.ts';

export type Summaries = ReturnType<typeof createSummaries>;

/** Each asks for three items at most. */
const CATEGORIES_READ_AT_ONCE = 16;

export function createSummaries(options: {
  readonly dayCounts: Pick<DayCounts, 'ofRange'>;
  readonly categories: Pick<CategoryStore, 'names'>;
}) {
  const { dayCounts, categories } = options;

  const groupings: Record<
    SummaryGrouping,
    (filter: TransactionFilter) => Promise<readonly SummaryGroup[]>
  > = { category: byCategory, month: byMonth, type: byType };

  /** Eventually consistent, like lists. The groups add up to the totals. */
  async function read({ groupBy, ...filter }: SummaryQuery): Promise<Summary> {
    const { start, end } = dateRange(filter.startDate, filter.endDate);
    const groups = start > end ? [] : await groupings[groupBy](filter);
    return { ...addUp(groups), groups };
  }

  /** Every category, also without transactions, by name; then what has no category. */
  async function byCategory(filter: TransactionFilter): Promise<readonly SummaryGroup[]> {
    const names = await categories.names();
    const { categoryId } = filter;
    const wanted = [...names, NO_CATEGORY].filter(
      ([id]) => categoryId === undefined || id === categoryId,
    );
    const groups: SummaryGroup[] = [];
    for (let first = 0; first < wanted.length; first += CATEGORIES_READ_AT_ONCE) {
      const some = wanted.slice(first, first + CATEGORIES_READ_AT_ONCE).map(async ([key, name]) => {
        return { key, name, ...addUp(await totalsOf({ ...filter, categoryId: key })) };
      });
      groups.push(...(await Promise.all(some)));
    }
    return groups;
  }

  /** Oldest first, only months that have transactions. */
  async function byMonth(filter: TransactionFilter): Promise<readonly SummaryGroup[]> {
    const months = await monthsOf(filter);
    return months
      .filter(([, { count }]) => count > 0)
      .map(([key, totals]) => ({ key, ...totals }))
      .reverse();
  }

  async function byType(filter: TransactionFilter): Promise<readonly SummaryGroup[]> {
    const { range, counts } = await countsOf(filter);
    return TRANSACTION_TYPES.filter((type) => (filter.type ?? type) === type).map((type) => ({
      key: type,
      ...addUp(totalsByMonth(range, counts, type).map(([, totals]) => totals)),
    }));
  }

  async function totalsOf(filter: TransactionFilter): Promise<Totals[]> {
    return (await monthsOf(filter)).map(([, totals]) => totals);
  }

  async function monthsOf(filter: TransactionFilter) {
    const { range, counts } = await countsOf(filter);
    return totalsByMonth(range, counts, filter.type);
  }

  async function countsOf({ startDate, endDate, categoryId }: TransactionFilter) {
    const range = dateRange(startDate, endDate);
    return { range, counts: await dayCounts.ofRange(range, categoryId) };
  }

  return { read };
}

const NO_CATEGORY = [null, null] as const;
