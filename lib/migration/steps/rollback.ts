// The rollback: the switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them behind.
// It follows what was decided and noted before it began (return-target.ts); a refusal changes the notes. Until the setting has
// changed, users stay on the new version, and its writes are opened again. Later a refusal keeps writes frozen: it can be repaired
// for a while, then they are opened wherever users find most of their memories.
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
    // The old collection was never left.
    if (!hasSwitched(run)) return void (await keep(NOTHING_RECORDED));
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const begun = beginRollback(await decideReturn(context));
    // A window that has not ended has frozen writes.
    await keep(run.phase === 'switching' ? markFrozen(begun) : begun);
  },
  work: async (context) => {
    const stayed = await follow(context).catch(async (error: unknown) => {
      if (!(error instanceof Refusal) || context.signal.aborted) throw error;
      await noteRefusal(context, error);
      return await follow(context);
    });
    return stayed ?? (await conclude(context));
  },
};

/** Follows the notes. @returns the outcome where users stay on the new version */
async function follow(context: StepContext): Promise<Outcome | undefined> {
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
  const leaving = mayHaveLeft ? findReturnCollection(run, notes) : undefined;
  if (FREEZING in passed) await stayOnNew(context, leaving);
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not come to its end continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function conclude(context: StepContext): Promise<Outcome> {
  const { run } = context;
  const { recorded: journal } = context.stages;
  const to = findReturnCollection(run, readNotes(journal));
  const { points: _, ...found } = collectFacts(journal);
  const isServed = wasOpened(run) || found.leakedWrites !== undefined;
  const served = isServed ? liveCollectionsOf(run) : [];
  const message = 'What the run has left on the store is to be removed by hand';
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

/** The report is kept as long as the run's other artifacts, and at least as long as artifacts kept from today on. */
function computeRetention({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** The next copy would remove from the new collection what only it has; undefined where there is nothing. */
function whyNoWindow(run: Run, journal: RecordedJournal, isServed: boolean): string | undefined {
  const notes = readNotes(journal);
  const { plan, unproved } = notes;
  const to = findReturnCollection(run, notes);
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && plan?.way !== 'carry')
    return `${live} has writes that were left behind`;
  if (collectFacts(journal).comparedByHand) return `${live} has writes that did not come along`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}

/**
 * Before the setting has changed, users stay on the new version. Later the rollback has to end: notes where writes are opened.
 * @throws Refusal while it can be repaired
 */
async function noteRefusal(context: StepContext, error: Refusal): Promise<void> {
  const { stages } = context;
  const passed = Object.keys(stages.recorded.passed).length;
  const hasTurned = isRefusal(error, 'RefusedStillNewVersion');
  const staysOnNew = hasTurned || (await isOnNew(context, stages.recorded));
  if (isRefusal(error, 'RefusedNothingToReturnTo')) {
    const { plan } = readNotes(stages.recorded);
    // After the restore, writes since the snapshot must be carried over again. A restored snapshot lacks memories that no user
    // deleted, so the last common version does not apply to it: neither in this rollback, nor in what follows a refused one.
    const carries = plan?.way === 'carry' && { plan: { ...plan, beginsBase: true } };
    await stages.rewrite(addNotes(beginAgain(stages.recorded), carries || {}));
    if (carries) await context.note({ base: undefined });
    await askAgain(context);
  }
  if (!staysOnNew) return await noteUnproved(context, { error, passed });
  // Requests made from here on are new ones, so this precedes the record that has them made.
  await askAgain(context);
  await stages.rewrite(addNotes(stages.recorded, { refused: toRefused(error) }));
}

/**
 * Gives a refusal that keeps writes frozen time to be repaired. A repair after which more stages pass gives the next refusal its
 * own time.
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
  const isAnother = before === undefined || (failingAfter !== undefined && passed > failingAfter);
  const failingSince = isAnother ? now : before;
  const failing = isAnother ? { failingSince, failingAfter: passed } : {};
  await stages.rewrite(addNotes(stages.recorded, failing));
  if (now - failingSince < MAX_UNPROVED_MS) {
    const { name, why, data } = error;
    const until = new Date(failingSince + MAX_UNPROVED_MS).toISOString();
    const message = `${why} Writes stay frozen until ${until}; then they are opened without a proof.`;
    throw new Refusal(name, message, { data, cause: error });
  }
  // On another collection, what was asked for before is another request.
  await askAgain(context);
  await noteWhereToOpen(context, error);
}

/** On the collection that was active when the rollback began; if that is the one that is gone, on its restored snapshot. */
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
  // Gone, or empty: the old version makes an empty one when it starts.
  const isGone = isRefusal(error, 'RefusedNothingToReturnTo');
  const another = isGone && !plan?.restores ? await planRestore(services, run) : undefined;
  if (another) {
    await stages.rewrite(beginRollback({ plan: another, failingSince }));
    throw outOfTime();
  }
  const to = isGone ? run.plan.sourceCollection : findReturnCollection(run, notes);
  const unproved = { to, why: error.why };
  await stages.rewrite(addNotes(stages.recorded, { unproved, refused: undefined }));
}

/** True if users worked on the new version, and it is the version that is deployed. */
async function isOnNew(
  { services, run }: StepContext,
  { passed }: RecordedJournal,
): Promise<boolean> {
  // In place the setting may stay the same.
  if ('setting-changed' in passed) return false;
  return wasOpened(run) && (await services.setting.read()) === liveCollectionOf(run);
}

const notesSchema = v.object({
  /** Undefined if the old collection was never left. */
  plan: v.optional(returnSchema),
  /** Time of the first refusal that keeps writes frozen, until a repair lets more stages pass */
  failingSince: v.optional(v.number()),
  /** Number of stages that had passed at that refusal; unknown if users have waited since before the rollback */
  failingAfter: v.optional(v.number()),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
  /** Writes are opened there without a proof. */
  unproved: v.optional(v.object({ to: v.string(), why: v.string() })),
});

/** Decisions about a rollback: they hold for every stage, and are kept when stages are repeated. */
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

/** The first record of a rollback. Where one has failed before, writes are frozen already. */
function beginRollback(notes: Notes): RecordedJournal {
  const begun = { ...NOTHING_RECORDED, noted: notes };
  return notes.failingSince === undefined ? begun : markFrozen(begun);
}

function markFrozen({ passed, ...journal }: RecordedJournal): RecordedJournal {
  return { ...journal, passed: { ...passed, [FREEZING]: {} } };
}

/** Writes may have been opened since: repeats every stage except the freeze, beginning with the restore of a snapshot. */
function beginAgain({ passed, noted = {} }: RecordedJournal): RecordedJournal {
  const { [FREEZING]: begun } = passed;
  return { passed: begun ? { [FREEZING]: begun } : {}, noted };
}
