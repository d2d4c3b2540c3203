// Use cases of categories. docs/ledger/api.md states the rules.

import type { RetryPolicy } from '../../shared/retry.ts';
import {
  type Category,
  type CategoryChanges,
  type CategoryFields,
  compareByName,
  createCategoryLimitError,
  createNameTakenError,
  findLowestFreeId,
} from '../domain/category.ts';
import { createFirstRevision, createNextRevision, parseId } from '../domain/record.ts';
import { createNotFoundError } from '../errors.ts';
import type { CategoryStore } from '../store/categories.ts';
import type { Remember } from '../store/idempotency.ts';
import { guardVersion, type IsExpectedVersion, retryOnConflict } from './retry-on-conflict.ts';

export type Categories = ReturnType<typeof createCategories>;

export function createCategories(options: {
  readonly store: CategoryStore;
  readonly retryPolicy: RetryPolicy;
  readonly deadline: number;
  /** Maximum number of categories in the ledger. */
  readonly limit: number;
  readonly clock: () => Date;
}) {
  const { store, retryPolicy, deadline, limit, clock } = options;

  async function list({ activeOnly }: { activeOnly: boolean }): Promise<Category[]> {
    const categories = await store.listAll();
    return categories.filter(({ isActive }) => isActive || !activeOnly).sort(compareByName);
  }

  /**
   * @param pathId the id in the path of a request
   * @throws NotFoundError
   */
  async function find(pathId: string): Promise<Category> {
    const id = parseId(pathId);
    const category = id === undefined ? undefined : await store.get(id);
    if (!category) throw createNotFoundError('Category', pathId);
    return category;
  }

  /** @throws ConflictError */
  async function create(
    fields: CategoryFields,
    remember: Remember<Category> = () => [],
  ): Promise<Category> {
    await refuseTakenName(fields.name);
    const newId = await store.nextId();
    const firstId = newId <= limit ? newId : await findFreeId();
    return await retryOnConflict({
      retryPolicy,
      deadline,
      existing: firstId,
      readAgain: findFreeId,
      async decide(id) {
        const category = { ...fields, id, transactionCount: 0, ...createFirstRevision(clock()) };
        await store.add(category, remember(category));
        return category;
      },
    });
  }

  // Called when the sequence has passed the limit: ids of failed writes may still be free. All requests try the lowest free id,
  // so that concurrent requests conflict instead of exceeding the limit together. This also works if the ledger has ids above
  // the limit, which earlier releases assigned.
  async function findFreeId(): Promise<number> {
    const ids = (await store.listAll()).map(({ id }) => id);
    const freeId = findLowestFreeId(ids, limit);
    if (freeId === undefined) throw createCategoryLimitError(limit);
    return freeId;
  }

  /** @throws NotFoundError if the category no longer exists; ConflictError */
  async function update(
    existing: Category,
    changes: CategoryChanges,
    isExpected?: IsExpectedVersion,
  ): Promise<Category> {
    return await revise(existing, isExpected, async (before) => {
      const after = applyChanges(before, changes);
      if (after.name !== before.name) await refuseTakenName(after.name);
      await store.replace(before, after);
      return after;
    });
  }

  /**
   * Makes the category inactive. The record is kept.
   * @throws NotFoundError; ConflictError if the category has transactions
   */
  async function deactivate(pathId: string, isExpected?: IsExpectedVersion): Promise<void> {
    await revise(await find(pathId), isExpected, (before) =>
      store.deactivate(before, applyChanges(before, { isActive: false })),
    );
  }

  async function revise<Result>(
    existing: Category,
    isExpected: IsExpectedVersion | undefined,
    change: (before: Category) => Promise<Result>,
  ): Promise<Result> {
    const readAgain = () => find(String(existing.id));
    const decide = guardVersion(isExpected, change, async (current) => current);
    return await retryOnConflict({ retryPolicy, deadline, existing, readAgain, decide });
  }

  function applyChanges(before: Category, changes: CategoryChanges): Category {
    return { ...before, ...changes, ...createNextRevision(before, clock()) };
  }

  async function refuseTakenName(name: string): Promise<void> {
    const existing = await store.findByName(name);
    if (existing) throw createNameTakenError(name, existing);
  }

  return { list, find, create, update, deactivate };
}
