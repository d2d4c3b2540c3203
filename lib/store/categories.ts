// Remembers categories: the record, the claim on its name, and the count of its transactions.
import type { Category } from '../domain/category.ts';
import { categoryInUse, inactiveCategory } from '../domain/category-rules.ts';
import { isAssignableId } from '../domain/record-id.ts';
import { isStoredAs } from '../domain/revision.ts';
import { StaleRecordError, unknownRecord } from '../errors.ts';
import {
  changeableAttributes,
  fromCategoryItem,
  TRANSACTION_COUNT,
  toCategoryItem,
} from './category-item.ts';
import type { CategoryNames } from './category-names.ts';
import type { Database, Item, OutcomeCheck, Write } from './database.ts';
import type { Keys } from './keys.ts';
import { addTo, setOn } from './update-writes.ts';

export type CategoryStore = ReturnType<typeof createCategoryStore>;

const IS_NEW = 'attribute_not_exists(pk)';
const IS_KNOWN = 'attribute_exists(pk)';
const IS_UNCHANGED = 'version = :expected';
const IS_ASSIGNABLE = 'attribute_exists(pk) AND is_active = :yes';
const IS_UNUSED = `attribute_exists(pk) AND ${TRANSACTION_COUNT} = :none`;

export function createCategoryStore(options: {
  readonly database: Database;
  readonly keys: Keys;
  readonly names: CategoryNames;
}) {
  const { database, keys, names } = options;

  async function get(id: number): Promise<Category | undefined> {
    if (!isAssignableId(id)) return undefined;
    const item = await database.get(keys.category(id));
    return item && fromCategoryItem(item);
  }

  /** Active and inactive, in no order to rely on. */
  async function all(): Promise<Category[]> {
    const items = await database.query({ value: keys.categories, consistent: true });
    return items.map(fromCategoryItem);
  }

  /** @throws ConflictError where the name is taken by now */
  async function add(category: Category, also: readonly Write[] = []): Promise<void> {
    const put: Write = {
      Put: { Item: toCategoryItem(keys, category), ConditionExpression: IS_NEW },
      onConditionFailed: () => new Error(`Category id ${category.id} was given twice`),
    };
    await database.commit([...also, put, names.claim(category.name, category.id)], {
      key: keys.category(category.id),
      // No other request has this id.
      wasApplied: (stored) => stored !== undefined,
    });
  }

  /** @throws StaleRecordError where the category is no longer the one that was read; ConflictError as `add` does */
  async function replace(before: Category, after: Category): Promise<void> {
    const update = setOn(keys.category(before.id), changeableAttributes(after), {
      expression: IS_UNCHANGED,
      values: { ':expected': before.version },
      onConditionFailed: (existing) => stale(before, existing),
    });
    const renaming =
      before.name === after.name
        ? []
        : [names.release(before.name, before.id), names.claim(after.name, after.id)];
    await database.commit([update, ...renaming], isStored(after));
  }

  /** The writes by which the counts follow a transaction that leaves one category for another, or for none. */
  function follow(left: number | null, joined: number | null): Write[] {
    if (left === joined) return [];
    return [...(left === null ? [] : [leave(left)]), ...(joined === null ? [] : [join(joined)])];
  }

  function leave(id: number): Write {
    return addTo(keys.category(id), new Map([[TRANSACTION_COUNT, -1]]), {
      expression: IS_KNOWN,
      onConditionFailed: () => new Error(`Category ${id} of a transaction is not there`),
    });
  }

  function join(id: number): Write {
    return addTo(keys.category(id), new Map([[TRANSACTION_COUNT, 1]]), {
      expression: IS_ASSIGNABLE,
      values: { ':yes': true },
      onConditionFailed: (existing) =>
        existing ? inactiveCategory() : unknownRecord('Category', id),
    });
  }

  /** @throws StaleRecordError as `replace` does; ConflictError where it has transactions by now */
  async function deactivate(before: Category, after: Category): Promise<void> {
    const update = setOn(keys.category(before.id), changeableAttributes(after), {
      expression: `${IS_UNUSED} AND ${IS_UNCHANGED}`,
      values: { ':none': 0, ':expected': before.version },
      onConditionFailed: (existing) => whyNotUnused(before, existing),
    });
    await database.commit([update], isStored(after));
  }

  function isStored({ transactionCount: _, ...written }: Category): OutcomeCheck {
    return {
      key: keys.category(written.id),
      wasApplied: (stored) => isStoredAs<Category>(written, stored && fromCategoryItem(stored)),
    };
  }

  return { get, all, add, replace, deactivate, follow };
}

function whyNotUnused(before: Category, existing: Item | undefined): Error {
  if (!existing) return unknownRecord('Category', before.id);
  const { transactionCount } = fromCategoryItem(existing);
  if (transactionCount > 0) return categoryInUse(transactionCount);
  return stale(before, existing);
}

function stale({ id, version }: Category, existing: Item | undefined): StaleRecordError {
  const message = `Category ${id} is no longer at version ${version}`;
  return new StaleRecordError(message, existing && fromCategoryItem(existing));
}
