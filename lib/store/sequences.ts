// Integer ids. Gaps are fine: a number drawn for a write that fails is gone.
import type { Database } from './database.ts';
import type { Keys, SequenceKind } from './keys.ts';

export type Sequences = ReturnType<typeof createSequences>;

export function createSequences(database: Database, keys: Keys) {
  async function next(kind: SequenceKind): Promise<number> {
    return await database.increment(keys.sequence(kind), 'last', 1);
  }

  return { next };
}
