// The end of a retention period. What a run kept may hold the last copies of the memories, so nothing of it is removed while the
// collection in use lacks most of them: the same for a run that was live and for one that was aborted.
import { Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { StepInput } from '../runs/input.ts';
import { Paused } from '../runs/journal.ts';
import { countVerified } from '../runs/run.ts';
import type { StepRequest } from '../runs/step.ts';
import { compare, countDifference } from './comparison.ts';

type Removal = Pick<StepRequest, 'services' | 'run'> & {
  /** Number of memories that users deleted, as the operator says */
  readonly deletes: StepInput['deletes'];
  /** True if memories are removed, and not only reports */
  readonly removesMemories: boolean;
};

/**
 * Removes what a run kept. A refusal is noted: the watch need not find it again every few minutes.
 * @throws Refusal if the collection in use seems to have been emptied
 */
export async function removeKept(removal: Removal, remove: () => Promise<void>): Promise<void> {
  const { services, run } = removal;
  try {
    if (removal.removesMemories) await assertNotEmptied(removal);
    await remove();
  } catch (error) {
    if (error instanceof Paused) throw error;
    const failure = translateFailure(error);
    if (failure instanceof Refusal) await services.runs.noteReminder(run.runId);
    throw failure;
  }
}

/** Share of the memories that may be missing. Users delete some in the days of a retention period; more is damage. */
const MAX_MISSING_SHARE = 0.5;

/** Compares the collection in use, which may be that of a later run. */
async function assertNotEmptied(removal: Removal): Promise<void> {
  const { services, run, deletes } = removal;
  const active = await services.setting.read();
  const { removes: missing, points } = await countRemoved(removal, active);
  if (missing <= (deletes ?? points * MAX_MISSING_SHARE)) return;
  const why = `${active} lacks ${missing} of the ${points} memories that run ${run.runId} knows: nothing that the run kept is removed.`;
  throw new Refusal('RefusedEmptied', why, { data: { deletes: missing, run: run.runId } });
}

// Without a last common version, which a refused rollback may have lost, writes since then make up for missing memories.
async function countRemoved(removal: Removal, collection: string) {
  const { services, run } = removal;
  const points = countVerified(run);
  if (!(await services.vectors.collectionExists(collection))) return { removes: points, points };
  if (!run.base) return await countDifference(removal, collection);
  return await compare(removal, { active: collection, standby: { base: run.base } });
}
