// Decides how a refused rollback ends. If the setting has not changed yet, users stay on the new version. Otherwise writes stay
// frozen for a limited time, so that the operator can repair the cause; then writes are opened where users find most of their
// memories. The decisions are entries of the rollback's journal, like the stages of switch.ts, but are kept when stages run again.
import * as v from 'valibot';
import { DECISIONS } from '../phases.ts';
import { Refusal, type RefusalName } from '../refusals.ts';
import { outOfTime, type RecordedJournal, stagesOf } from '../runs/journal.ts';
import { hasSwitched, refusedSchema, toStoredRefusal, wasOpened, windowOf } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { askAgain } from './backend-actions.ts';
import {
  MAX_UNPROVED_MS,
  planRestore,
  type ReturnPlan,
  returnPlanSchema,
  stayOnOld,
} from './return-target.ts';

const PLAN = DECISIONS.plan;
const FAILING = DECISIONS.failing;
const END = DECISIONS.end;
/** Stage right before the freeze. A rollback that begins while writes are frozen has passed this stage already. */
export const FREEZING = 'freezing';

const endSchema = v.union([
  v.object({
    refused: refusedSchema,
    /** Users stay on the new version, but the backend may work on this collection already. */
    leftFor: v.optional(v.string()),
  }),
  v.object({
    /** Collection that users are sent to */
    to: v.string(),
    /** Why nothing proves that users find their memories there; absent if it was proved */
    unproved: v.optional(v.string()),
  }),
]);

export type End = v.InferOutput<typeof endSchema>;
export type Stayed = Extract<End, { readonly refused: unknown }>;
export type Returned = Extract<End, { readonly to: string }>;

const failingSchema = v.object({
  /** Time of the first refusal that keeps writes frozen. It starts anew when a repair lets more stages pass. */
  since: v.number(),
  /** Number of stages that had passed at that refusal; absent if `since` is before this rollback or plan began */
  after: v.optional(v.number()),
});

type Failing = v.InferOutput<typeof failingSchema>;

/** Creates the first journal of a rollback. Writes may be frozen already. */
export function beginJournal(
  plan: ReturnPlan,
  { failing, isFrozen }: { readonly failing?: Failing | undefined; readonly isFrozen: boolean },
): RecordedJournal {
  return {
    passed: {
      [PLAN]: { found: plan },
      ...(failing && { [FAILING]: { found: failing } }),
      ...(isFrozen && { [FREEZING]: {} }),
    },
  };
}

/**
 * Earlier versions of this program recorded no plan if users had never left the old collection.
 * @throws ValiError if there is no plan although users may have left: opening writes there would split them across two versions
 */
export function readPlan({ run, stages: { recorded } }: StepContext): ReturnPlan {
  const recordedPlan = recorded.passed[PLAN]?.found;
  return recordedPlan === undefined && !hasSwitched(run)
    ? stayOnOld(run)
    : v.parse(returnPlanSchema, recordedPlan);
}

/** @returns undefined until it is decided how the rollback ends */
export function readEnd({ stages: { recorded } }: StepContext): End | undefined {
  return v.parse(v.optional(endSchema), recorded.passed[END]?.found);
}

export async function recordEnd({ stages }: StepContext, end: End): Promise<End> {
  await stages.rewrite({ passed: { ...stages.recorded.passed, [END]: { found: end } } });
  return end;
}

/** A refused rollback */
interface Situation {
  readonly refusedAs: RefusalName;
  /** Journal at the refusal */
  readonly journal: RecordedJournal;
  /** True if users worked on the new version, and the setting still names the new collection */
  readonly settingNamesNew: boolean;
  readonly now: number;
}

type Choice =
  /** Users stay on the new version. `mayHaveLeft`: the backend may work on the other collection already. */
  | { readonly choice: 'stay'; readonly mayHaveLeft: boolean }
  /** Writes are open already: the rollback is repeated until it succeeds. */
  | { readonly choice: 'repeat' }
  /** Writes stay frozen while the cause can be repaired. */
  | { readonly choice: 'wait'; readonly failing: Failing }
  /** The time for a repair is over: writes are opened. */
  | { readonly choice: 'open'; readonly failing: Failing };

/** Decides how a refused rollback continues. Calls no service. */
export function chooseEnd({ refusedAs, journal, settingNamesNew, now }: Situation): Choice {
  const { passed } = journal;
  if (refusedAs === 'RefusedStillNewVersion' || settingNamesNew) {
    return { choice: 'stay', mayHaveLeft: 'setting-changed' in passed || FAILING in passed };
  }
  if ('opened' in passed && refusedAs !== NOTHING_TO_RETURN_TO) return { choice: 'repeat' };
  const previous = v.parse(v.optional(failingSchema), passed[FAILING]?.found);
  const passedStages = Object.keys(stagesOf(journal)).length;
  // If more stages have passed since, the earlier cause was repaired: this refusal gets a time of its own.
  const isNewRefusal = !previous || (previous.after !== undefined && passedStages > previous.after);
  const failing = isNewRefusal ? { since: now, after: passedStages } : previous;
  return { choice: now < failing.since + MAX_UNPROVED_MS ? 'wait' : 'open', failing };
}

const NOTHING_TO_RETURN_TO = 'RefusedNothingToReturnTo' satisfies RefusalName;

/**
 * Decides the end of a refused rollback, if that is possible now.
 * @throws Refusal while the cause can be repaired, or if writes are open already; Paused to begin with another plan
 */
export async function endRefused(
  context: StepContext,
  refusal: Refusal,
  plan: ReturnPlan,
): Promise<End> {
  const { services, stages } = context;
  const { returnTo } = plan;
  const decision = chooseEnd({
    refusedAs: refusal.name,
    journal: stages.recorded,
    settingNamesNew: await settingNamesNew(context),
    now: services.clock().getTime(),
  });
  if (refusal.name === NOTHING_TO_RETURN_TO) await startOver(context, plan);
  switch (decision.choice) {
    case 'stay':
      await askAgain(context);
      return {
        refused: toStoredRefusal(refusal),
        ...(decision.mayHaveLeft && { leftFor: returnTo }),
      };
    case 'repeat':
      throw refusal;
    case 'wait':
      return await keepWritesFrozen(context, refusal, decision.failing);
    case 'open':
      // The same action on another collection is a new request.
      await askAgain(context);
      return await chooseWhereToOpen(context, { refusal, plan, failing: decision.failing });
  }
}

async function settingNamesNew({ services, run, stages }: StepContext): Promise<boolean> {
  // In place, the setting may name the same collection before and after the change.
  if ('setting-changed' in stages.recorded.passed) return false;
  return wasOpened(run) && (await services.setting.read()) === liveCollectionOf(run);
}

/**
 * Makes every stage except the freeze run again, beginning with the restore of a snapshot: all writes since the snapshot must be
 * carried over again, and writes may have been opened meanwhile. A restored snapshot lacks memories that no user deleted, so the
 * last common version does not apply to it, neither in this rollback nor later.
 */
async function startOver(context: StepContext, plan: ReturnPlan): Promise<void> {
  const { stages, updateRun } = context;
  const { [FAILING]: failing, [FREEZING]: freezing } = stages.recorded.passed;
  const carries = plan.way === 'carry';
  const repeatedPlan = carries ? { ...plan, beginsBase: true } : plan;
  const keptEntries = {
    ...(failing && { [FAILING]: failing }),
    ...(freezing && { [FREEZING]: freezing }),
  };
  await stages.rewrite({ passed: { [PLAN]: { found: repeatedPlan }, ...keptEntries } });
  if (carries) await updateRun({ base: undefined });
  await askAgain(context);
}

async function keepWritesFrozen(
  { stages }: StepContext,
  refusal: Refusal,
  failing: Failing,
): Promise<never> {
  const { name, why, data } = refusal;
  const { recorded } = stages;
  const passed = { ...recorded.passed, [FAILING]: { found: failing } };
  await stages.rewrite({ ...recorded, passed });
  const until = new Date(failing.since + MAX_UNPROVED_MS).toISOString();
  const message = `${why} Writes stay frozen until ${until}; then they are opened without proof.`;
  throw new Refusal(name, message, { data, cause: refusal });
}

interface Unproved {
  readonly refusal: Refusal;
  readonly plan: ReturnPlan;
  readonly failing: Failing;
}

/**
 * Chooses where writes are opened without proof: on the collection that was active when the rollback began, or, if that collection
 * is missing, on its restored snapshot.
 * @throws Paused to restore the snapshot first
 */
async function chooseWhereToOpen(
  context: StepContext,
  { refusal, plan, failing }: Unproved,
): Promise<End> {
  const { services, run, updateRun, stages } = context;
  const mayHaveWorkedOnNew = wasOpened(run) || plan.mayHaveLeaked;
  if (mayHaveWorkedOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await updateRun({ window: { ...window, openedAt, stays: true } });
    return { refused: toStoredRefusal(refusal), leftFor: plan.returnTo };
  }
  // A target that is empty counts as missing: the old version creates an empty collection when it starts.
  const isTargetMissing = refusal.name === NOTHING_TO_RETURN_TO;
  const restorePlan =
    isTargetMissing && !plan.restores ? await planRestore(services, run) : undefined;
  if (restorePlan) {
    // The stages of the restore do not count as a repair: the time limit keeps running.
    const { since } = failing;
    await stages.rewrite(beginJournal(restorePlan, { failing: { since }, isFrozen: true }));
    throw outOfTime();
  }
  return { to: isTargetMissing ? run.plan.sourceCollection : plan.returnTo, unproved: refusal.why };
}

/** After a refusal, the next attempt makes a new request: a webhook may repeat its response to the same request. */
export async function askAgainIfRefused(
  context: StepContext,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Refusal && !context.signal.aborted) await askAgain(context);
    throw error;
  }
}
