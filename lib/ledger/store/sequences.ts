// Allocates ids from a ledger's sequences. The database transaction that creates a sequence also adds the ledger to the list of
// all ledgers, so every ledger with a record is in that list.
import type { Database } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import { addToCounters, createNoConditionError } from '../../shared/update-writes.ts';
import { type Keys, LAST_ID, type SequenceKind } from './keys.ts';

export function createSequences(options: {
  readonly database: Pick<Database, 'increment' | 'commit'>;
  readonly keys: Keys;
}) {
  const { database, keys } = options;

  /**
   * Allocates new ids and returns the last one. An id is never allocated again, even if the write of its record fails.
   * @throws StaleRecordError if the ledger is deleted meanwhile
   */
  async function allocate(kind: SequenceKind, count: number): Promise<number> {
    const increment = () => database.increment(keys.sequence(kind), LAST_ID, count);
    const lastId = await increment();
    if (lastId !== undefined) return lastId;
    await createSequence(kind);
    const newSequenceLastId = await increment();
    if (newSequenceLastId !== undefined) return newSequenceLastId;
    throw new StaleRecordError(`The sequence of ${kind} ids was deleted`);
  }

  /** Creates a sequence and registers the ledger. A sequence that already exists keeps its last id. */
  async function createSequence(kind: SequenceKind): Promise<void> {
    await database.commit([
      addToCounters(keys.sequence(kind), new Map([[LAST_ID, 0]])),
      { Put: { Item: keys.registration }, onConditionFailed: createNoConditionError },
    ]);
  }

  return { allocate };
}
