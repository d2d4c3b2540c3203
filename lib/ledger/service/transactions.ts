// Use cases of transactions. docs/ledger/api.md states the rules.

import type { RetryPolicy } from '../../shared/retry.ts';
import { findCurrentDate } from '../domain/calendar-date.ts';
import {
  type Category,
  createInactiveCategoryError,
  createNameWithoutIdError,
} from '../domain/category.ts';
import {
  computePageOffset,
  createComparator,
  type Page,
  type Pagination,
  paginate,
  takePage,
} from '../domain/pagination.ts';
import { createFirstRevision, createNextRevision, parseId } from '../domain/record.ts';
import { MAX_SEARCHED_ROWS } from '../domain/search.ts';
import {
  type ExportPart,
  type ExportQuery,
  MAX_FILTERED_ROWS,
  type NewTransaction,
  type Transaction,
  type TransactionChanges,
  type TransactionQuery,
  type TransactionSelection,
  type TransactionWithCategoryName,
} from '../domain/transaction.ts';
import { createNotFoundError, ValidationError } from '../errors.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { ExportParts } from '../store/export-parts.ts';
import type { CommitPart, Remember } from '../store/idempotency.ts';
import type { TransactionPages } from '../store/transaction-pages.ts';
import type { TransactionStore } from '../store/transactions.ts';
import type { CategoryNames } from './category-names.ts';
import { createManyTransactions } from './many-transactions.ts';
import { guardVersion, type IsExpectedVersion, retryOnConflict } from './retry-on-conflict.ts';

export interface TransactionListing {
  readonly items: readonly TransactionWithCategoryName[];
  readonly pagination: Pagination;
}

export type Transactions = ReturnType<typeof createTransactions>;

export function createTransactions(options: {
  readonly store: TransactionStore;
  readonly pages: TransactionPages;
  readonly exportParts: ExportParts;
  readonly categories: CategoryStore;
  readonly categoryNames: CategoryNames;
  readonly retryPolicy: RetryPolicy;
  readonly deadline: number;
  readonly clock: () => Date;
  readonly timeZone: string;
}) {
  const { store, pages, exportParts, categories, categoryNames } = options;
  const { retryPolicy, deadline, clock, timeZone } = options;

  /** Lists transactions by date, then time of creation, then id; newest first unless the query has another order. */
  async function list(query: TransactionQuery): Promise<TransactionListing> {
    const [page, names] = await Promise.all([readPage(query), categoryNames.readFirst()]);
    return {
      items: await categoryNames.addTo(page.items, names),
      pagination: paginate(query, page),
    };
  }

  async function readPage(query: TransactionQuery): Promise<Page<Transaction>> {
    const { externalId, search, importId, order } = query;
    if (externalId === undefined && search === undefined && importId === undefined) {
      const { after, perPage: limit } = query;
      const isOldestFirst = order === 'date';
      return await pages.read(query, {
        offset: computePageOffset(query),
        limit,
        after,
        isOldestFirst,
      });
    }
    const rows =
      externalId === undefined
        ? await readMatching(query)
        : await findByExternalId(externalId, query);
    return takePage(rows.toSorted(createComparator(order)), query);
  }

  /** @throws ValidationError if too many rows would have to be read */
  async function readMatching(selection: TransactionSelection): Promise<readonly Transaction[]> {
    const isMatch = (row: Transaction) => matchesSelection(row, selection);
    const { candidates, items } = await pages.readMatching([selection], MAX_FILTERED_ROWS, isMatch);
    if (candidates > MAX_FILTERED_ROWS) throw createTooManyRowsError(candidates, selection);
    return items;
  }

  /** Finds the transaction with the external id, if the other filters select it. */
  async function findByExternalId(
    externalId: string,
    selection: TransactionSelection,
  ): Promise<Transaction[]> {
    const id = await store.findIdByExternalId(externalId);
    const row = id === undefined ? undefined : await store.get(id);
    return row && matchesSelection(row, selection) ? [row] : [];
  }

  /**
   * Reads one part of an export, oldest first. Unlike in a list, a search has no row limit here, because each part reads at most
   * 1 MB. A part may be empty even if other parts follow.
   */
  async function readExportPart({
    after,
    ...selection
  }: ExportQuery): Promise<ExportPart<TransactionWithCategoryName>> {
    const { externalId } = selection;
    if (externalId !== undefined) {
      return { items: await categoryNames.addTo(await findByExternalId(externalId, selection)) };
    }
    const [part, names] = await Promise.all([
      exportParts.read(selection, after),
      categories.readNames(),
    ]);
    const rows = part.items.filter((row) => matchesSelection(row, selection));
    return { items: await categoryNames.addTo(rows, names), next: part.next };
  }

  /**
   * @param pathId the id in the path of a request
   * @throws NotFoundError
   */
  async function find(pathId: string): Promise<Transaction> {
    const id = parseId(pathId);
    const transaction = id === undefined ? undefined : await store.get(id);
    if (!transaction) throw createNotFoundError('Transaction', pathId);
    return transaction;
  }

  /** @throws NotFoundError */
  async function read(pathId: string): Promise<TransactionWithCategoryName> {
    return await categoryNames.addToOne(await find(pathId));
  }

  /** @throws ConflictError if the external id is taken; NotFoundError or ValidationError if the category cannot be assigned */
  async function create(
    fields: NewTransaction,
    remember: Remember<TransactionWithCategoryName> = () => [],
  ): Promise<TransactionWithCategoryName> {
    const category = await requireAssignable(fields.categoryId);
    const after = completeTransaction(fields, await store.reserveIds(1));
    const createdRow = { ...after, categoryName: category?.name };
    await store.write({ after, extraWrites: remember(createdRow) });
    return createdRow;
  }

  function completeTransaction(fields: NewTransaction, id: number): Transaction {
    const now = clock();
    const date = fields.date ?? findCurrentDate(now, timeZone);
    return { externalId: null, importId: null, ...fields, date, id, ...createFirstRevision(now) };
  }

  /** @throws NotFoundError if the transaction no longer exists; the errors of `create` */
  async function update(
    existing: Transaction,
    changes: TransactionChanges,
    isExpected?: IsExpectedVersion,
    remember: Remember<TransactionWithCategoryName> = () => [],
  ): Promise<TransactionWithCategoryName> {
    return await revise(existing, isExpected, async (before) => {
      // Nothing may fail after the write is applied, so the response is prepared first.
      const category = await requireAssignable(changes.categoryId ?? null);
      const after = applyChanges(before, changes);
      const updatedRow = category
        ? { ...after, categoryName: category.name }
        : await categoryNames.addToOne(after);
      requireSameCategoryName(changes, updatedRow);
      await store.write({ before, after, extraWrites: remember(updatedRow) });
      return updatedRow;
    });
  }

  function applyChanges(
    before: Transaction,
    { categoryName: _, ...changes }: TransactionChanges,
  ): Transaction {
    return { ...before, ...changes, ...createNextRevision(before, clock()) };
  }

  /** @throws NotFoundError */
  async function remove(
    pathId: string,
    isExpected?: IsExpectedVersion,
    remember: () => CommitPart = () => [],
  ): Promise<void> {
    await revise(await find(pathId), isExpected, (before) =>
      store.write({ before, extraWrites: remember() }),
    );
  }

  async function revise<Result>(
    existing: Transaction,
    isExpected: IsExpectedVersion | undefined,
    change: (before: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const readAgain = () => find(String(existing.id));
    const decide = guardVersion(isExpected, change, categoryNames.addToOne);
    return await retryOnConflict({ retryPolicy, deadline, existing, readAgain, decide });
  }

  async function requireAssignable(categoryId: number | null): Promise<Category | undefined> {
    if (categoryId === null) return undefined;
    const category = await categories.get(categoryId);
    if (!category) throw createNotFoundError('Category', categoryId);
    if (!category.isActive) throw createInactiveCategoryError();
    return category;
  }

  const addCategoryName = categoryNames.addToOne;
  const rules = {
    addCategoryName,
    requireAssignable,
    requireSameCategoryName,
    completeTransaction,
    applyChanges,
  };
  const single = { find, update, remove, ...rules };
  const many = createManyTransactions({ store, categories, single });

  return { list, readExportPart, find, read, create, update, remove, ...many };
}

/**
 * Requires that a category name without an id is the current name. A client that sends another name alone means to assign that
 * category: ignoring the name would drop the change silently.
 * @throws ValidationError
 */
function requireSameCategoryName(
  { categoryId, categoryName }: TransactionChanges,
  current: TransactionWithCategoryName,
): void {
  if (categoryName === undefined || categoryId !== undefined) return;
  if (categoryName !== current.categoryName) throw createNameWithoutIdError();
}

function matchesSelection(
  row: Transaction,
  { type, categoryId, startDate, endDate, importId, search }: TransactionSelection,
): boolean {
  const readText = () => `${row.description}\n${row.notes ?? ''}`.toLowerCase();
  return (
    (type === undefined || row.type === type) &&
    (categoryId === undefined || row.categoryId === categoryId) &&
    (startDate === undefined || row.date >= startDate) &&
    (endDate === undefined || row.date <= endDate) &&
    (importId === undefined || row.importId === importId) &&
    (search === undefined || readText().includes(search.toLowerCase()))
  );
}

function createTooManyRowsError(
  candidates: number,
  { search }: TransactionSelection,
): ValidationError {
  const [parameter, advice] =
    search === undefined
      ? ['import_id', 'GET /transactions/export?format=json searches any number.']
      : ['q', `GET /transactions/search reads ${MAX_SEARCHED_ROWS}.`];
  const sentence = `A list searches at most ${MAX_FILTERED_ROWS} transactions; these dates and filters have ${candidates}. ${advice}`;
  return new ValidationError('Filter validation failed', { details: { [parameter]: [sentence] } });
}
