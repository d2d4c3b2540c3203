// The categories of the ledger. A list that was requested before a write from this page, or that lags behind the write, may have an
// older version of the category: the page then shows the written one.
import { computed, signal } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { forgetResponses } from './responses.ts';
import { type Row, readVersion } from './rows.ts';
import { LAG_MS } from './write-queue.ts';

export const categories = signal<readonly Category[]>([]);
export const categoriesById = computed(
  () => new Map(categories.value.map((category) => [category.id, category])),
);

const writtenCategories = new Map<
  number,
  { readonly category: Category; readonly writtenAt: number }
>();

/** @param listedCategories the categories in the service's latest response */
export function showCategories(listedCategories: readonly Category[]): void {
  const shownById = new Map(listedCategories.map((category) => [category.id, category]));
  const newerWrites = [...writtenCategories.values()].filter(({ category, writtenAt }) => {
    const listedCategory = shownById.get(category.id);
    return (
      writtenAt >= Date.now() - LAG_MS &&
      !(listedCategory && readVersion(listedCategory) >= readVersion(category))
    );
  });
  // The response to a write lacks the count of transactions, which the list has.
  for (const { category } of newerWrites)
    shownById.set(category.id, { ...shownById.get(category.id), ...category });
  categories.value =
    newerWrites.length === 0
      ? listedCategories
      : [...shownById.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Shows a category that this page has just written, before any list has it. Responses may arrive out of order. */
export function keepCategory(category: Category): void {
  const latest = writtenCategories.get(category.id)?.category;
  if (!latest || readVersion(latest) <= readVersion(category))
    writtenCategories.set(category.id, { category, writtenAt: Date.now() });
  showCategories(categories.value);
  forgetResponses((_, path) => path.startsWith('/categories'));
}

/** Called when the page asks for a key, because another key may open another ledger. */
export function forgetWrittenCategories(): void {
  writtenCategories.clear();
}

/** Returns the version that this page read or wrote last: the caller may have an older one. */
export function readLatest(category: Category): Category {
  return categoriesById.peek().get(category.id) ?? category;
}

export function categoryName(row: Row): string {
  if (row.category_id === null) return '';
  return categoriesById.value.get(row.category_id)?.name ?? row.category_name ?? '';
}
