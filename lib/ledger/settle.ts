// Decides again on what is recorded now, for as long as somebody else keeps changing the record in between.
import { StaleRecordError } from '../errors.ts';
import { type Pace, retrying } from '../retry.ts';

/**
 * @param existing the record as it was read first
 * @param readAgain throws NotFoundError where the record is gone by now
 * @param decide throws StaleRecordError where the record it was given is no longer the one recorded
 */
export async function settle<Existing, Result>(options: {
  readonly pace: Pace;
  readonly existing: Existing;
  readonly readAgain: () => Promise<Existing>;
  readonly decide: (existing: Existing) => Promise<Result>;
}): Promise<Result> {
  const { pace, readAgain, decide } = options;
  let { existing } = options;
  let isFirst = true;
  return await retrying(pace, isStale, async () => {
    if (!isFirst) existing = await readAgain();
    isFirst = false;
    return await decide(existing);
  });
}

function isStale(error: unknown): boolean {
  return error instanceof StaleRecordError;
}
