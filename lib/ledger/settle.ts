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
  let known: Existing | undefined = options.existing;
  // What a failed write has told is decided on at once: it grows old while one sleeps.
  const sleep = async (milliseconds: number) => {
    if (known === undefined) await pace.sleep(milliseconds);
  };
  return await retrying({ ...pace, sleep }, isStale, async () => {
    const existing = known ?? (await readAgain());
    known = undefined;
    try {
      return await decide(existing);
    } catch (error) {
      if (isStale(error)) known = error.current as Existing | undefined;
      throw error;
    }
  });
}

function isStale(error: unknown): error is StaleRecordError {
  return error instanceof StaleRecordError;
}
