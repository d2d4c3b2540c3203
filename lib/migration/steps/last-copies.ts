// Protects the last copies of the memories. Collections that a run built or kept may hold them, so while the collection in use
// lacks most of the memories, nothing removes these collections or points in them: no rebuild, copy, abort or end of a retention
// period.
import { refuseMassChange } from '../mass-change.ts';
import { Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { StepInput } from '../runs/input.ts';
import { Paused } from '../runs/journal.ts';
import { countVerified } from '../runs/run.ts';
import type { StepRequest } from '../runs/step.ts';
import { compare, compareCounts } from './comparison.ts';

type Scope = Pick<StepRequest, 'services' | 'run'>;

type Removal = Scope & {
  /** Number of memories that users deleted, according to the operator */
  readonly deletes: StepInput['deletes'];
  /** True if memories are removed, and not only reports */
  readonly removesMemories: boolean;
};

/**
 * Removes what a run kept. A refusal is recorded, so that the watch does not repeat it every few minutes.
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
    if (failure instanceof Refusal) await services.runs.recordReminder(run.runId);
    throw failure;
  }
}

/** Largest share of the memories that users delete in a retention period; if more are missing, it is damage. */
const MAX_MISSING_SHARE = 0.5;

async function assertNotEmptied(removal: Removal): Promise<void> {
  const { run, deletes } = removal;
  const { active, missing, points } = await countMissingFromActive(removal);
  if (!isDamage(missing, points, deletes)) return;
  const why = `${active} lacks ${missing} of the ${points} memories that run ${run.runId} knows: nothing that the run kept is removed.`;
  throw new Refusal('RefusedEmptied', why, { data: { deletes: missing, run: run.runId } });
}

/** True if the collection in use lacks most of the memories, so that others may hold the last copies. */
export async function activeLacksMost(request: Scope): Promise<boolean> {
  const { missing, points } = await countMissingFromActive(request);
  return isDamage(missing, points);
}

/**
 * Called before the new collection is removed, or made equal to the old one. Compares only numbers, because it may be called in
 * the window.
 * @throws Refusal if the old collection seems to have been emptied
 */
export async function assertSourceFilled({ services, run, input }: StepRequest): Promise<void> {
  const { vectors } = services;
  const { sourceCollection, targetCollection } = run.plan;
  const isFilled =
    (await vectors.collectionExists(targetCollection)) &&
    (await vectors.count(targetCollection)) > 0;
  if (!isFilled) return;
  const scope = { services, run: { ...run, base: undefined } };
  const { removes: missing, points } = await countRemoved(scope, sourceCollection);
  if (!isDamage(missing, points, input.deletes)) return;
  const why = `${sourceCollection} lacks ${missing} of the ${points} memories that were counted before: ${targetCollection} may hold the last copies.`;
  throw refuseMassChange(why, { deletes: missing });
}

function isDamage(missing: number, points: number, deletes = points * MAX_MISSING_SHARE): boolean {
  return missing > deletes;
}

/** Counts the memories that the collection in use, which a later run may have built, lacks. */
async function countMissingFromActive({ services, run }: Scope) {
  const active = await services.setting.read();
  const { removes: missing, points } = await countRemoved({ services, run }, active);
  return { active, missing, points };
}

// A refused rollback may have lost the last common version. Then only numbers are compared, and new memories hide missing ones.
async function countRemoved(scope: Scope, collection: string) {
  const { services, run } = scope;
  const points = countVerified(run);
  if (!(await services.vectors.collectionExists(collection))) return { removes: points, points };
  if (!run.base) return await compareCounts(scope, collection);
  return await compare(scope, { active: collection, standby: { base: run.base } });
}
