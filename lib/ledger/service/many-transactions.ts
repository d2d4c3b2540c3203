// Use cases of requests with many transactions: each is created, changed or removed independently, under the rules for a single
// one.

import type { Category } from '../domain/category.ts';
import {
  createExternalIdTakenError,
  type NamedTransaction,
  type NewTransaction,
  type Transaction,
  type TransactionChanges,
} from '../domain/transaction.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { CommitPart, Remember } from '../store/idempotency.ts';
import type { RowChange, TransactionStore } from '../store/transactions.ts';
import { applyMany, type Marked, type Outcome, type PreparedChange, settleEach } from './bulk.ts';
import { guardVersion, type IsExpected } from './retry-on-conflict.ts';

export interface Creation extends Marked<NamedTransaction> {
  readonly fields: NewTransaction;
}

export interface Change extends Marked<NamedTransaction> {
  readonly id: number;
  readonly changes: TransactionChanges;
  readonly isExpected?: IsExpected;
}

export interface Removal extends Marked<number> {
  readonly id: number;
  readonly isExpected?: IsExpected;
}

/** The use cases of a single transaction, and the rules that they share with those of many. */
interface SingleTransactions {
  /** @throws NotFoundError */
  readonly find: (pathId: string) => Promise<Transaction>;
  readonly update: (
    existing: Transaction,
    changes: TransactionChanges,
    isExpected?: IsExpected,
    remember?: Remember<NamedTransaction>,
  ) => Promise<NamedTransaction>;
  readonly remove: (
    pathId: string,
    isExpected?: IsExpected,
    remember?: () => CommitPart,
  ) => Promise<void>;
  readonly addName: (row: Transaction) => Promise<NamedTransaction>;
  /** @throws NotFoundError, ValidationError */
  readonly requireAssignable: (categoryId: number | null) => Promise<Category | undefined>;
  /** @throws ValidationError */
  readonly refuseOtherCategory: (changes: TransactionChanges, current: NamedTransaction) => void;
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
  const refuseUnexpected = (before: Transaction, isExpected: IsExpected | undefined) =>
    guardVersion(isExpected, async () => undefined, single.addName)(before);

  async function createMany(items: readonly Creation[]): Promise<Outcome<NamedTransaction>[]> {
    const requireAssignable = memoize(single.requireAssignable);
    const checkedItems = await settleEach(items, async (item) => {
      const { categoryId, externalId } = item.fields;
      const category = await requireAssignable(categoryId);
      const id = externalId ? await store.findIdByExternalId(externalId) : undefined;
      if (externalId && id !== undefined) throw createExternalIdTakenError(externalId, id);
      return { ...item, categoryName: category?.name };
    });
    const count = checkedItems.filter((outcome) => 'value' in outcome).length;
    let nextId = count === 0 ? 0 : await store.nextIds(count);
    const preparedChanges = checkedItems.map(
      (outcome): Outcome<PreparedChange<NamedTransaction>> => {
        if ('error' in outcome) return outcome;
        const { fields, categoryName, marker } = outcome.value;
        const after = single.completeTransaction(fields, nextId);
        nextId += 1;
        const value = { ...after, categoryName };
        return {
          value: { change: { after, extraWrites: marker?.remember(value) ?? [] }, value, marker },
        };
      },
    );
    return await applyMany(store, preparedChanges);
  }

  async function updateMany(items: readonly Change[]): Promise<Outcome<NamedTransaction>[]> {
    const requireAssignable = memoize(single.requireAssignable);
    const findCategory = memoize(categories.get);
    const preparedChanges = await settleEach(
      items,
      async (item): Promise<PreparedChange<NamedTransaction>> => {
        const { id, changes, isExpected, marker } = item;
        const before = await single.find(String(id));
        await refuseUnexpected(before, isExpected);
        const assignedCategory = await requireAssignable(changes.categoryId ?? null);
        const after = single.applyChanges(before, changes);
        const { categoryId } = after;
        const category =
          assignedCategory ?? (categoryId === null ? undefined : await findCategory(categoryId));
        const value = { ...after, categoryName: category?.name };
        single.refuseOtherCategory(changes, value);
        const reapply = async () =>
          await single.update(await single.find(String(id)), changes, isExpected, marker?.remember);
        const change: RowChange = { before, after, extraWrites: marker?.remember(value) ?? [] };
        return { change, value, reapply, marker };
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
        await refuseUnexpected(before, isExpected);
        const reapply = async () => {
          await single.remove(String(id), isExpected, () => marker?.remember(id) ?? []);
          return id;
        };
        return {
          change: { before, extraWrites: marker?.remember(id) ?? [] },
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
