// A rollback that is refused. Until the setting has changed, users stay on the new version, and its writes are opened again. Later
// the refusal keeps writes frozen: it can be repaired for a while, then they are opened wherever users find most of their memories.
import { isRefusal, Refusal } from '../refusals.ts';
import { type Facts, outOfTime, type RecordedJournal } from '../runs/journal.ts';
import { wasOpened, wentLive, windowOf } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { Outcome, StepContext, StepRequest } from '../runs/step.ts';
import { MINUTE_MS } from '../runs/times.ts';
import { removeCollections, tidyUp } from './clean-up.ts';
import { activate, deployAgain } from './deployment.ts';
import { askAgain, waitForAction } from './external-action.ts';
import {
  addNotes,
  beginAgain,
  beginRollback,
  FREEZING,
  findReturnCollection,
  markFrozen,
  type Notes,
  planLastResort,
  planRestore,
  readNotes,
} from './return-target.ts';
import { assertOpen } from './write-freeze.ts';

/** How long a refusal may keep writes frozen: then they are opened without a proof. */
const MAX_UNPROVED_MS = 15 * MINUTE_MS;

/** The window is long over, users cannot write, and no collection to return to was found: begins anyway, to open writes. */
export async function planToOpen({ services, run }: StepRequest, error: unknown): Promise<Notes> {
  const { deadlineAt = Number.POSITIVE_INFINITY } = run.window ?? {};
  const isLate = services.clock().getTime() >= deadlineAt + MAX_UNPROVED_MS;
  const isWaitedFor = run.phase === 'switching' && isLate;
  if (!isWaitedFor || !isRefusal(error, 'RefusedNothingToReturnTo')) throw error;
  return { plan: await planLastResort(services, run), failingSince: deadlineAt };
}

/**
 * Before the setting has changed, users stay on the new version. Later the rollback has to end.
 * @returns undefined once writes are open without a proof, and the rollback can be concluded
 * @throws Refusal while it can be repaired
 */
export async function endRefused(
  context: StepContext,
  error: Refusal,
): Promise<Outcome | undefined> {
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
  if (!staysOnNew) return await endUnproved(context, { error, passed });
  // Requests made from here on are new ones, so this precedes the record that has them made.
  await askAgain(context);
  await stages.rewrite(addNotes(stages.recorded, toRefusedNote(error)));
  return await stay(context);
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
  { error, passed }: { readonly error: Refusal; readonly passed: number },
): Promise<Outcome | undefined> {
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
  return await openAnywhere(context, error);
}

/** On the collection that was active when the rollback began; if that is the one that is gone, on its restored snapshot. */
async function openAnywhere(context: StepContext, error: Refusal): Promise<Outcome | undefined> {
  const { services, run, note, stages } = context;
  const notes = readNotes(stages.recorded);
  const { plan, failingSince } = notes;
  const beganOnNew = wasOpened(run) || plan?.mayHaveLeaked === true;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    await stages.rewrite(addNotes(markFrozen(stages.recorded), toRefusedNote(error)));
    return await stay(context);
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
  await openUnproved(context, unproved);
  return undefined;
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

export async function stay(context: StepContext): Promise<Outcome> {
  const { run, stages } = context;
  await stayOnNew(context);
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not come to its end continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  const { refused } = readNotes(stages.recorded);
  const { name = 'RefusedNothingToReturnTo', why = '', data = {} } = refused ?? {};
  return { phase, refusal: new Refusal(name, why, { data }) };
}

/** After a rollback that was refused: users stay on the new version. */
async function stayOnNew(context: StepContext): Promise<void> {
  const { stages } = context;
  const { passed } = stages.recorded;
  if (!(FREEZING in passed)) return;
  const notes = readNotes(stages.recorded);
  if ('setting-changed' in passed || notes.failingSince !== undefined) {
    const to = findReturnCollection(context.run, notes);
    await stages.once('setting-restored', restoreSetting);
    await stages.once('deployed-again', (context) => deployAgain(context, to));
  }
  await stages.once('opened-again', openAgain);
}

/** After a rollback of which nothing could be proved in time: users can write again. */
export async function openUnproved(
  context: StepContext,
  unproved: NonNullable<Notes['unproved']>,
): Promise<void> {
  await context.stages.once('opened', () => openWithoutProof(context, unproved));
}

/** Opens writes when nothing could be proved in time. */
async function openWithoutProof(
  context: StepContext,
  { to, why }: { readonly to: string; readonly why: string },
): Promise<Facts> {
  const { setting, log } = context.services;
  await activate(context, { from: await setting.read(), to });
  await waitForAction(context, 'open-writes', to);
  const lookAt = `whether the backend works on ${to}, and whether users find their memories`;
  const message = 'Writes were opened without a proof';
  log({ level: 'WARN', message, runId: context.run.runId, lookAt, why });
  return { oldVersion: 'unproved', lookAt };
}

async function restoreSetting(context: StepContext): Promise<void> {
  const { services, run } = context;
  await activate(context, { from: await services.setting.read(), to: liveCollectionOf(run) });
}

async function openAgain(context: StepContext): Promise<void> {
  const collections = liveCollectionsOf(context.run);
  await waitForAction(context, 'open-writes', collections[0]);
  await assertOpen(context, collections);
}
