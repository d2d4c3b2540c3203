// Use case of the search: reads every transaction of the given dates, type and categories. Returns one page of the matching
// transactions, and the totals of all of them.
import { createComparator, type Pagination, paginate, takePage } from '../domain/pagination.ts';
import { createMatcher, MAX_SEARCHED_ROWS, type SearchQuery } from '../domain/search.ts';
import { sumRows, type Totals } from '../domain/summary.ts';
import { splitByCategory, type TransactionWithCategoryName } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import type { TransactionPages } from '../store/transaction-pages.ts';
import type { CategoryNames } from './category-names.ts';

export interface SearchResult {
  readonly items: readonly TransactionWithCategoryName[];
  readonly pagination: Pagination;
  /** Totals of the matching transactions on all pages. */
  readonly totals: Totals;
}

export type Searches = ReturnType<typeof createSearches>;

export function createSearches(options: {
  readonly pages: Pick<TransactionPages, 'readMatching'>;
  readonly categoryNames: CategoryNames;
}) {
  const { pages, categoryNames } = options;

  /**
   * Finds transactions; eventually consistent, like lists.
   * @throws ValidationError if too many rows would have to be read
   */
  async function find(query: SearchQuery): Promise<SearchResult> {
    const lists = splitByCategory(query);
    const [{ candidates, items }, names] = await Promise.all([
      pages.readMatching(lists, MAX_SEARCHED_ROWS, createMatcher(query)),
      categoryNames.readFirst(),
    ]);
    if (candidates > MAX_SEARCHED_ROWS) throw createTooManyRowsError(candidates);
    const page = takePage(items.toSorted(createComparator(query.order)), query);
    return {
      items: await categoryNames.addTo(page.items, names),
      pagination: paginate(query, page),
      totals: sumRows(items),
    };
  }

  return { find };
}

function createTooManyRowsError(candidates: number): ValidationError {
  const sentence = `A search reads at most ${MAX_SEARCHED_ROWS} transactions; these dates, type and categories have ${candidates}: narrow the dates.`;
  const details = { start_date: [sentence], end_date: [sentence] };
  return new ValidationError('Filter validation failed', { details });
}
