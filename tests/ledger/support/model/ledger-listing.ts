// Reads all lists of a ledger through the API, in a form that can be compared with the model.
import type { Api } from '../api/api-client.ts';
import { type Model, selectTransactions } from './ledger-model.ts';

export type Listing = Awaited<ReturnType<typeof readListing>>;

/** Reads every row and category that the API lists. */
export async function readListing(api: Api) {
  const rows: object[] = [];
  for (let page = 1, hasNext = true; hasNext; page += 1) {
    const { body } = await api.get('/transactions', { page, per_page: 100 });
    rows.push(...body.data);
    hasNext = body.pagination?.has_next === true;
  }
  const { body } = await api.get('/categories', { active_only: false });
  const text = formatListing(rows, body.data);
  return { text, matches: (model: Model) => formatModel(model) === text };
}

/** Formats the listing of a ledger that equals the model. */
export function formatModel(model: Model): string {
  return formatListing(selectTransactions(model, {}), [...model.categories.values()]);
}

/** @param transactions in the order of lists */
export function formatListing(
  transactions: readonly object[],
  categories: readonly object[],
): string {
  const sortedCategories = categories
    .map(pickCategoryFields)
    .toSorted((first, second) => Number(first.id) - Number(second.id));
  return JSON.stringify([transactions.map(pickTransactionFields), sortedCategories]);
}

type Wire = Readonly<Record<string, unknown>>;

function pickTransactionFields(each: object) {
  const { id, created_at, description, amount, type, ...rest } = each as Wire;
  const { category_id, transaction_date, notes } = rest;
  return { id, created_at, description, amount, type, category_id, transaction_date, notes };
}

function pickCategoryFields(each: object) {
  const { id, created_at, name, description, color, is_active } = each as Wire;
  return { id, created_at, name, description, color, is_active };
}
