// The categories of the ledger. A list that was requested before a write of this page, or lags behind it, may have an older
// version of the category: the page then shows the written one.
import { computed, signal } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { forgetAnswers } from './answers.ts';
import { type Row, readVersion } from './rows.ts';
import { LAG_MS } from './write-queue.ts';

export const categories = signal<readonly Category[]>([]);
export const categoriesById = computed(
  () => new Map(categories.value.map((category) => [category.id, category])),
);

const written = new Map<number, { readonly category: Category; readonly at: number }>();

/** @param listed the categories in the service's latest answer */
export function showCategories(listed: readonly Category[]): void {
  const shown = new Map(listed.map((category) => [category.id, category]));
  const newer = [...written.values()].filter(({ category, at }) => {
    const known = shown.get(category.id);
    return at >= Date.now() - LAG_MS && !(known && readVersion(known) >= readVersion(category));
  });
  // A write is answered without the count of transactions, which the list has.
  for (const { category } of newer)
    shown.set(category.id, { ...shown.get(category.id), ...category });
  categories.value =
    newer.length === 0
      ? listed
      : [...shown.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Shows a category that this page has just written, before any list has it. Answers may arrive in another order. */
export function keepCategory(category: Category): void {
  const latest = written.get(category.id)?.category;
  if (!latest || readVersion(latest) <= readVersion(category))
    written.set(category.id, { category, at: Date.now() });
  showCategories(categories.value);
  forgetAnswers((_, path) => path.startsWith('/categories'));
}

/** Called when the page asks for a key, because another key may open another ledger. */
export function forgetWrittenCategories(): void {
  written.clear();
}

/** Returns the version that this page read or wrote last: the caller may have an older one. */
export function readLatest(category: Category): Category {
  return categoriesById.peek().get(category.id) ?? category;
}

export function categoryName(row: Row): string {
  if (row.category_id === null) return '';
  return categoriesById.value.get(row.category_id)?.name ?? row.category_name ?? '';
}
