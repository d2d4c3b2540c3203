// A category, and the errors of requests that break the rules of categories. docs/ledger/api.md has their messages.
import { ConflictError, ValidationError } from '../errors.ts';
import type { Revision } from './record.ts';

/** Fields of a category that the client sets. */
export interface CategoryFields {
  /** Trimmed; unique in its ledger, byte for byte. */
  readonly name: string;
  readonly description: string | null;
  /** `#RGB`, `#RGBA`, `#RRGGBB` or `#RRGGBBAA`, as the client sent it. */
  readonly color: string | null;
  readonly isActive: boolean;
}

/** `transactionCount` is not part of the revision: it changes with the transactions, while the version stays the same. */
export interface Category extends CategoryFields, Revision {
  readonly id: number;
  readonly transactionCount: number;
}

export type CategoryChanges = Partial<CategoryFields>;

/** Compares categories by the bytes of their names, then by id. */
export function compareByName(a: Category, b: Category): number {
  return Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || a.id - b.id;
}

export function createInactiveCategoryError(): ValidationError {
  return new ValidationError('Cannot assign transaction to inactive category');
}

export const HOW_TO_ASSIGN =
  'Send the id of the category to assign it: category_name is read-only. GET /categories has the ids.';

/** Creates the error for a change that sends a new category name without a category id. */
export function createNameWithoutIdError(): ValidationError {
  const details = { category_id: [HOW_TO_ASSIGN] };
  return new ValidationError('Input validation failed', { details });
}

/** @param existing the category that already has the name */
export function createNameTakenError(
  name: string,
  { id, isActive }: Pick<Category, 'id' | 'isActive'>,
): ConflictError {
  const exists = `Category with name '${name}' already exists`;
  const inactive = ` and is inactive: PUT /categories/${id} with {"is_active": true} makes it active`;
  return new ConflictError(isActive ? exists : exists + inactive, id);
}

/** Creates the error of a request that lost the race for the name. */
export function createNameRaceError(existingId: number | undefined): ConflictError {
  return new ConflictError('Category name must be unique', existingId);
}

/** Maximum number of categories in a ledger. Even if all have the maximum size, their list fits into a Lambda response (6 MB). */
export const CATEGORY_LIMIT = 600;

export function createCategoryLimitError(limit: number): ConflictError {
  return new ConflictError(
    `A ledger has at most ${limit} categories, active and inactive. Rename one that is not used.`,
  );
}

/** Finds the lowest unused id; undefined if the number of categories has reached the limit. */
export function findLowestFreeId(usedIds: readonly number[], limit: number): number | undefined {
  if (usedIds.length >= limit) return undefined;
  const ids = new Set(usedIds);
  let id = 1;
  while (ids.has(id)) id += 1;
  return id;
}

export function createCategoryInUseError(transactionCount: number): ConflictError {
  const [transactions, them] =
    transactionCount === 1
      ? ['1 transaction', 'the transaction']
      : [`${transactionCount} transactions`, 'the transactions'];
  return new ConflictError(
    `Cannot delete category with ${transactions}. Please reassign or delete ${them} first.`,
  );
}
