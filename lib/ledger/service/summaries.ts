// Use case of the summary: totals of a date range from the day histogram alone, at a cost that does not grow with the
// number of transactions.
import { dateRange, totalsByMonth } from '../domain/day-histogram.ts';
import {
  type Grouping,
  type MonthlyGroup,
  type Summary,
  type SummaryQuery,
  summarize,
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
    Grouping,
    (filter: TransactionFilter) => Promise<readonly MonthlyGroup[]>
  > = { category: byCategory, type: byType };

  /**
   * Eventually consistent, like lists. The groups add up to the totals.
   * @throws ValidationError
   */
  async function read({ grouping, period, ...filter }: SummaryQuery): Promise<Summary> {
    const { start, end } = dateRange(filter.startDate, filter.endDate);
    const groupsOf = grouping ? groupings[grouping] : asOne;
    return summarize(start > end ? [] : await groupsOf(filter), { grouping, period });
  }

  /** Every category, also without transactions, by name; then what has no category. */
  async function byCategory(filter: TransactionFilter): Promise<readonly MonthlyGroup[]> {
    const names = await categories.names();
    const { categoryId } = filter;
    const wanted = [...names, NO_CATEGORY].filter(
      ([id]) => categoryId === undefined || id === categoryId,
    );
    const groups: MonthlyGroup[] = [];
    for (let first = 0; first < wanted.length; first += CATEGORIES_READ_AT_ONCE) {
      const some = wanted
        .slice(first, first + CATEGORIES_READ_AT_ONCE)
        .map(async ([key, name]) => ({
          key,
          name,
          months: await monthsOf({ ...filter, categoryId: key }),
        }));
      groups.push(...(await Promise.all(some)));
    }
    return groups;
  }

  async function byType(filter: TransactionFilter): Promise<readonly MonthlyGroup[]> {
    const { range, counts } = await countsOf(filter);
    return TRANSACTION_TYPES.filter((type) => (filter.type ?? type) === type).map((key) => ({
      key,
      months: totalsByMonth(range, counts, key),
    }));
  }

  async function asOne(filter: TransactionFilter): Promise<readonly MonthlyGroup[]> {
    return [{ key: null, months: await monthsOf(filter) }];
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
