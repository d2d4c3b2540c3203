// The rollback: the switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them
// behind. Before the setting has changed, a refused rollback leaves users on the new version, and opens writes there again.
// Afterwards, a refusal keeps writes frozen for a limited time, in which it can be repaired; then they are opened where users find
// most of their memories. The journal has the plan (return-target.ts), the stages of the way back (switch.ts), and where it ended.
import * as v from 'valibot';
import { measureParts } from '../forecast.ts';
import { Refusal } from '../refusals.ts';
import {
  collectFacts,
  outOfTime,
  type RecordedJournal,
  readJournal,
  stagesOf,
} from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import {
  addServed,
  hasSwitched,
  type Run,
  toRefused,
  wasOpened,
  wentLive,
  windowOf,
} from '../runs/run.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  restoredCollectionOf,
} from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { askAgain, assertSettingKnown } from './backend-actions.ts';
import { removeCollections, removeOwn, tidyUp } from './clean-up.ts';
import {
  decideReturn,
  forecastReturn,
  MAX_UNPROVED_MS,
  planRestore,
  type Return,
  returnSchema,
  stayOnOld,
} from './return-target.ts';
import { FREEZING, openUnproved, stayOnNew, switchBack } from './switch.ts';

/** The end of the way back */
type End =
  /** Users are sent to that collection; `unproved` tells why nothing proves that they find their memories there. */
  | { readonly to: string; readonly unproved?: string }
  /** Users stay on the new version. `leftFor` is the collection that the backend may already work on. */
  | { readonly refused: NonNullable<Run['refused']>; readonly leftFor?: string | undefined };

export const rollback: Step = {
  command: 'rollback',
  forecast: forecastReturn,
  work: async (context) => {
    await context.begin(() => plan(context));
    const end = await context.stages.once<End>(END, () => goBack(context));
    if ('refused' in end) return await askAgainIfRefused(context, () => stay(context, end));
    const { to, unproved } = end;
    if (unproved !== undefined) {
      await askAgainIfRefused(context, () => openUnproved(context, { to, why: unproved }));
    }
    return await finish(context, end);
  },
};

/** After a refusal, the next attempt makes a new request: a hook may repeat its response to the same one. */
async function askAgainIfRefused<Result>(
  context: StepContext,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refusal && !context.signal.aborted) await askAgain(context);
    throw error;
  }
}

/** Records the plan as the beginning of the journal. */
async function plan(context: StepContext): Promise<Record<string, never>> {
  await context.stages.rewrite(await planJournal(context));
  return {};
}

async function planJournal(context: StepContext): Promise<RecordedJournal> {
  const { services, run } = context;
  if (run.phase === 'live') await assertSettingKnown(services, run);
  const { plan, failingSince: since } = await decideReturn(context);
  const failing = since === undefined ? undefined : { since };
  // A window that has not ended has frozen writes.
  return beginJournal(plan, { failing, isFrozen: run.phase === 'switching' });
}

/** @throws Refusal while its cause can be repaired */
async function goBack(context: StepContext): Promise<End> {
  const plan = readPlan(context);
  try {
    await switchBack(context, plan);
    return { to: plan.returnTo };
  } catch (error) {
    if (!(error instanceof Refusal) || context.signal.aborted) throw error;
    return await endRefused(context, error, plan);
  }
}

/**
 * Before the setting has changed, users stay on the new version. Afterwards the rollback has to end: writes are opened on the
 * collection that was active when it began, or on its restored snapshot if that collection is gone.
 * @throws Refusal while it can be repaired
 */
async function endRefused(context: StepContext, refusal: Refusal, plan: Return): Promise<End> {
  const { returnTo: to } = plan;
  const { services, run, note, stages } = context;
  const isGone = refusal.name === 'RefusedNothingToReturnTo';
  const isStillNew = refusal.name === 'RefusedStillNewVersion' || (await isOnNew(context));
  const before = stages.recorded;
  if (isGone) await startOver(context, plan);
  if (isStillNew) {
    await askAgain(context);
    const mayHaveLeft = 'setting-changed' in before.passed || FAILING in before.passed;
    return { refused: toRefused(refusal), ...(mayHaveLeft && { leftFor: to }) };
  }
  if ('opened' in stages.recorded.passed) throw refusal;
  const failing = await waitForRepair(context, refusal, before);
  // The same action on another collection is a new request.
  await askAgain(context);
  const beganOnNew = wasOpened(run) || plan.mayHaveLeaked;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    return { refused: toRefused(refusal), leftFor: to };
  }
  // Gone or empty: the old version creates an empty collection when it starts.
  const restorePlan = isGone && !plan.restores ? await planRestore(services, run) : undefined;
  if (restorePlan) {
    // The stages of the restore are no repair: the time goes on.
    const { since } = failing;
    await stages.rewrite(beginJournal(restorePlan, { failing: { since }, isFrozen: true }));
    throw outOfTime();
  }
  return { to: isGone ? run.plan.sourceCollection : to, unproved: refusal.why };
}

/** True if users worked on the new version, and the setting still names its collection. */
async function isOnNew({ services, run, stages }: StepContext): Promise<boolean> {
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
  const { passed } = stages.recorded;
  const carries = plan.way === 'carry';
  const failing = readFailing(stages.recorded);
  const again = carries ? { ...plan, beginsBase: true } : plan;
  await stages.rewrite(beginJournal(again, { failing, isFrozen: FREEZING in passed }));
  if (carries) await note({ base: undefined });
  await askAgain(context);
}

/**
 * Gives the operator time to repair the cause of a refusal while writes stay frozen. If more stages pass after a repair, the next
 * refusal has its own time.
 * @throws Refusal until that time is over
 */
async function waitForRepair(
  { services, stages }: StepContext,
  refusal: Refusal,
  before: RecordedJournal,
): Promise<Failing> {
  const passed = Object.keys(stagesOf(before)).length;
  const now = services.clock().getTime();
  const known = readFailing(before);
  const isNew = !known || (known.after !== undefined && passed > known.after);
  const failing = isNew ? { since: now, after: passed } : known;
  const { recorded } = stages;
  await stages.rewrite({
    ...recorded,
    passed: { ...recorded.passed, [FAILING]: { found: failing } },
  });
  const until = failing.since + MAX_UNPROVED_MS;
  if (now >= until) return failing;
  const { name, why, data } = refusal;
  const message = `${why} Writes stay frozen until ${new Date(until).toISOString()}; then they are opened without a proof.`;
  throw new Refusal(name, message, { data, cause: refusal });
}

async function stay(
  context: StepContext,
  { refused: { name, why, data }, leftFor }: Extract<End, { readonly refused: unknown }>,
): Promise<Outcome> {
  const { run, stages } = context;
  const isFrozen = FREEZING in stages.recorded.passed || leftFor !== undefined;
  if (isFrozen) await stayOnNew(context, leftFor);
  const message = `Remove the restored collection ${restoredCollectionOf(run)} by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not finished continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  return { phase, refusal: new Refusal(name, why, { data }) };
}

type Returned = Extract<End, { readonly to: string }>;

async function finish(context: StepContext, end: Returned): Promise<Outcome> {
  const { run } = context;
  const { points: _, ...found } = collectFacts(context.stages.recorded);
  const isServed = wasOpened(run) || found.leakedWrites !== undefined;
  const served = isServed ? liveCollectionsOf(run) : [];
  const message = 'Remove the collections and the snapshot of the run by hand';
  const except = [...served, ...builtCollectionsOf(run)];
  let { hasUploaded } = run;
  await tidyUp(context, message, async () => {
    await removeOwn(context, { except });
    // From now on, a collection of that name belongs to another program.
    hasUploaded = hasUploaded && isServed;
  });
  const facts = { returnedTo: end.to, leftBehind: 0, ...found };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = computeRetention(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(context, end, isServed);
  const changes = {
    hasUploaded,
    ...(isServed && { served: addServed(run, served, until) }),
    ...(takesNoWindow !== undefined && { takesNoWindow }),
  };
  const window = await readJournal(context.services, run.runId, 'cutover');
  const took = window ? measureParts(window) : {};
  return { evidence, changes, took };
}

/** The report is kept as long as the run's other artifacts, and at least for the plan's retention period from now on. */
function computeRetention({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** Why the run can only be aborted: the next copy would remove writes that only the new collection has. */
function whyNoWindow(
  context: StepContext,
  { to, unproved }: Returned,
  isServed: boolean,
): string | undefined {
  const { run, stages } = context;
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && readPlan(context).way !== 'carry')
    return `${live} has writes that were left behind`;
  const { comparedByHand } = collectFacts(stages.recorded);
  if (comparedByHand) return `${live} has writes that were not carried over`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}

// Decisions in the journal, beside the stages of switch.ts
const PLAN = '#plan';
const FAILING = '#failing';
const END = '#end';

const failingSchema = v.object({
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  since: v.number(),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  after: v.optional(v.number()),
});

type Failing = v.InferOutput<typeof failingSchema>;

/** The first record of a way back. Writes may be frozen already. */
function beginJournal(
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
function readPlan({ run, stages: { recorded } }: StepContext): Return {
  const found = recorded.passed[PLAN]?.found;
  return found === undefined && !hasSwitched(run) ? stayOnOld(run) : v.parse(returnSchema, found);
}

function readFailing({ passed }: RecordedJournal): Failing | undefined {
  return v.parse(v.optional(failingSchema), passed[FAILING]?.found);
}
