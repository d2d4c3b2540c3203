// Integer ids. Gaps are fine: a number drawn for a write that fails is gone.
import type { Database } from './database.ts';
import type { Keys, SequenceKind } from './keys.ts';

/** The attribute that holds the id drawn last. */
export const LAST_ID = 'last';

export type Sequences = ReturnType<typeof createSequences>;

export function createSequences(database: Database, keys: Keys) {
  async function next(kind: SequenceKind): Promise<number> {
    return await database.increment(keys.sequence(kind), LAST_ID, 1);
  }

  return { next };
}
