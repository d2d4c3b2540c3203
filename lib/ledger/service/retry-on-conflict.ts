// Optimistic locking: if another writer has changed a record since it was read, decides again on the current record.

import { StaleRecordError } from '../../shared/errors.ts';
import { type RetryPolicy, retry } from '../../shared/retry.ts';
import type { Category } from '../domain/category.ts';
import type { Revision } from '../domain/record.ts';
import type { TransactionWithCategoryName } from '../domain/transaction.ts';

/** Compares a record's version with the one that the caller expects. */
export type IsExpectedVersion = (version: number) => boolean;

/**
 * @param existing the record as it was first read
 * @param readAgain throws NotFoundError if the record no longer exists
 * @param decide throws StaleRecordError if the given record is no longer the current one
 */
export async function retryOnConflict<Existing, Result>(options: {
  readonly retryPolicy: RetryPolicy;
  readonly deadline: number;
  readonly existing: Existing;
  readonly readAgain: () => Promise<Existing>;
  readonly decide: (existing: Existing) => Promise<Result>;
}): Promise<Result> {
  const { retryPolicy, deadline, readAgain, decide } = options;
  let current: Existing | undefined = options.existing;
  // A failed write may return the current record. It is used without a delay, because it could become stale in the meantime.
  const sleep = async (milliseconds: number) => {
    if (current === undefined) await retryPolicy.sleep(milliseconds);
  };
  const attempt = async () => {
    const existing = current ?? (await readAgain());
    current = undefined;
    try {
      return await decide(existing);
    } catch (error) {
      if (isConflict(error)) current = error.current as Existing | undefined;
      throw error;
    }
  };
  return await retry({ ...retryPolicy, sleep }, isConflict, attempt, deadline);
}

function isConflict(error: unknown): error is StaleRecordError {
  return error instanceof StaleRecordError;
}

/** The record is not at the version that the caller expects. */
export class PreconditionFailedError extends Error {
  override readonly name = 'PreconditionFailedError';
  /** The record as a read returns it. */
  readonly current: TransactionWithCategoryName | Category;

  constructor(message: string, current: TransactionWithCategoryName | Category) {
    super(message);
    this.current = current;
  }
}

/**
 * Changes a record only at an expected version. After a conflict the record is read again, and its new version fails the check.
 * @param show returns the record as a read returns it, so that a client need not read it
 * @throws PreconditionFailedError
 */
export function guardVersion<Existing extends Revision, Result>(
  isExpected: IsExpectedVersion = () => true,
  change: (existing: Existing) => Promise<Result>,
  show: (existing: Existing) => Promise<PreconditionFailedError['current']>,
): (existing: Existing) => Promise<Result> {
  return async (existing) => {
    if (isExpected(existing.version)) return await change(existing);
    throw createVersionError(existing.version, await show(existing));
  };
}

export function createVersionError(
  version: number,
  current: PreconditionFailedError['current'],
): PreconditionFailedError {
  return new PreconditionFailedError(
    `The record is at version ${version}, which was not expected: read it and send its ETag`,
    current,
  );
}
