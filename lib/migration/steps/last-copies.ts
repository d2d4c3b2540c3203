// Protects the last copies of memories. While the active collection lacks most of the memories, the collections that a run built or
// kept may hold the last copies: no rebuild, copy, abort or end of a retention period removes these collections or their points.
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
 * Removes what a run kept. A refusal is recorded, so that the watch does not try again every few minutes.
 * @throws Refusal if the active collection seems to have been emptied
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

/** Share of the memories that users may delete in a retention period. If more are missing, that is damage. */
const MAX_MISSING_SHARE = 0.5;

async function assertNotEmptied(removal: Removal): Promise<void> {
  const { run, deletes } = removal;
  const { active, missing, points } = await countMissingFromActive(removal);
  if (!isExcessiveLoss(missing, points, deletes)) return;
  const why = `${active} lacks ${missing} of the ${points} memories that run ${run.runId} knows: nothing that the run kept is removed.`;
  throw new Refusal('RefusedEmptied', why, { data: { deletes: missing, run: run.runId } });
}

/** True if the active collection lacks most of the memories, so that other collections may hold the last copies. */
export async function activeLacksMost(request: Scope): Promise<boolean> {
  const { missing, points } = await countMissingFromActive(request);
  return isExcessiveLoss(missing, points);
}

/**
 * Called before the new collection is removed, or made equal to the old one. Compares only numbers, because it may be called in
 * the window.
 * @throws Refusal if the old collection seems to have been emptied
 */
export async function assertSourceFilled({ services, run, input }: StepRequest): Promise<void> {
  const { vectors } = services;
  const { sourceCollection, targetCollection } = run.plan;
  const targetHasPoints =
    (await vectors.collectionExists(targetCollection)) &&
    (await vectors.count(targetCollection)) > 0;
  if (!targetHasPoints) return;
  const scope = { services, run: { ...run, base: undefined } };
  const { removes: missing, points } = await countMissing(scope, sourceCollection);
  if (!isExcessiveLoss(missing, points, input.deletes)) return;
  const why = `${sourceCollection} lacks ${missing} of the ${points} memories that were counted before: ${targetCollection} may hold the last copies.`;
  throw refuseMassChange(why, { deletes: missing });
}

function isExcessiveLoss(
  missing: number,
  points: number,
  deletes = points * MAX_MISSING_SHARE,
): boolean {
  return missing > deletes;
}

/** Counts the memories that the active collection lacks. A later run may have built that collection. */
async function countMissingFromActive({ services, run }: Scope) {
  const active = await services.setting.read();
  const { removes: missing, points } = await countMissing({ services, run }, active);
  return { active, missing, points };
}

// A refused rollback may have dropped the last common version. Then only numbers are compared, and new memories hide missing ones.
async function countMissing(scope: Scope, collection: string) {
  const { services, run } = scope;
  const points = countVerified(run);
  if (!(await services.vectors.collectionExists(collection))) return { removes: points, points };
  if (!run.base) return await compareCounts(scope, collection);
  return await compare(scope, { active: collection, standby: { base: run.base } });
}
