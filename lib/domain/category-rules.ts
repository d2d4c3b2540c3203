// What categories refuse, in the service document's words where it gives them.
import { ConflictError, ValidationError } from '../errors.ts';

export function inactiveCategory(): ValidationError {
  return new ValidationError('Cannot assign transaction to inactive category');
}

/** The name was seen to be taken. */
export function nameTaken(name: string): ConflictError {
  return new ConflictError(`Category with name '${name}' already exists`);
}

/** The name was free when it was looked for, and taken when it was to be kept. */
export function nameMustBeUnique(): ConflictError {
  return new ConflictError('Category name must be unique');
}

/** The longest list of so many categories, active and inactive, fits the 6 MB of a Lambda response. */
export const CATEGORY_LIMIT = 600;

export function limitReached(limit: number): ConflictError {
  return new ConflictError(
    `A ledger has at most ${limit} categories, active and inactive. Rename one that is not used.`,
  );
}

export function categoryInUse(transactionCount: number): ConflictError {
  const [transactions, them] =
    transactionCount === 1
      ? ['1 transaction', 'the transaction']
      : [`${transactionCount} transactions`, 'the transactions'];
  return new ConflictError(
    `Cannot delete category with ${transactions}. Please reassign or delete ${them} first.`,
  );
}
