// What a list of a ledger must show, computed from an array of its transactions.
import { paginate } from '../../lib/domain/pagination.ts';
import type {
  NamedTransaction,
  TransactionFilter,
  TransactionQuery,
} from '../../lib/domain/transaction.ts';
import type { TransactionListing } from '../../lib/ledger/transactions.ts';

export function expectedList(
  rows: Iterable<NamedTransaction>,
  { page, perPage, isOldestFirst, ...filter }: TransactionQuery,
): TransactionListing {
  const newestFirst = matching(rows, filter);
  const all = isOldestFirst ? newestFirst.reverse() : newestFirst;
  const offset = (page - 1) * perPage;
  return {
    items: all.slice(offset, offset + perPage),
    pagination: paginate(page, perPage, all.length),
  };
}

/** The whole list: newest first by date, then creation, then id. */
function matching(
  rows: Iterable<NamedTransaction>,
  { type, categoryId, startDate, endDate }: TransactionFilter,
): NamedTransaction[] {
  return [...rows]
    .filter((row) => type === undefined || row.type === type)
    .filter((row) => categoryId === undefined || row.categoryId === categoryId)
    .filter((row) => startDate === undefined || row.date >= startDate)
    .filter((row) => endDate === undefined || row.date <= endDate)
    .sort(
      (one, other) =>
        other.date.localeCompare(one.date) || other.createdAt - one.createdAt || other.id - one.id,
    );
}
