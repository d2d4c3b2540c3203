// The switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them behind.
// Until the setting changes, users stay on the new version: a rollback that is refused opens writes there again.
import { notNow, rollbackEnded } from '../moves.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import {
  type Journal,
  NOTHING_RECORDED,
  openJournal,
  type RecordedJournal,
} from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import { hasSwitched, type Run, wasOpened, wentLive, windowOf, withServed } from '../runs/run.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  restoredCollectionOf,
} from '../runs/run-names.ts';
import {
  type Outcome,
  outOfTime,
  type Step,
  type StepContext,
  type StepRequest,
} from '../runs/step.ts';
import { DAY_MS, isOpened, retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections, removeOwn, tidyUp } from './clean-up.ts';
import { askAgain } from './external-action.ts';
import { forecastReturn, planLastResort, planRestore, planReturn } from './return-target.ts';
import { readSwitchJournal } from './stored-checkpoints.ts';
import { openUnproved, stayOnNew, switchBack } from './switch.ts';
import { assertSettingKnown, MAX_UNPROVED_MS } from './switch-back.ts';
import {
  addNotes,
  beginAgain,
  beginRollback,
  collectFacts,
  findReturnCollection,
  markFrozen,
  measureParts,
  type Notes,
  readNotes,
  readSwitch,
} from './switch-journal.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: async (request) => {
    assertRetained(request.services, request.run);
    return await forecastReturn(request);
  },
  guard: async (approach) => {
    const { services, run, input, save } = approach;
    assertRetained(services, run);
    if (input.actor === 'machine') assertNotOpened(services, run);
    // The old collection was never left.
    if (!hasSwitched(run)) return await save(NOTHING_RECORDED);
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const notes = await planReturn(approach).then(
      (plan): Notes => ({ plan }),
      (error: unknown) => planToOpen(approach, error),
    );
    const begun = beginRollback(notes);
    // A window that has not ended has frozen writes.
    await save(run.phase === 'switching' ? markFrozen(begun) : begun);
  },
  mayBeLate: 'always',
  work: async (context) => {
    const { checkpoint, save } = context;
    const stages = openJournal(context, { recorded: readSwitchJournal(checkpoint?.state), save });
    const { plan, refused, unproved } = readNotes(stages.recorded);
    try {
      if (refused) return await stay(context, stages);
      if (unproved) await openUnproved(context, stages, unproved);
      else await switchBack(context, stages, plan);
      return await conclude(context, stages.recorded);
    } catch (error) {
      if (!(error instanceof Refusal) || context.signal.aborted) throw error;
      return await endRefused(context, stages, error);
    }
  },
};

/** The window is long over, users cannot write, and no collection to return to was found: begins anyway, to open writes. */
async function planToOpen({ services, run }: StepRequest, error: unknown): Promise<Notes> {
  const { deadlineAt = Number.POSITIVE_INFINITY } = run.window ?? {};
  const isLate = services.clock().getTime() >= deadlineAt + MAX_UNPROVED_MS;
  const isWaitedFor = run.phase === 'switching' && isLate;
  if (!isWaitedFor || !isRefusal(error, 'RefusedNothingToReturnTo')) throw error;
  return { plan: await planLastResort(services, run), failingSince: deadlineAt };
}

/** Before the setting has changed, users stay on the new version. Later the rollback has to end. */
async function endRefused(context: StepContext, stages: Journal, error: Refusal): Promise<Outcome> {
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
  if (!staysOnNew) return await endUnproved(context, stages, { error, passed });
  // Requests made from here on are new ones, so this precedes the record that has them made.
  await askAgain(context);
  await stages.rewrite(addNotes(stages.recorded, toRefusedNote(error)));
  return await stay(context, stages);
}

function toRefusedNote({ name, why, data }: Refusal): Pick<Notes, 'refused'> {
  return { refused: { name, why, data } };
}

/**
 * Gives a refusal that keeps writes frozen time to be repaired. A repair after which more stages pass gives the next refusal its
 * own time.
 * @throws Refusal until that time is over
 */
async function endUnproved(
  context: StepContext,
  stages: Journal,
  { error, passed }: { readonly error: Refusal; readonly passed: number },
): Promise<Outcome> {
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
  return await openAnywhere(context, stages, error);
}

/** On the collection that was active when the rollback began; if that is the one that is gone, on its restored snapshot. */
async function openAnywhere(
  context: StepContext,
  stages: Journal,
  error: Refusal,
): Promise<Outcome> {
  const { services, run, note } = context;
  const notes = readNotes(stages.recorded);
  const { plan, failingSince } = notes;
  const beganOnNew = wasOpened(run) || plan?.mayHaveLeaked === true;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    await stages.rewrite(addNotes(markFrozen(stages.recorded), toRefusedNote(error)));
    return await stay(context, stages);
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
  await stages.rewrite(addNotes(stages.recorded, { unproved }));
  await openUnproved(context, stages, unproved);
  return await conclude(context, stages.recorded);
}

function assertRetained({ clock }: Services, run: Run): void {
  const retainUntil = run.window?.retainUntil;
  if (retainUntil === undefined || !retentionOf(run, clock()).isOver) return;
  throw rollbackEnded(retainUntil);
}

/** In which users may be in already: what failed is repeated until it ends. */
function assertNotOpened({ clock }: Services, run: Run): void {
  if (run.window?.stays) {
    const why = `Users stay on ${liveCollectionOf(run)}, as no rollback was proved in time. Find out what it was refused for, then roll back by hand.`;
    throw notNow(why);
  }
  if (!isOpened(run, clock())) return;
  throw notNow('Users may be on the new version: the cutover is repeated until the window ends.');
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

async function stay(context: StepContext, stages: Journal): Promise<Outcome> {
  const { run } = context;
  await stayOnNew(context, stages);
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not come to its end continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  const { refused } = readNotes(stages.recorded);
  const { name = 'RefusedNothingToReturnTo', why = '', data = {} } = refused ?? {};
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function conclude(context: StepContext, journal: RecordedJournal): Promise<Outcome> {
  const { run } = context;
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
    ...(isServed && { served: withServed(run, served, until) }),
    ...(takesNoWindow !== undefined && { takesNoWindow }),
  };
  const window = await readSwitch(context.services, run.runId, 'cutover');
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
