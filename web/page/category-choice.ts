// The categories among which a person chooses by typing a name.
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
  const typed = text.trim();
  if (typed === '') return undefined;
  const searched = normalize(typed);
  const alike = choices.value.filter(({ normalized }) => normalized === searched);
  const known =
    alike.find(({ name }) => name === typed) ??
    alike.find(({ name }) => name.toLowerCase() === typed.toLowerCase()) ??
    alike[0];
  return known?.category ?? (await ensureCategory(text));
}
