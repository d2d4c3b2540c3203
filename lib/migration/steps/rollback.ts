// Goes back to the old version. No write is lost while the old collection is there: it is made equal to the new one
// first. Else its snapshot is restored, and later writes are lost, to the number that the operator has acknowledged.
// Until the setting changes, users stay on the new version: a rollback that is refused opens writes there again.
import * as v from 'valibot';
import { rollbackEnded } from '../moves.ts';
import { changedSetting } from '../ports/collection-setting.ts';
import { faultsIn, RECONCILE_START, type ReconcileCheckpoint } from '../reconcile.ts';
import { isRefusal, Refusal, type RefusalName } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Progress, Run } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf, restoredCollectionOf } from '../runs/run-names.ts';
import { takeStages } from '../runs/stages.ts';
import {
  type Outcome,
  type Step,
  type StepContext,
  type StepRequest,
  waiting,
} from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { keptSnapshotSchema, restoreSnapshot, restoringEntries } from '../snapshots.ts';
import { removeCollections, removeOwn, removeTestWrites, tidyUp } from './clean-up.ts';
import { reconcileInStep, reconcileSettings } from './copy.ts';
import { askAgain, isDoneOutside } from './external-action.ts';
import { assertOpen, lookSchema, proveFrozen } from './freeze.ts';
import { carryOverLateWrites, lateWriteFacts, lateWritesSchema } from './late-writes.ts';
import {
  countLeastLost,
  countLostWrites,
  exportLostWrites,
  type Loss,
  lossSchema,
} from './lost-writes.ts';
import { oldVersionEntries, proveOldVersion } from './old-version.ts';
import { scanCollection } from './recorded-counts.ts';
import { assertRestored, assertStillThere, findRollbackSource } from './rollback-source.ts';

const stateSchema = v.object({
  returnTo: v.string(),
  /** To be restored as that collection. */
  restores: v.optional(keptSnapshotSchema),
  ...restoringEntries,
  /** By the operator who started the rollback; another who continues it need not repeat it. */
  acknowledged: v.number(),
  isFreezing: v.optional(v.boolean()),
  look: v.optional(lookSchema),
  isFrozen: v.optional(v.boolean()),
  /** What was written to the old collection after users had left it. */
  lateWrites: v.optional(lateWritesSchema, {}),
  /** How far the old collection is made equal to the new one. */
  reconciled: v.optional(v.custom<ReconcileCheckpoint>(() => true)),
  loss: v.optional(lossSchema),
  ...oldVersionEntries,
  /** What the new version wrote until it was replaced has come along, too. */
  isLastLookTaken: v.optional(v.boolean()),
  /** Refused: users stay on the new version. */
  refused: v.optional(v.object({ name: v.custom<RefusalName>(() => true), why: v.string() })),
});

type State = v.InferOutput<typeof stateSchema>;

export const rollback: Step = {
  command: 'rollback',
  forecast: async ({ services, run }) => {
    assertRetained(services, run);
    if (run.switchedAt === undefined) {
      return { returnsTo: run.plan.sourceCollection, lostWrites: 0 };
    }
    const { returnTo, restores } = await findRollbackSource(services, run);
    if (!restores) return { returnsTo: returnTo, lostWrites: 0 };
    return {
      returnsTo: returnTo,
      restores: restores.name,
      lostWrites: { atLeast: await countLeastLost(services, run), exactly: UNKNOWN },
    };
  },
  guard: async ({ services, run, input, save }) => {
    assertRetained(services, run);
    // The old collection was never left.
    if (run.switchedAt === undefined) return;
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const source = await findRollbackSource(services, run);
    const { acknowledgedLoss: acknowledged = 0 } = input;
    await save({ ...source, acknowledged, lateWrites: {} } satisfies State);
  },
  onEntering: ({ services }) => ({ rollbackStartedAt: services.clock().getTime() }),
  mayBeLate: 'always',
  work: async (context) => {
    const { run, checkpoint } = context;
    if (run.switchedAt === undefined) {
      const returnTo = run.plan.sourceCollection;
      return await open(context, { returnTo, lateWrites: {} }, { lost: 0 });
    }
    const { save } = context;
    let state = v.parse(stateSchema, checkpoint?.state);
    const keep: Keep = async (reached, progress) => {
      state = { ...state, ...reached };
      await save(state, progress);
      return state;
    };
    try {
      return state.refused ? await stayOnNew(context, state) : await rollBack(context, state, keep);
    } catch (error) {
      if (isRefusal(error, 'RefusedNothingToReturnTo')) {
        // Once it is restored, what users wrote since its snapshot has to come along again.
        await keep(UNSETTLED);
        await askAgain(context);
      }
      if (!(error instanceof Refusal) || !(await isOnNew(context))) throw error;
      const { name, why } = error;
      return await stayOnNew(context, await keep({ refused: { name, why } }));
    }
  },
};

/** Writes may have been opened already, and are frozen again. */
const UNSETTLED: Partial<State> = {
  look: undefined,
  isFrozen: undefined,
  lateWrites: {},
  reconciled: undefined,
  loss: undefined,
  oldVersion: undefined,
  unansweredSince: undefined,
  isLastLookTaken: undefined,
};

type Keep = (reached: Partial<State>, progress?: Progress) => Promise<State>;

const UNKNOWN = 'known once the snapshot is restored; a rollback that would lose more is refused';

function assertRetained(
  { clock }: Services,
  { retainUntil = Number.POSITIVE_INFINITY, overAt }: Run,
): void {
  if (clock().getTime() < retainUntil && overAt === undefined) return;
  throw rollbackEnded(retainUntil);
}

async function rollBack(context: StepContext, begun: State, keep: Keep): Promise<Outcome> {
  const { services, run, renew } = context;
  const { returnTo } = begun;
  let state = begun;
  if (state.restores && state.restored === undefined) {
    const waitSeconds = await restore(context, state, keep);
    if (waitSeconds !== undefined) return waiting('the vector store', waitSeconds);
    await assertRestored(services, run, returnTo);
    // Refused while nobody is kept from writing yet; what is written until then counts again below.
    assertAcknowledged(
      run,
      { lost: await countLostWrites(services, run, returnTo) },
      context,
      state,
    );
  }
  if (!state.isFrozen) {
    state = await keep({ isFreezing: true });
    const wait = await awaitFreeze(context, state, keep);
    if (wait) return wait;
    state = await keep({ isFrozen: true });
  }
  if (keepsWrites(run, state)) {
    const save = async (lateWrites: State['lateWrites']) => void (await keep({ lateWrites }));
    const late = await carryOverLateWrites(context, { from: state.lateWrites, save });
    if (!late.isComplete) return waiting('the vector store', late.waitSeconds);
    state = await keep({ lateWrites: late.state });
  }
  if (!state.loss) {
    const loss = await settle(context, state, keep);
    if (!loss) return waiting('more time', 0);
    state = await keep({ loss });
  }
  if (state.oldVersion === undefined) {
    await removeTestWrites(context, [returnTo]);
    await assertStillThere(context, state);
    await renew();
    await changeSetting(context, returnTo);
    if (!(await isDoneOutside(context, 'deploy-old', returnTo))) return waiting('the webhook');
    const proving = { collection: returnTo, from: state, save: keep };
    state = await keep({ oldVersion: await proveOldVersion(context, proving) });
  }
  if (run.openedAt !== undefined && !state.isLastLookTaken) {
    const loss = await lookAgain(context, state, keep);
    if (!loss) return waiting('more time', 0);
    state = await keep({ loss, isLastLookTaken: true });
  }
  return await open(context, state, state.loss ?? { lost: 0 });
}

/** @returns seconds to wait before it is continued; undefined when it is restored */
async function restore(
  context: StepContext,
  state: State,
  keep: Keep,
): Promise<number | undefined> {
  const stage = restoreSnapshot<State>(state.returnTo, ({ restores }) => restores);
  const save = async (reached: State) => void (await keep(reached));
  const end = await takeStages(context, [stage], { from: state, save });
  return end.isComplete ? undefined : end.waitSeconds;
}

// docs/decisions/automatic-rollback.md: only where users were let in, somebody has to be kept out.
async function awaitFreeze(context: StepContext, state: State, keep: Keep) {
  const collections = liveCollectionsOf(context.run);
  if (!(await isDoneOutside(context, 'freeze', collections[0]))) return waiting('the webhook');
  if (context.run.openedAt === undefined) return undefined;
  const proof = await proveFrozen(context, {
    collections,
    look: state.look,
    remember: async (look) => void (await keep({ look })),
  });
  return 'done' in proof ? proof : undefined;
}

/** Users were let into the new version, and the old collection is there to take their writes. */
function keepsWrites({ openedAt }: Run, { restores }: Pick<State, 'restores'>): boolean {
  return openedAt !== undefined && !restores;
}

/** From here on nobody writes. @returns undefined when time was up */
async function settle(context: StepContext, state: State, keep: Keep): Promise<Loss | undefined> {
  const { services, run } = context;
  await assertStillThere(context, state);
  if (keepsWrites(run, state)) {
    return (await carryWritesBack(context, state, keep)) ? { lost: 0 } : undefined;
  }
  const key = exportKeyOf(run);
  const loss = await exportLostWrites(services, run, { old: state.returnTo, key });
  try {
    assertAcknowledged(run, loss, context, state);
  } catch (error) {
    // Nothing is lost: no copy of users' texts is left behind.
    await services.artifacts.delete(key);
    throw error;
  }
  return loss;
}

function exportKeyOf({ runId, rollbackStartedAt }: Run): string {
  return `${runId}/lost-writes-${rollbackStartedAt}.jsonl`;
}

/**
 * What was written until the old version was deployed. Once only: a program that writes without end would keep users from
 * writing. What is lost of it counts, and cannot be refused any more.
 * @returns undefined when time was up
 */
async function lookAgain(
  context: StepContext,
  state: State,
  keep: Keep,
): Promise<Loss | undefined> {
  const { services, run } = context;
  if (!keepsWrites(run, state)) {
    return await exportLostWrites(services, run, { old: state.returnTo, key: exportKeyOf(run) });
  }
  const isEqual =
    (await isAsReconciled(context, state)) || (await carryWritesBack(context, state, keep));
  return isEqual ? { lost: 0 } : undefined;
}

/** @returns false when time was up */
async function carryWritesBack(context: StepContext, state: State, keep: Keep): Promise<boolean> {
  const names = { from: liveCollectionOf(context.run), to: state.returnTo };
  const settings = await reconcileSettings(context, 'repair', names);
  const { reconciled: before } = state;
  const reached = await reconcileInStep(context, settings, {
    start: before && !before.isComplete ? before : RECONCILE_START,
    save: async (reconciled, progress) => void (await keep({ reconciled }, progress)),
  });
  if (!reached.isComplete) return false;
  const faults = faultsIn(reached.report);
  if (faults.length === 0) return true;
  const why = `${names.to} could not be made equal to ${names.from}: ${faults.join(', ')}.`;
  throw new Refusal('RefusedVerification', why);
}

/** Whether the new collection, where it is still there, is as it was when the old one was made equal to it. */
async function isAsReconciled(
  { services, run }: StepContext,
  { reconciled }: Pick<State, 'reconciled'>,
): Promise<boolean> {
  const live = liveCollectionOf(run);
  if (!reconciled?.isComplete) return false;
  if (!(await services.vectors.collectionExists(live))) return true;
  const { contents } = await scanCollection(services, run, live);
  return contents.digest === reconciled.report.from.digest;
}

/** Where nobody was let in, what is found is exported, and stands in nobody's way. @throws Refusal */
function assertAcknowledged(run: Run, { lost }: Loss, { input }: StepRequest, state: State): void {
  const acknowledged = input.acknowledgedLoss ?? state.acknowledged;
  if (run.openedAt === undefined || lost <= acknowledged) return;
  const writes = `${lost} ${lost === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${acknowledged}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why);
}

/**
 * Before anything is frozen, a setting that somebody else changed is a reason to stop: users may write there.
 * Once writes are frozen it is replaced, whatever it says: nobody writes anywhere, and users wait.
 */
async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (isKnown(run, present)) return;
  throw changedSetting(present, liveCollectionOf(run));
}

async function changeSetting({ services, run }: StepContext, to: string): Promise<void> {
  const { setting, log } = services;
  const present = await setting.read();
  if (!isKnown(run, present) && present !== to) {
    const message = 'Somebody else changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: to });
  }
  await setting.change({ from: present, to });
}

function isKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}

/** Whether users were let into the new version, and it is the one that is deployed. */
async function isOnNew({ services, run }: StepContext): Promise<boolean> {
  return run.openedAt !== undefined && (await services.setting.read()) === liveCollectionOf(run);
}

async function stayOnNew(context: StepContext, { refused, isFreezing }: State): Promise<Outcome> {
  const { run } = context;
  if (isFreezing) {
    if (!(await isDoneOutside(context, 'open-writes', liveCollectionOf(run))))
      return waiting('the webhook');
    await assertOpen(context, liveCollectionsOf(run));
  }
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A cutover that had not come to its end continues.
  const phase = run.liveAt === undefined ? 'switching' : 'live';
  const { name = 'RefusedNothingToReturnTo', why = '' } = refused ?? {};
  return { done: true, phase, refusal: new Refusal(name, why) };
}

async function open(
  context: StepContext,
  state: Pick<State, 'returnTo' | 'restores' | 'lateWrites' | 'reconciled' | 'oldVersion'>,
  loss: Loss,
): Promise<Outcome> {
  const { run } = context;
  const { returnTo, lateWrites, oldVersion } = state;
  await assertStillThere(context, state);
  if (!(await isDoneOutside(context, 'open-writes', returnTo))) return waiting('the webhook');
  // The new collection may be the only copy left: a write would create an empty one in the place of the old.
  await assertStillThere(context, state);
  await assertOpen(context, [returnTo]);
  // Users have written to the old collection since: what came so late can be compared by a person only.
  const isKept = keepsWrites(run, state) && !(await isAsReconciled(context, state));
  const message = 'What the run has left on the store is to be removed by hand';
  await tidyUp(context, message, () => removeOwn(context, isKept ? liveCollectionsOf(run) : []));
  const { lost, exportedTo } = loss;
  if (exportedTo) await retain(context, exportedTo);
  const facts = {
    returnedTo: returnTo,
    lost,
    ...(lateWrites.found ? lateWriteFacts(lateWrites) : {}),
    ...(isKept ? { keptForWrites: liveCollectionOf(run) } : {}),
    ...(oldVersion === 'unproved' ? { oldVersion } : {}),
    ...(exportedTo ? { exportedTo, usersWereLetIn: run.openedAt !== undefined } : {}),
  };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  await retain(context, evidence.artifact);
  return { done: true, evidence };
}

/** As long as the other artifacts of the run, and no shorter than anything is kept from today on. */
async function retain({ services, run }: StepContext, artifact: string): Promise<void> {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  await services.artifacts.retain(artifact, new Date(Math.max(until, run.retainUntil ?? 0)));
}
