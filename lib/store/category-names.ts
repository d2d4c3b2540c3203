// One small item per category name: it makes names unique under races, and a list reads many names in one query.
import { nameMustBeUnique } from '../domain/category-rules.ts';
import type { Database, Item, Write } from './database.ts';
import type { Keys } from './keys.ts';

/** Some 80 names cost one read unit; a name that is read by itself costs one. */
export const NAMES_READ_AT_ONCE = 200;

export type CategoryNames = ReturnType<typeof createCategoryNames>;

const IS_FREE = 'attribute_not_exists(pk)';
const IS_OWN = 'category_id = :id';

export function createCategoryNames(database: Database, keys: Keys) {
  /** Names by category id, active and inactive; of many categories only the first by name. */
  async function first(): Promise<Map<number, string>> {
    const names = { value: keys.categoryNames, consistent: true };
    const items = await database.query(names, NAMES_READ_AT_ONCE);
    return new Map(items.map(({ category_id, sk }) => [Number(category_id), String(sk)]));
  }

  async function isTaken(name: string): Promise<boolean> {
    return (await database.get(keys.categoryName(name))) !== undefined;
  }

  function claim(name: string, categoryId: number): Write {
    return {
      Put: {
        Item: toNameGuard(keys, name, categoryId),
        ConditionExpression: IS_FREE,
      },
      onConditionFailed: nameMustBeUnique,
    };
  }

  function release(name: string, categoryId: number): Write {
    return {
      Delete: {
        Key: keys.categoryName(name),
        ConditionExpression: IS_OWN,
        ExpressionAttributeValues: { ':id': categoryId },
      },
      onConditionFailed: () =>
        new Error(`The name of category ${categoryId} is not recorded as its own`),
    };
  }

  return { first, isTaken, claim, release };
}

/** The item that says whose name it is. */
export function toNameGuard(keys: Keys, name: string, categoryId: number): Item {
  return { ...keys.categoryName(name), category_id: categoryId };
}
