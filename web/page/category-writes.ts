// Creates and changes categories. Unlike a transaction, a category is shown only after the service has it, because a row may be
// put into it at once.
import type { Category, CategoryRead, CategoryWritten } from '../../lib/ledger/http/api-types.ts';
import { ApiError, PRECONDITION_FAILED } from './api-error.ts';
import { categories, keepCategory, readLatest } from './category-list.ts';
import { callWithKey } from './key-question.ts';
import { announcement, refreshSoon } from './ledger.ts';

const ATTEMPTS = 3;

let lastUpdate: Promise<unknown> = Promise.resolve();

/**
 * Finds a category by its name, or creates it. If the service has the name already, from another tab or from an attempt whose
 * response was lost, returns that category.
 * @throws ApiError
 */
export async function ensureCategory(name: string): Promise<Category> {
  const hasSameName = (each: Category) => each.name.toLowerCase() === name.trim().toLowerCase();
  const existing = categories.value.find(hasSameName);
  if (existing) return existing;
  try {
    const category = await createCategory({ name: name.trim() });
    announcement.value = `Category ${category.name} created`;
    return category;
  } catch (error) {
    const id = error instanceof ApiError ? error.existingId : undefined;
    if (id === undefined) throw error;
    const { data } = await callWithKey<CategoryRead>(`/categories/${id}`);
    keepCategory(data);
    // No transaction can be put into an inactive category, and the refusal says so.
    if (!data.is_active) throw error;
    return data;
  }
}

/** @throws ApiError */
export async function createCategory(body: object): Promise<Category> {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const request = { method: 'POST', body, headers } as const;
      const { data } = await callWithKey<CategoryWritten>('/categories', request);
      keepCategory(data);
      return data;
    } catch (error) {
      if (!(error instanceof ApiError && error.isRetryable) || attempt === ATTEMPTS) throw error;
    }
  }
}

/**
 * Changes these fields of the category, one update after another, because each needs the version that the previous one has written.
 * @throws ApiError
 */
export function updateCategory(category: Category, changes: object): Promise<Category> {
  const update = async () => {
    const data = await sendUpdate(readLatest(category), changes);
    keepCategory(data);
    refreshSoon();
    return data;
  };
  const result = lastUpdate.then(update, update);
  lastUpdate = result;
  return result;
}

/** If the category has a later version, keeps that version, so that the next attempt is not refused as well. */
async function sendUpdate({ id, etag }: Category, changes: object): Promise<Category> {
  const path = `/categories/${id}`;
  try {
    const request = { method: 'PUT', body: changes, headers: { 'if-match': etag } } as const;
    return (await callWithKey<CategoryWritten>(path, request)).data;
  } catch (error) {
    if (!(error instanceof ApiError && error.status === PRECONDITION_FAILED)) throw error;
  }
  const { data } = await callWithKey<CategoryRead>(path);
  // An earlier attempt, whose response was lost, has already written the changes.
  const currentFields: Readonly<Record<string, unknown>> = { ...data };
  if (Object.entries(changes).every(([name, value]) => currentFields[name] === value)) return data;
  keepCategory(data);
  const message = 'It was changed elsewhere meanwhile. Try again to save your change.';
  throw new ApiError(message, { status: PRECONDITION_FAILED, isRetryable: false });
}
