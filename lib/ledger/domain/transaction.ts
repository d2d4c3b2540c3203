// Transactions, and the filters used to list them.
import { ConflictError } from '../errors.ts';
import type { CalendarDate } from './calendar-date.ts';
import type { ListPosition, PageRequest } from './pagination.ts';
import type { Revision } from './record.ts';

export const TRANSACTION_TYPES = ['income', 'expense'] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** Fields of a transaction that the client sets. */
export interface TransactionFields {
  readonly description: string;
  /** Amount in the household's currency, with at most two decimals; negative for refunds and corrections. */
  readonly amount: number;
  readonly type: TransactionType;
  readonly categoryId: number | null;
  readonly date: CalendarDate;
  readonly notes: string | null;
  /** Id in the system from which the transaction comes, unique in the ledger; null or absent if there is none. */
  readonly externalId?: string | null;
}

export interface Transaction extends TransactionFields, Revision {
  readonly id: number;
  /** Id of the import that created the transaction. It never changes; null or absent for a transaction from no import. */
  readonly importId?: string | null;
}

export interface TransactionWithCategoryName extends Transaction {
  /** Undefined if the transaction has no category. */
  readonly categoryName: string | undefined;
}

/** If no date is given, the ledger sets the current day. */
export type NewTransaction = Omit<TransactionFields, 'date'> &
  Pick<Transaction, 'importId'> & { readonly date?: CalendarDate };
export type TransactionChanges = Partial<TransactionFields> & {
  /** Category name from the request. Never applied; if `categoryId` is not given, it must match the current category's name. */
  readonly categoryName?: unknown;
};

/** @param existingId id of the transaction that has the external id, if the database returned it */
export function createExternalIdTakenError(externalId: string, existingId?: number): ConflictError {
  const message = `A transaction with external_id ${JSON.stringify(externalId)} already exists`;
  return new ConflictError(message, existingId);
}

export interface TransactionFilter {
  readonly type: TransactionType | undefined;
  /** Null selects the transactions without a category. */
  readonly categoryId: number | null | undefined;
  /** First day, inclusive. */
  readonly startDate: CalendarDate | undefined;
  /** Last day, inclusive. */
  readonly endDate: CalendarDate | undefined;
}

/** A filter that allows any of several categories. */
export interface CategoriesFilter extends Omit<TransactionFilter, 'categoryId'> {
  /** Distinct ids of categories; null selects the transactions without a category. */
  readonly categoryIds?: readonly (number | null)[] | undefined;
}

/** Splits the filter into one filter per category; together they match each transaction exactly once. */
export function splitByCategory(filter: CategoriesFilter): TransactionFilter[] {
  const { type, startDate, endDate, categoryIds = [undefined] } = filter;
  return categoryIds.map((categoryId) => ({ type, startDate, endDate, categoryId }));
}

export interface TransactionSelection extends TransactionFilter {
  readonly externalId?: string | undefined;
  readonly importId?: string | undefined;
  /** Text to find in the description or the notes, ignoring case. */
  readonly search?: string | undefined;
}

export type TransactionQuery = TransactionSelection & PageRequest;

export interface ExportQuery extends TransactionSelection {
  /** Sum of the digests of the previous parts. */
  readonly digest?: bigint | undefined;
  /** Position of the last row of the previous part. */
  readonly after?: ListPosition | undefined;
}

export interface ExportPart<Row extends Transaction = Transaction> {
  readonly items: readonly Row[];
  /** The next part starts after this position; undefined for the last part. */
  readonly next?: ListPosition | undefined;
}

export const MAX_FILTER_CATEGORIES = 100;

/** Maximum number of transactions in one bulk request. */
export const MAX_BULK_ITEMS = 100;

/** Maximum number of transactions that a list reads to find a text or the rows of an import: all that pass the other filters. */
export const MAX_FILTERED_ROWS = 2_000;

export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 100;
