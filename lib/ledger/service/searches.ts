// Use case of the search: reads every transaction that its dates, type and categories leave, and shows one page of those that
// match, with what all of them add up to.
import { offsetOf, type Pagination, paginate } from '../domain/pagination.ts';
import {
  candidateLists,
  compareIn,
  createMatcher,
  MAX_SEARCHED_ROWS,
  type SearchQuery,
} from '../domain/search.ts';
import { type Totals, totalRows } from '../domain/summary.ts';
import type { NamedTransaction } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import type { TransactionPages } from '../store/transaction-pages.ts';
import type { CategoryNames } from './category-names.ts';

export interface SearchResult {
  readonly items: readonly NamedTransaction[];
  readonly pagination: Pagination;
  /** Of everything that was found. */
  readonly totals: Totals;
}

export type Searches = ReturnType<typeof createSearches>;

export function createSearches(options: {
  readonly pages: Pick<TransactionPages, 'readMatching'>;
  readonly categoryNames: CategoryNames;
}) {
  const { pages, categoryNames } = options;

  /**
   * Eventually consistent, like lists.
   * @throws ValidationError where too many rows would have to be read
   */
  async function find({ order, page, perPage, ...criteria }: SearchQuery): Promise<SearchResult> {
    const lists = candidateLists(criteria);
    const [{ candidates, items }, names] = await Promise.all([
      pages.readMatching(lists, MAX_SEARCHED_ROWS, createMatcher(criteria)),
      categoryNames.readFirst(),
    ]);
    if (candidates > MAX_SEARCHED_ROWS) throw tooManyToSearch(candidates);
    const offset = offsetOf(page, perPage);
    const shown = items.toSorted(compareIn(order)).slice(offset, offset + perPage);
    return {
      items: await categoryNames.addTo(shown, names),
      pagination: paginate(page, perPage, items.length),
      totals: totalRows(items),
    };
  }

  return { find };
}

function tooManyToSearch(candidates: number): ValidationError {
  const limit = `A search reads at most ${MAX_SEARCHED_ROWS} transactions; these dates, type and categories have ${candidates}: send closer dates.`;
  const details = { start_date: [limit], end_date: [limit] };
  return new ValidationError('Filter validation failed', { details });
}
