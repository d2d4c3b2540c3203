// The categories of the ledger. A list that was requested before this page wrote a category, or that lags behind the write, may
// lack it: the written category is then added to the list.
import { computed, signal } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { forgetAnswers } from './answers.ts';
import { LAG_MS } from './outbox.ts';
import type { Row } from './rows.ts';

export const categories = signal<readonly Category[]>([]);
export const categoriesById = computed(
  () => new Map(categories.value.map((category) => [category.id, category])),
);

const written = new Map<number, { readonly category: Category; readonly at: number }>();

/** @param listed the categories in the service's latest answer */
export function showCategories(listed: readonly Category[]): void {
  const ids = new Set(listed.map(({ id }) => id));
  const missing = [...written.values()].flatMap(({ category, at }) =>
    ids.has(category.id) || at < Date.now() - LAG_MS ? [] : category,
  );
  categories.value =
    missing.length === 0
      ? listed
      : [...listed, ...missing].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Shows a category that this page has just written, before any list has it. */
export function keepCategory(saved: Category): void {
  const category = { ...categoriesById.value.get(saved.id), ...saved };
  written.set(category.id, { category, at: Date.now() });
  showCategories(categories.value.filter(({ id }) => id !== category.id));
  forgetAnswers((_, path) => path.startsWith('/categories'));
}

/** Called when the page asks for a key, because another key may open another ledger. */
export function forgetWrittenCategories(): void {
  written.clear();
}

export function categoryName(row: Row): string {
  if (row.category_id === null) return '';
  return categoriesById.value.get(row.category_id)?.name ?? row.category_name ?? '';
}
