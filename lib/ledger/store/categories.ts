// Stores categories: the record, the item that reserves the name, and the count of the category's transactions.

import type { Database, Item, OutcomeCheck, Write } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import { addToCounters, createDeletion, setAttributes } from '../../shared/update-writes.ts';
import {
  type Category,
  createCategoryInUseError,
  createInactiveCategoryError,
  createNameRaceError,
} from '../domain/category.ts';
import { isAssignableId, isStoredAs } from '../domain/record.ts';
import { createNotFoundError } from '../errors.ts';
import type { CommitPart } from './idempotency.ts';
import type { Keys } from './keys.ts';
import { createSequences } from './sequences.ts';

export type CategoryStore = ReturnType<typeof createCategoryStore>;

/** The attribute that counts a category's transactions. */
export const TRANSACTION_COUNT = 'transaction_count';

interface StoredCategory {
  readonly id: number;
  readonly name: string;
  readonly description: string | null;
  readonly color: string | null;
  readonly is_active: boolean;
  readonly [TRANSACTION_COUNT]: number;
  readonly created_at: number;
  readonly updated_at: number;
  readonly version: number;
}

/** Number of category names that a list reads in one query. A read unit covers about 80 of them, or one name read by its key. */
export const MAX_FIRST_NAMES = 200;

const IS_NEW = 'attribute_not_exists(pk)';
const IS_OWN_NAME = 'category_id = :id';
const EXISTS = 'attribute_exists(pk)';
const IS_UNCHANGED = 'version = :expected';
const IS_ASSIGNABLE = 'attribute_exists(pk) AND is_active = :yes';
const IS_UNUSED = `attribute_exists(pk) AND ${TRANSACTION_COUNT} = :none`;

export function createCategoryStore(options: { readonly database: Database; readonly keys: Keys }) {
  const { database, keys } = options;
  const sequences = createSequences({ database, keys });

  async function get(id: number): Promise<Category | undefined> {
    if (!isAssignableId(id)) return undefined;
    const item = await database.get(keys.category(id));
    return item && fromCategoryItem(item);
  }

  /** Reads all categories, active and inactive, in no particular order. */
  async function listAll(): Promise<Category[]> {
    const items = await database.query({ value: keys.categories, consistent: true });
    return items.map(fromCategoryItem);
  }

  async function nextId(): Promise<number> {
    return await sequences.allocate('category', 1);
  }

  /** @throws StaleRecordError if the id was taken meanwhile; ConflictError if the name was */
  async function add(category: Category, extraWrites: CommitPart = []): Promise<void> {
    const put: Write = {
      Put: { Item: toCategoryItem(keys, category), ConditionExpression: IS_NEW },
      onConditionFailed: () => new StaleRecordError(`Category id ${category.id} is taken`),
    };
    const { key, wasApplied } = checkStored(category);
    await database.commit([...extraWrites, put, createNameClaim(category.name, category.id)], {
      key,
      wasApplied: (stored) => stored !== undefined && wasApplied(stored),
    });
  }

  /** @throws StaleRecordError if the category has changed since it was read; ConflictError as `add` does */
  async function replace(before: Category, after: Category): Promise<void> {
    const update = setAttributes(keys.category(before.id), listChangeableAttributes(after), {
      expression: IS_UNCHANGED,
      values: { ':expected': before.version },
      onConditionFailed: (existing) => createStaleError(before, existing),
    });
    const renameWrites =
      before.name === after.name
        ? []
        : [createNameRelease(before.name, before.id), createNameClaim(after.name, after.id)];
    await database.commit([update, ...renameWrites], checkStored(after));
  }

  /** Creates the writes that keep the counts correct when transactions leave categories and join others. */
  function createCounterWrites(
    leftIds: readonly (number | null)[],
    joinedIds: readonly (number | null)[],
  ): Write[] {
    const changes = new Map<number, number>();
    for (const id of leftIds) if (id !== null) changes.set(id, (changes.get(id) ?? 0) - 1);
    for (const id of joinedIds) if (id !== null) changes.set(id, (changes.get(id) ?? 0) + 1);
    return [...changes].flatMap(([id, increment]) => {
      if (increment === 0) return [];
      return [
        increment < 0 ? createLeavingWrite(id, increment) : createJoiningWrite(id, increment),
      ];
    });
  }

  function createLeavingWrite(id: number, increment: number): Write {
    return addToCounters(keys.category(id), new Map([[TRANSACTION_COUNT, increment]]), {
      expression: EXISTS,
      onConditionFailed: () => new Error(`Category ${id} of a transaction does not exist`),
    });
  }

  function createJoiningWrite(id: number, increment: number): Write {
    return addToCounters(keys.category(id), new Map([[TRANSACTION_COUNT, increment]]), {
      expression: IS_ASSIGNABLE,
      values: { ':yes': true },
      onConditionFailed: (existing) =>
        existing ? createInactiveCategoryError() : createNotFoundError('Category', id),
    });
  }

  /** @throws StaleRecordError as `replace` does; ConflictError if the category has transactions */
  async function deactivate(before: Category, after: Category): Promise<void> {
    const update = setAttributes(keys.category(before.id), listChangeableAttributes(after), {
      expression: `${IS_UNUSED} AND ${IS_UNCHANGED}`,
      values: { ':none': 0, ':expected': before.version },
      onConditionFailed: (existing) => createDeactivationError(before, existing),
    });
    await database.commit([update], checkStored(after));
  }

  function checkStored({ transactionCount: _, ...written }: Category): OutcomeCheck {
    return {
      key: keys.category(written.id),
      wasApplied: (stored) => isStoredAs<Category>(written, stored && fromCategoryItem(stored)),
    };
  }

  /**
   * Reads the names of active and inactive categories, sorted by name.
   * @param limit maximum number of names
   * @returns names by category id
   */
  async function readNames(limit?: number): Promise<Map<number, string>> {
    const items = await database.query({ value: keys.categoryNames, consistent: true }, limit);
    return new Map(items.map(({ category_id, sk }) => [Number(category_id), String(sk)]));
  }

  async function findByName(name: string): Promise<Category | undefined> {
    const guard = await database.get(keys.categoryName(name));
    return guard && (await get(Number(guard.category_id)));
  }

  function createNameClaim(name: string, categoryId: number): Write {
    return {
      Put: {
        Item: toNameGuard(keys, name, categoryId),
        ConditionExpression: IS_NEW,
      },
      onConditionFailed: (guard) => createNameRaceError(guard && Number(guard.category_id)),
    };
  }

  function createNameRelease(name: string, categoryId: number): Write {
    return createDeletion(keys.categoryName(name), {
      expression: IS_OWN_NAME,
      values: { ':id': categoryId },
      onConditionFailed: () =>
        new Error(`The name of category ${categoryId} is not reserved for it`),
    });
  }

  return {
    get,
    listAll,
    readNames,
    findByName,
    nextId,
    add,
    replace,
    deactivate,
    createCounterWrites,
  };
}

function createDeactivationError(before: Category, existing: Item | undefined): Error {
  if (!existing) return createNotFoundError('Category', before.id);
  const { transactionCount } = fromCategoryItem(existing);
  if (transactionCount > 0) return createCategoryInUseError(transactionCount);
  return createStaleError(before, existing);
}

function createStaleError({ id, version }: Category, existing: Item | undefined): StaleRecordError {
  const message = `Category ${id} is no longer at version ${version}`;
  return new StaleRecordError(message, existing && fromCategoryItem(existing));
}

export function toCategoryItem(keys: Keys, category: Category): Item {
  const attributes: StoredCategory = {
    id: category.id,
    created_at: category.createdAt,
    [TRANSACTION_COUNT]: category.transactionCount,
    ...listChangeableAttributes(category),
  };
  return { ...keys.category(category.id), ...attributes };
}

/** Lists the attributes that a change of a category may set. The count is not one of them: it changes with transactions. */
function listChangeableAttributes(category: Category) {
  return {
    name: category.name,
    description: category.description,
    color: category.color,
    is_active: category.isActive,
    updated_at: category.updatedAt,
    version: category.version,
  };
}

export function fromCategoryItem(item: Item): Category {
  const stored = item as unknown as StoredCategory;
  return {
    id: stored.id,
    name: stored.name,
    description: stored.description,
    color: stored.color,
    isActive: stored.is_active,
    transactionCount: stored[TRANSACTION_COUNT],
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    version: stored.version,
  };
}

/** Creates the item that reserves a name. It keeps names unique when requests race, and lets a list read many names at once. */
export function toNameGuard(keys: Keys, name: string, categoryId: number): Item {
  return { ...keys.categoryName(name), category_id: categoryId };
}
