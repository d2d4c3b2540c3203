// Creates, updates or removes many transactions in one request. Each is applied or refused independently, under the rules for a
// single transaction.

import type { Category } from '../domain/category.ts';
import {
  createExternalIdTakenError,
  type NewTransaction,
  type Transaction,
  type TransactionChanges,
  type TransactionWithCategoryName,
} from '../domain/transaction.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { CommitPart, Remember } from '../store/idempotency.ts';
import type { RowChange, TransactionStore } from '../store/transactions.ts';
import {
  applyMany,
  type Outcome,
  type PreparedChange,
  settleEach,
  type WithIdempotencyMarker,
} from './bulk.ts';
import { guardVersion, type IsExpectedVersion } from './retry-on-conflict.ts';

export interface Creation extends WithIdempotencyMarker<TransactionWithCategoryName> {
  readonly fields: NewTransaction;
}

export interface Update extends WithIdempotencyMarker<TransactionWithCategoryName> {
  readonly id: number;
  readonly changes: TransactionChanges;
  readonly isExpected?: IsExpectedVersion;
}

export interface Removal extends WithIdempotencyMarker<number> {
  readonly id: number;
  readonly isExpected?: IsExpectedVersion;
}

/** The operations on a single transaction, and the rules that they share with the operations on many. */
interface SingleTransactions {
  /** @throws NotFoundError */
  readonly find: (pathId: string) => Promise<Transaction>;
  readonly update: (
    existing: Transaction,
    changes: TransactionChanges,
    isExpected?: IsExpectedVersion,
    remember?: Remember<TransactionWithCategoryName>,
  ) => Promise<TransactionWithCategoryName>;
  readonly remove: (
    pathId: string,
    isExpected?: IsExpectedVersion,
    remember?: () => CommitPart,
  ) => Promise<void>;
  readonly addCategoryName: (row: Transaction) => Promise<TransactionWithCategoryName>;
  /** @throws NotFoundError, ValidationError */
  readonly requireAssignable: (categoryId: number | null) => Promise<Category | undefined>;
  /** @throws ValidationError */
  readonly requireSameCategoryName: (
    changes: TransactionChanges,
    current: TransactionWithCategoryName,
  ) => void;
  readonly completeTransaction: (fields: NewTransaction, id: number) => Transaction;
  readonly applyChanges: (before: Transaction, changes: TransactionChanges) => Transaction;
}

/** Each function returns an outcome for each item, in the order of the items. */
export function createManyTransactions(options: {
  readonly store: TransactionStore;
  readonly categories: Pick<CategoryStore, 'get'>;
  readonly single: SingleTransactions;
}) {
  const { store, categories, single } = options;

  /** @throws PreconditionFailedError */
  const requireExpectedVersion = (before: Transaction, isExpected: IsExpectedVersion | undefined) =>
    guardVersion(isExpected, async () => undefined, single.addCategoryName)(before);

  async function createMany(
    items: readonly Creation[],
  ): Promise<Outcome<TransactionWithCategoryName>[]> {
    const requireAssignable = memoize(single.requireAssignable);
    const checkedItems = await settleEach(items, async (item) => {
      const { categoryId, externalId } = item.fields;
      const category = await requireAssignable(categoryId);
      const id = externalId ? await store.findIdByExternalId(externalId) : undefined;
      if (externalId && id !== undefined) throw createExternalIdTakenError(externalId, id);
      return { ...item, categoryName: category?.name };
    });
    const count = checkedItems.filter((outcome) => 'value' in outcome).length;
    let nextId = count === 0 ? 0 : await store.reserveIds(count);
    const preparedChanges = checkedItems.map(
      (outcome): Outcome<PreparedChange<TransactionWithCategoryName>> => {
        if ('error' in outcome) return outcome;
        const { fields, categoryName, marker } = outcome.value;
        const after = single.completeTransaction(fields, nextId);
        nextId += 1;
        const value = { ...after, categoryName };
        return {
          value: {
            rowChange: { after, extraWrites: marker?.remember(value) ?? [] },
            value,
            marker,
          },
        };
      },
    );
    return await applyMany(store, preparedChanges);
  }

  async function updateMany(
    items: readonly Update[],
  ): Promise<Outcome<TransactionWithCategoryName>[]> {
    const requireAssignable = memoize(single.requireAssignable);
    const findCategory = memoize(categories.get);
    const preparedChanges = await settleEach(
      items,
      async (item): Promise<PreparedChange<TransactionWithCategoryName>> => {
        const { id, changes, isExpected, marker } = item;
        const before = await single.find(String(id));
        await requireExpectedVersion(before, isExpected);
        const assignedCategory = await requireAssignable(changes.categoryId ?? null);
        const after = single.applyChanges(before, changes);
        const { categoryId } = after;
        const category =
          assignedCategory ?? (categoryId === null ? undefined : await findCategory(categoryId));
        const value = { ...after, categoryName: category?.name };
        single.requireSameCategoryName(changes, value);
        const reapply = async () =>
          await single.update(await single.find(String(id)), changes, isExpected, marker?.remember);
        const rowChange: RowChange = { before, after, extraWrites: marker?.remember(value) ?? [] };
        return { rowChange, value, reapply, marker };
      },
    );
    return await applyMany(store, preparedChanges);
  }

  async function removeMany(items: readonly Removal[]): Promise<Outcome<number>[]> {
    const preparedChanges = await settleEach(
      items,
      async (item): Promise<PreparedChange<number>> => {
        const { id, isExpected, marker } = item;
        const before = await single.find(String(id));
        await requireExpectedVersion(before, isExpected);
        const reapply = async () => {
          await single.remove(String(id), isExpected, () => marker?.remember(id) ?? []);
          return id;
        };
        return {
          rowChange: { before, extraWrites: marker?.remember(id) ?? [] },
          value: id,
          reapply,
          marker,
        };
      },
    );
    return await applyMany(store, preparedChanges);
  }

  return { createMany, updateMany, removeMany };
}

/** Returns a function that loads the result for each value only once. */
function memoize<Value, Result>(
  load: (value: Value) => Promise<Result>,
): (value: Value) => Promise<Result> {
  const results = new Map<Value, Promise<Result>>();
  return (value) => {
    const result = results.get(value) ?? load(value);
    results.set(value, result);
    return result;
  };
}
