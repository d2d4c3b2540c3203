// Optimistic locking: repeats a decision on the current record when another writer changed it since it was read.
import { StaleRecordError } from '../errors.ts';
import { type RetryPolicy, retry } from '../retry.ts';

/**
 * @param existing the record as it was read first
 * @param readAgain throws NotFoundError when the record no longer exists
 * @param decide throws StaleRecordError when the record that it was given is no longer the current one
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
  // A failed write returns the current record. It is used at once, because it gets stale during a delay.
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
