// Who has which name: one small item a name, which makes names unique under races and tells a list all of them in one query.
import { nameMustBeUnique } from '../domain/category-rules.ts';
import type { Database, Item, Write } from './database.ts';
import type { Keys } from './keys.ts';

export type CategoryNames = ReturnType<typeof createCategoryNames>;

const IS_FREE = 'attribute_not_exists(pk)';
const IS_OWN = 'category_id = :id';

export function createCategoryNames(database: Database, keys: Keys) {
  /** Names by category id, active and inactive. */
  async function all(): Promise<Map<number, string>> {
    const items = await database.query({ value: keys.categoryNames, consistent: true });
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

  return { all, isTaken, claim, release };
}

/** The item that says whose name it is. */
export function toNameGuard(keys: Keys, name: string, categoryId: number): Item {
  return { ...keys.categoryName(name), category_id: categoryId };
}
