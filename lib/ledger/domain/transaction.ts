// A transaction, and the filters of lists.
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
  /** The id in the system that the transaction comes from, unique in the ledger; null or absent if there is none. */
  readonly externalId?: string | null;
}

export interface Transaction extends TransactionFields, Revision {
  readonly id: number;
  /** The import that created the transaction, which never changes; null or absent if there is none. */
  readonly importId?: string | null;
}

export interface NamedTransaction extends Transaction {
  /** Undefined if the transaction has no category. */
  readonly categoryName: string | undefined;
}

/** Without a date, the ledger sets the current day. */
export type NewTransaction = Omit<TransactionFields, 'date'> &
  Pick<Transaction, 'importId'> & { readonly date?: CalendarDate };
export type TransactionChanges = Partial<TransactionFields> & {
  /**
   * The category name that was sent. It changes nothing: without `categoryId` it must be the name of the current category.
   */
  readonly categoryName?: unknown;
};

/** @param existingId the transaction that has the external id; undefined if that transaction was not stored */
export function createExternalIdTakenError(externalId: string, existingId?: number): ConflictError {
  const message = `A transaction with external_id ${JSON.stringify(externalId)} already exists`;
  return new ConflictError(message, existingId);
}

export interface TransactionFilter {
  readonly type: TransactionType | undefined;
  /** Null selects the transactions without a category. */
  readonly categoryId: number | null | undefined;
  /** First day, included. */
  readonly startDate: CalendarDate | undefined;
  /** Last day, included. */
  readonly endDate: CalendarDate | undefined;
}

/** A filter that allows any of several categories. */
export interface CategoriesFilter extends Omit<TransactionFilter, 'categoryId'> {
  /** Ids of categories, each once; null stands for transactions without a category. */
  readonly categoryIds?: readonly (number | null)[] | undefined;
}

/** Splits the filter into lists that together contain each of its transactions once. */
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
  /** The sum of the digests of the previous parts. */
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

/** A search reads every transaction that passes the other filters, up to this many. */
export const MAX_LISTED_ROWS = 2_000;

export const DEFAULT_PER_PAGE = 20;
export const MAX_PER_PAGE = 100;
