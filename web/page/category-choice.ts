// The categories that a person can choose by typing a name.
import { computed } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { categories } from './category-list.ts';
import { ensureCategory } from './category-writes.ts';
import { normalize } from './rows.ts';

/** Active categories, each with its normalized name for comparison. */
export const choices = computed(() =>
  categories.value
    .filter(({ is_active: isActive }) => isActive)
    .map((category) => ({ category, name: category.name, normalized: normalize(category.name) })),
);

/**
 * Resolves the text of a field to the category of that name, or to a new one. Empty text means none. Case and accents distinguish
 * categories whose names are otherwise the same.
 * @throws ApiError if a new category cannot be created
 */
export async function resolveCategory(text: string): Promise<Category | undefined> {
  const typedName = text.trim();
  if (typedName === '') return undefined;
  const normalizedName = normalize(typedName);
  const candidates = choices.value.filter(({ normalized }) => normalized === normalizedName);
  const match =
    candidates.find(({ name }) => name === typedName) ??
    candidates.find(({ name }) => name.toLowerCase() === typedName.toLowerCase()) ??
    candidates[0];
  return match?.category ?? (await ensureCategory(text));
}
