// The end of a way back. A refusal leaves users on the new version until the setting has changed. Afterwards it keeps writes frozen
// for a limited time, in which it can be repaired; then they are opened where users find most of their memories. The decisions of
// a rollback are entries of its journal, beside the stages of switch.ts, and are kept where stages run again.
import * as v from 'valibot';
import { DECISIONS } from '../phases.ts';
import { Refusal, type RefusalName } from '../refusals.ts';
import { outOfTime, type RecordedJournal, stagesOf } from '../runs/journal.ts';
import { hasSwitched, refusedSchema, toRefused, wasOpened, windowOf } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { askAgain } from './backend-actions.ts';
import {
  MAX_UNPROVED_MS,
  planRestore,
  type Return,
  returnSchema,
  stayOnOld,
} from './return-target.ts';

const PLAN = DECISIONS.plan;
const FAILING = DECISIONS.failing;
const END = DECISIONS.end;
/** A rollback that begins while writes are frozen has passed this stage already. */
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
    /** Why nothing proves that they find their memories there */
    unproved: v.optional(v.string()),
  }),
]);

export type End = v.InferOutput<typeof endSchema>;
export type Stayed = Extract<End, { readonly refused: unknown }>;
export type Returned = Extract<End, { readonly to: string }>;

const failingSchema = v.object({
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  since: v.number(),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  after: v.optional(v.number()),
});

type Failing = v.InferOutput<typeof failingSchema>;

/** The first record of a way back. Writes may be frozen already. */
export function beginJournal(
  plan: Return,
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
 * Earlier versions recorded no plan for users who had never left.
 * @throws ValiError if it is missing for users who may have: a rollback that only opened writes would split them
 */
export function readPlan({ run, stages: { recorded } }: StepContext): Return {
  const found = recorded.passed[PLAN]?.found;
  return found === undefined && !hasSwitched(run) ? stayOnOld(run) : v.parse(returnSchema, found);
}

/** Undefined until the way back has come to an end */
export function readEnd({ stages: { recorded } }: StepContext): End | undefined {
  return v.parse(v.optional(endSchema), recorded.passed[END]?.found);
}

export async function recordEnd({ stages }: StepContext, end: End): Promise<End> {
  await stages.rewrite({ passed: { ...stages.recorded.passed, [END]: { found: end } } });
  return end;
}

/** A refused way back */
interface Situation {
  readonly refusedAs: RefusalName;
  /** Journal at the refusal */
  readonly journal: RecordedJournal;
  /** True if users worked on the new version, and the setting still names its collection */
  readonly settingNamesNew: boolean;
  readonly now: number;
}

type Choice =
  /** Users stay on the new version. `mayHaveLeft`: the backend may work on the other collection already. */
  | { readonly choice: 'stay'; readonly mayHaveLeft: boolean }
  /** Writes are open already: the rollback is repeated until it passes. */
  | { readonly choice: 'repeat' }
  /** Writes stay frozen while the cause can be repaired. */
  | { readonly choice: 'wait'; readonly failing: Failing }
  /** The time for a repair is over: writes are opened. */
  | { readonly choice: 'open'; readonly failing: Failing };

/** Decides about the rest of a way back that is refused. Calls no service. */
export function chooseEnd({ refusedAs, journal, settingNamesNew, now }: Situation): Choice {
  const { passed } = journal;
  if (refusedAs === 'RefusedStillNewVersion' || settingNamesNew) {
    return { choice: 'stay', mayHaveLeft: 'setting-changed' in passed || FAILING in passed };
  }
  if ('opened' in passed && refusedAs !== NOTHING_LEFT) return { choice: 'repeat' };
  const known = v.parse(v.optional(failingSchema), passed[FAILING]?.found);
  const after = Object.keys(stagesOf(journal)).length;
  // If more stages have passed since, the cause was repaired: this refusal has its own time.
  const isNew = !known || (known.after !== undefined && after > known.after);
  const failing = isNew ? { since: now, after } : known;
  return { choice: now < failing.since + MAX_UNPROVED_MS ? 'wait' : 'open', failing };
}

const NOTHING_LEFT = 'RefusedNothingToReturnTo' satisfies RefusalName;

/**
 * Ends a refused way back as far as it can be ended now.
 * @throws Refusal while its cause can be repaired, or if writes are open already; Paused to begin with another plan
 */
export async function endRefused(
  context: StepContext,
  refusal: Refusal,
  plan: Return,
): Promise<End> {
  const { services, stages } = context;
  const { returnTo } = plan;
  const decided = chooseEnd({
    refusedAs: refusal.name,
    journal: stages.recorded,
    settingNamesNew: await settingNamesNew(context),
    now: services.clock().getTime(),
  });
  if (refusal.name === NOTHING_LEFT) await startOver(context, plan);
  switch (decided.choice) {
    case 'stay':
      await askAgain(context);
      return { refused: toRefused(refusal), ...(decided.mayHaveLeft && { leftFor: returnTo }) };
    case 'repeat':
      throw refusal;
    case 'wait':
      return await waitForRepair(context, refusal, decided.failing);
    case 'open':
      // The same action on another collection is a new request.
      await askAgain(context);
      return await openSomewhere(context, { refusal, plan, failing: decided.failing });
  }
}

async function settingNamesNew({ services, run, stages }: StepContext): Promise<boolean> {
  // In place the setting may stay the same.
  if ('setting-changed' in stages.recorded.passed) return false;
  return wasOpened(run) && (await services.setting.read()) === liveCollectionOf(run);
}

/**
 * Repeats every stage except the freeze, beginning with the restore of a snapshot: writes may have been opened since, and those
 * since the snapshot must be carried over again. A restored snapshot lacks memories that no user deleted, so the last common
 * version does not apply to it, neither in this rollback nor later.
 */
async function startOver(context: StepContext, plan: Return): Promise<void> {
  const { stages, note } = context;
  const { [FAILING]: failing, [FREEZING]: freezing } = stages.recorded.passed;
  const carries = plan.way === 'carry';
  const again = carries ? { ...plan, beginsBase: true } : plan;
  const kept = {
    ...(failing && { [FAILING]: failing }),
    ...(freezing && { [FREEZING]: freezing }),
  };
  await stages.rewrite({ passed: { [PLAN]: { found: again }, ...kept } });
  if (carries) await note({ base: undefined });
  await askAgain(context);
}

async function waitForRepair(
  { stages }: StepContext,
  refusal: Refusal,
  failing: Failing,
): Promise<never> {
  const { name, why, data } = refusal;
  const { recorded } = stages;
  const passed = { ...recorded.passed, [FAILING]: { found: failing } };
  await stages.rewrite({ ...recorded, passed });
  const until = new Date(failing.since + MAX_UNPROVED_MS).toISOString();
  const message = `${why} Writes stay frozen until ${until}; then they are opened without a proof.`;
  throw new Refusal(name, message, { data, cause: refusal });
}

interface Unproved {
  readonly refusal: Refusal;
  readonly plan: Return;
  readonly failing: Failing;
}

/**
 * Opens writes on the collection that was active when the rollback began, or on its restored snapshot if that collection is gone.
 * @throws Paused to restore it first
 */
async function openSomewhere(
  context: StepContext,
  { refusal, plan, failing }: Unproved,
): Promise<End> {
  const { services, run, note, stages } = context;
  const beganOnNew = wasOpened(run) || plan.mayHaveLeaked;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    return { refused: toRefused(refusal), leftFor: plan.returnTo };
  }
  // Gone or empty: the old version creates an empty collection when it starts.
  const isGone = refusal.name === NOTHING_LEFT;
  const restoring = isGone && !plan.restores ? await planRestore(services, run) : undefined;
  if (restoring) {
    // The stages of the restore are no repair: the time goes on.
    const { since } = failing;
    await stages.rewrite(beginJournal(restoring, { failing: { since }, isFrozen: true }));
    throw outOfTime();
  }
  return { to: isGone ? run.plan.sourceCollection : plan.returnTo, unproved: refusal.why };
}

/** After a refusal, the next attempt makes a new request: a hook may repeat its response to the same one. */
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
