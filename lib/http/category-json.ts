// A category as clients see it.
import type { Category } from '../domain/category.ts';

/** Every field, null when empty. */
export function toCategoryJson(category: Category) {
  return {
    id: category.id,
    name: category.name,
    description: category.description,
    color: category.color,
    is_active: category.isActive,
    created_at: new Date(category.createdAt).toISOString(),
    updated_at: new Date(category.updatedAt).toISOString(),
  };
}

/** The same with `transaction_count`, as single reads and lists requested with counts carry it. */
export function toCountedCategoryJson(category: Category) {
  return { ...toCategoryJson(category), transaction_count: category.transactionCount };
}
