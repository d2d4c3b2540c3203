// The rollback: the switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them
// behind. The rollback follows notes that were made before it began (return-target.ts); a refusal changes the notes. Before the
// setting has changed, a refused rollback leaves users on the new version, and opens writes there again. Afterwards, a refusal
// keeps writes frozen for a limited time, in which it can be repaired; then they are opened where users find most of their memories.
import * as v from 'valibot';
import { measureParts } from '../forecast.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import {
  collectFacts,
  NOTHING_RECORDED,
  outOfTime,
  type RecordedJournal,
  readJournal,
} from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import {
  addServed,
  hasSwitched,
  type Run,
  refusedSchema,
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
  returnSchema,
} from './return-target.ts';
import { FREEZING, openUnproved, stayOnNew, switchBack } from './switch.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: forecastReturn,
  guard: async (context) => {
    const { services, run, keep } = context;
    // Users never left the old collection.
    if (!hasSwitched(run)) return void (await keep(NOTHING_RECORDED));
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const begun = beginRollback(await decideReturn(context));
    // A window that has not ended has frozen writes.
    await keep(run.phase === 'switching' ? markFrozen(begun) : begun);
  },
  work: async (context) => {
    const stayed = await followNotes(context).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || context.signal.aborted) throw error;
      await noteRefusal(context, error);
      return await followNotes(context);
    });
    return stayed ?? (await finish(context));
  },
};

/** @returns the outcome if users stay on the new version */
async function followNotes(context: StepContext): Promise<Outcome | undefined> {
  const { plan, refused, unproved } = readNotes(context.stages.recorded);
  if (refused) return await stay(context, refused);
  if (unproved) await openUnproved(context, unproved);
  else await switchBack(context, plan);
  return undefined;
}

async function stay(
  context: StepContext,
  { name, why, data }: NonNullable<Notes['refused']>,
): Promise<Outcome> {
  const { run, stages } = context;
  const { passed } = stages.recorded;
  const notes = readNotes(stages.recorded);
  const mayHaveLeft = 'setting-changed' in passed || notes.failingSince !== undefined;
  const leftFor = mayHaveLeft ? findReturnCollection(run, notes) : undefined;
  if (FREEZING in passed) await stayOnNew(context, leftFor);
  const message = `Remove the restored collection ${restoredCollectionOf(run)} by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not finished continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function finish(context: StepContext): Promise<Outcome> {
  const { run } = context;
  const { recorded: journal } = context.stages;
  const to = findReturnCollection(run, readNotes(journal));
  const { points: _, ...found } = collectFacts(journal);
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
  const facts = { returnedTo: to, leftBehind: 0, ...found };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = computeRetention(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(run, journal, isServed);
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
function whyNoWindow(run: Run, journal: RecordedJournal, isServed: boolean): string | undefined {
  const notes = readNotes(journal);
  const { plan, unproved } = notes;
  const to = findReturnCollection(run, notes);
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && plan?.way !== 'carry')
    return `${live} has writes that were left behind`;
  if (collectFacts(journal).comparedByHand) return `${live} has writes that were not carried over`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}

/**
 * Notes a refusal. Before the setting has changed, users stay on the new version. Afterwards the rollback has to end: the notes
 * then say where writes are opened.
 * @throws Refusal while it can be repaired
 */
async function noteRefusal(context: StepContext, error: Refusal): Promise<void> {
  const { stages } = context;
  const passed = Object.keys(stages.recorded.passed).length;
  const isStillNew = isRefusal(error, 'RefusedStillNewVersion');
  const staysOnNew = isStillNew || (await isOnNew(context, stages.recorded));
  if (isRefusal(error, 'RefusedNothingToReturnTo')) {
    const { plan } = readNotes(stages.recorded);
    // After the restore, writes since the snapshot must be carried over again. A restored snapshot lacks memories that no user
    // deleted, so the last common version does not apply to it, neither in this rollback nor later.
    const carries = plan?.way === 'carry' && { plan: { ...plan, beginsBase: true } };
    await stages.rewrite(addNotes(restartStages(stages.recorded), carries || {}));
    if (carries) await context.note({ base: undefined });
    await askAgain(context);
  }
  if (!staysOnNew) return await noteUnproved(context, { error, passed });
  // Must precede the record: requests made after it are new ones.
  await askAgain(context);
  await stages.rewrite(addNotes(stages.recorded, { refused: toRefused(error) }));
}

/**
 * Gives the operator time to repair the cause of a refusal while writes stay frozen. If more stages pass after a repair, the next
 * refusal has its own time.
 * @throws Refusal until that time is over
 */
async function noteUnproved(
  context: StepContext,
  { error, passed }: { readonly error: Refusal; readonly passed: number },
): Promise<void> {
  const { stages } = context;
  if ('opened' in stages.recorded.passed) throw error;
  const now = context.services.clock().getTime();
  const { failingSince: before, failingAfter } = readNotes(stages.recorded);
  const isNew = before === undefined || (failingAfter !== undefined && passed > failingAfter);
  const failingSince = isNew ? now : before;
  const notes = isNew ? { failingSince, failingAfter: passed } : {};
  await stages.rewrite(addNotes(stages.recorded, notes));
  if (now - failingSince < MAX_UNPROVED_MS) {
    const { name, why, data } = error;
    const until = new Date(failingSince + MAX_UNPROVED_MS).toISOString();
    const message = `${why} Writes stay frozen until ${until}; then they are opened without a proof.`;
    throw new Refusal(name, message, { data, cause: error });
  }
  // The same action on another collection is a new request.
  await askAgain(context);
  await noteWhereToOpen(context, error);
}

/** Chooses the collection that was active when the rollback began, or its restored snapshot if that collection is gone. */
async function noteWhereToOpen(context: StepContext, error: Refusal): Promise<void> {
  const { services, run, note, stages } = context;
  const notes = readNotes(stages.recorded);
  const { plan, failingSince } = notes;
  const beganOnNew = wasOpened(run) || plan?.mayHaveLeaked === true;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    const refused = toRefused(error);
    return await stages.rewrite(addNotes(markFrozen(stages.recorded), { refused }));
  }
  // Gone or empty: the old version creates an empty collection when it starts.
  const isGone = isRefusal(error, 'RefusedNothingToReturnTo');
  const restorePlan = isGone && !plan?.restores ? await planRestore(services, run) : undefined;
  if (restorePlan) {
    await stages.rewrite(beginRollback({ plan: restorePlan, failingSince }));
    throw outOfTime();
  }
  const to = isGone ? run.plan.sourceCollection : findReturnCollection(run, notes);
  const unproved = { to, why: error.why };
  await stages.rewrite(addNotes(stages.recorded, { unproved, refused: undefined }));
}

/** True if users worked on the new version, and the setting still names its collection. */
async function isOnNew(
  { services, run }: StepContext,
  { passed }: RecordedJournal,
): Promise<boolean> {
  // In place the setting may stay the same.
  if ('setting-changed' in passed) return false;
  return wasOpened(run) && (await services.setting.read()) === liveCollectionOf(run);
}

const notesSchema = v.object({
  /** Undefined if users never left the old collection */
  plan: v.optional(returnSchema),
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  failingSince: v.optional(v.number()),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  failingAfter: v.optional(v.number()),
  /** Set if users stay on the new version: the refusal of the rollback */
  refused: v.optional(refusedSchema),
  /** Set if writes are opened without a proof: on this collection */
  unproved: v.optional(v.object({ to: v.string(), why: v.string() })),
});

/** Decisions about a rollback, which hold for every stage and survive repeated stages */
type Notes = v.InferOutput<typeof notesSchema>;

function readNotes({ noted = {} }: RecordedJournal): Notes {
  return v.parse(notesSchema, noted);
}

/** Collection that a rollback takes users to */
function findReturnCollection({ plan }: Pick<Run, 'plan'>, notes: Notes): string {
  return notes.unproved?.to ?? notes.plan?.returnTo ?? plan.sourceCollection;
}

function addNotes(journal: RecordedJournal, notes: Notes): RecordedJournal {
  return { ...journal, noted: { ...journal.noted, ...notes } };
}

/** The first record of a rollback. If an earlier attempt has failed, writes are frozen already. */
function beginRollback(notes: Notes): RecordedJournal {
  const begun = { ...NOTHING_RECORDED, noted: notes };
  return notes.failingSince === undefined ? begun : markFrozen(begun);
}

function markFrozen({ passed, ...journal }: RecordedJournal): RecordedJournal {
  return { ...journal, passed: { ...passed, [FREEZING]: {} } };
}

/** Repeats every stage except the freeze, beginning with the restore of a snapshot: writes may have been opened since. */
function restartStages({ passed, noted = {} }: RecordedJournal): RecordedJournal {
  const { [FREEZING]: begun } = passed;
  return { passed: begun ? { [FREEZING]: begun } : {}, noted };
}
