// Allocates ids from a ledger's sequences. The transaction that begins a sequence also adds the ledger to the list of all
// ledgers, so every ledger with a record is in that list.
import type { Database } from '../../shared/database.ts';
import { StaleRecordError } from '../../shared/errors.ts';
import { addToCounters, unconditional } from '../../shared/update-writes.ts';
import { type Keys, LAST_ID, type SequenceKind } from './keys.ts';

export function createSequences(options: {
  readonly database: Pick<Database, 'increment' | 'commit'>;
  readonly keys: Keys;
}) {
  const { database, keys } = options;

  /**
   * Allocates several new ids and returns the last one. Ids may be skipped: the id that was allocated for a failed write is never
   * used.
   * @throws StaleRecordError if the ledger is deleted meanwhile
   */
  async function allocate(kind: SequenceKind, count: number): Promise<number> {
    const advance = () => database.increment(keys.sequence(kind), LAST_ID, count);
    const last = await advance();
    if (last !== undefined) return last;
    await begin(kind);
    const first = await advance();
    if (first === undefined) throw new StaleRecordError(`The sequence of ${kind} ids was deleted`);
    return first;
  }

  /**
   * Begins a sequence and registers the ledger. A sequence of an earlier release, which did not register its ledger, continues.
   */
  async function begin(kind: SequenceKind): Promise<void> {
    await database.commit([
      addToCounters(keys.sequence(kind), new Map([[LAST_ID, 0]])),
      { Put: { Item: keys.registration }, onConditionFailed: unconditional },
    ]);
  }

  return { allocate };
}
