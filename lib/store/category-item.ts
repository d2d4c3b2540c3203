// A category as the table keeps it.
import type { Category } from '../domain/category.ts';
import type { Item } from './database.ts';
import type { Keys } from './keys.ts';

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

export function toCategoryItem(keys: Keys, category: Category): Item {
  const stored: StoredCategory = {
    id: category.id,
    created_at: category.createdAt,
    [TRANSACTION_COUNT]: category.transactionCount,
    ...changeableAttributes(category),
  };
  return { ...keys.category(category.id), ...stored };
}

/** What a write of a category may change: its count is not among it, for it follows the transactions. */
export function changeableAttributes(category: Category) {
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
