// Use case of the summary: reads the totals of a date range from the day histogram alone, at a cost that does not grow with the
// number of transactions.
import { runInBatches } from '../../shared/run-in-batches.ts';
import { createDateRange, sumTotalsByDay, sumTotalsByMonth } from '../domain/day-histogram.ts';
import {
  type DatedGroup,
  type DatedTotals,
  type Grouping,
  type Period,
  type Summary,
  type SummaryQuery,
  summarize,
} from '../domain/summary.ts';
import {
  type CategoriesFilter,
  splitByCategory,
  TRANSACTION_TYPES,
  type TransactionFilter,
  type TransactionType,
} from '../domain/transaction.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { DayCounts } from '../store/day-counts.ts';

export type Summaries = ReturnType<typeof createSummaries>;

type ReadGroups = (filter: CategoriesFilter, period?: Period) => Promise<readonly DatedGroup[]>;

/** Number of categories read at a time. Each takes at most three reads, or one query for the months of a summary by day. */
const CATEGORY_READ_CONCURRENCY = 16;

export function createSummaries(options: {
  readonly dayCounts: Pick<DayCounts, 'readRange' | 'readMonthsByDay'>;
  readonly categories: Pick<CategoryStore, 'readNames'>;
}) {
  const { dayCounts, categories } = options;

  const groupings: Record<Grouping, ReadGroups> = { category: readByCategory, type: readByType };

  /**
   * Reads a summary; eventually consistent, like lists. The groups add up to the totals.
   * @throws ValidationError
   */
  async function read({ grouping, period, ...filter }: SummaryQuery): Promise<Summary> {
    const { start, end } = createDateRange(filter.startDate, filter.endDate);
    const readGroups = grouping ? groupings[grouping] : readAsOneGroup;
    const groups = start > end ? [] : await readGroups(filter, period);
    return summarize(groups, { grouping, period });
  }

  /** Reads the totals of every category, sorted by name, even of empty ones. Transactions without a category come last. */
  async function readByCategory(filter: CategoriesFilter, period?: Period) {
    const names = await categories.readNames();
    const { categoryIds } = filter;
    const selectedCategories = [...names, NO_CATEGORY].filter(
      ([id]) => categoryIds?.includes(id) ?? true,
    );
    return await runInBatches(
      selectedCategories,
      CATEGORY_READ_CONCURRENCY,
      async ([key, name]) => {
        const sumTotals = await readTotals({ ...filter, categoryId: key }, period);
        return { key, name, datedTotals: sumTotals(filter.type) };
      },
    );
  }

  async function readByType(filter: CategoriesFilter, period?: Period) {
    const lists = await readLists(filter, period);
    return TRANSACTION_TYPES.filter((type) => (filter.type ?? type) === type).map((key) => ({
      key,
      datedTotals: lists.flatMap((sumTotals) => sumTotals(key)),
    }));
  }

  async function readAsOneGroup(filter: CategoriesFilter, period?: Period) {
    const lists = await readLists(filter, period);
    return [{ key: null, datedTotals: lists.flatMap((sumTotals) => sumTotals(filter.type)) }];
  }

  async function readLists(filter: CategoriesFilter, period?: Period) {
    const lists = splitByCategory(filter);
    return await runInBatches(lists, CATEGORY_READ_CONCURRENCY, (list) => readTotals(list, period));
  }

  /** Reads the counts of days only for a summary by day. Otherwise reads those of months, which are stored in fewer items. */
  async function readTotals(
    { startDate, endDate, categoryId }: TransactionFilter,
    period?: Period,
  ): Promise<(type?: TransactionType) => DatedTotals> {
    const range = createDateRange(startDate, endDate);
    if (period === 'day') {
      const months = await dayCounts.readMonthsByDay(range, categoryId);
      return (type) => sumTotalsByDay(range, months, type);
    }
    const counts = await dayCounts.readRange(range, categoryId);
    return (type) => sumTotalsByMonth(range, counts, type);
  }

  return { read };
}

const NO_CATEGORY = [null, null] as const;
