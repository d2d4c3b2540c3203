// The stages of a rollback, and of a refused rollback; switch.ts has their order. The old collection may be deleted or emptied
// at any time, so it is checked again before each stage that users would notice. A deployment takes time, and may be reported as
// done although it is not.
import * as v from 'valibot';
import { restoreSnapshot } from '../kept-snapshot.ts';
import { whyUnhealthy } from '../point-writer.ts';
import { listPending } from '../reconcile-report.ts';
import { isRetryableFailure, Refusal, RetryableFailure } from '../refusals.ts';
import type { Facts } from '../runs/journal.ts';
import { countVerified, hasSwitched, wasOpened, wentLive } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf, testUserOf } from '../runs/run-names.ts';
import type { StepContext, StepRequest } from '../runs/step.ts';
import { MINUTE_MS } from '../runs/times.ts';
import {
  activate,
  addActionHint,
  askAgain,
  assertOpen,
  ensureActionDone,
  freezeWrites,
  isSettingKnown,
} from './backend-actions.ts';
import { removeTestWrites } from './clean-up.ts';
import { countLostWrites, haveSameMemories } from './comparison.ts';
import { assertEqual, describeLateWrites, equalise } from './equalise.ts';
import { backendServesFrom } from './new-version.ts';
import type { ReturnPlan } from './return-target.ts';

// A refusal here is harmless, as users can still write. Their writes are counted again after the freeze.
export async function restoreOld(context: StepContext, plan: ReturnPlan): Promise<Facts> {
  const { services, stages } = context;
  const { returnTo: to, restores, way } = plan;
  // The operator may have restored the snapshot already.
  const needsRestore = await stages.once('is-to-be-restored', async () => {
    const exists = (await services.vectors.listCollections()).includes(to);
    return !(exists && (await hasVerifiedMemories(context, to)));
  });
  if (needsRestore) {
    if (!restores) throw new Refusal('RefusedNotNow', `There is no snapshot for ${to}.`);
    await restoreSnapshot(context, { name: to, kept: restores });
    await assertNotDeleted(context, to);
    if (!(await hasVerifiedMemories(context, to))) {
      const why = 'The snapshot lacks verified memories.';
      throw new Refusal('RefusedNothingToReturnTo', why);
    }
  }
  return way === 'to-snapshot' ? await countLeftBehind(context, plan) : {};
}

/** True if a restored collection has exactly the verified memories, apart from those of the test user */
async function hasVerifiedMemories(
  context: StepContext,
  restoredCollection: string,
): Promise<boolean> {
  const { evidence, plan } = context.run;
  // In place, the window takes no snapshot: the last one is from before the window.
  const kind = plan.inPlace ? 'backup-manifest' : 'verification-report';
  const fingerprint = evidence[kind]?.facts.fingerprint;
  return await haveSameMemories(context, restoredCollection, { fingerprint });
}

export async function freezeNew(context: StepContext): Promise<Facts> {
  const { run } = context;
  // The freeze needs proof only if users worked on the new version: docs/migration/decisions/0005-automatic-rollback.md.
  const freezing = { collections: liveCollectionsOf(run), needsProof: wasOpened(run) };
  return await freezeWrites(context, freezing);
}

// Writes are frozen now. The rollback of a window runs unattended: it inserts what it can where another rollback would refuse.
export async function makeOldEqual(context: StepContext, plan: ReturnPlan) {
  const { returnTo: to, restores } = plan;
  await assertNotDeleted(context, to, 0);
  const { run, input, services } = context;
  const names = { active: liveCollectionOf(run), standby: to };
  const info = await services.vectors.readCollectionInfo(names.active);
  const { report, faults } = await equalise(context, {
    ...names,
    walk: 'equal',
    base: restores || plan.beginsBase ? 'begun' : 'continued',
    users: 'frozen',
    isActiveReadOnly: info !== undefined && whyUnhealthy(info) !== undefined,
    onExcess: wentLive(run) ? 'refuse' : 'insert',
    deletes: input.deletes,
    limitedChanges: 'vectors',
  });
  assertEqual(names, faults);
  const manualComparison = listPending(report).length > 0 ? { comparedByHand: names.active } : {};
  const { points } = report.to;
  return { points, ...manualComparison, ...describeLateWrites('lateWrites', report.strays) };
}

export async function countLeftBehind(context: StepContext, plan: ReturnPlan): Promise<Facts> {
  const returnsToSnapshot = plan.way === 'to-snapshot';
  const lostWrites = await countLostWrites(context, returnsToSnapshot ? plan.returnTo : undefined);
  const { leftBehind } = lostWrites;
  const { acknowledgedLoss: limit = 0 } = context.input;
  if (!returnsToSnapshot || leftBehind === 'unknown' || leftBehind <= limit) return lostWrites;
  const writes = `${leftBehind} ${leftBehind === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${limit}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why, { data: { loss: leftBehind } });
}

interface OldCollection {
  readonly to: string;
  /** Points of the collection after it was made equal; undefined if it was left unchanged */
  readonly points?: number | undefined;
}

export async function changeToOld(
  context: StepContext,
  { to, points }: OldCollection,
): Promise<void> {
  const { services, run } = context;
  const { setting, log } = services;
  await removeTestWrites(context, [to]);
  await assertNotDeleted(context, to, points);
  const active = await setting.read();
  // Users wait and no client writes, so any value of the setting is replaced.
  if (!isSettingKnown(run, active) && active !== to) {
    const message = 'Another program changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: active, by: to });
  }
  await activate(context, { from: active, to });
}

/** Time limit of a deployment, unless the plan allows more */
const DEPLOYMENT_MS = 15 * MINUTE_MS;
/** Time limit for the proof of a deployment that was reported as done */
const PROOF_MS = 5 * MINUTE_MS;

const deploymentSchema = v.object({
  since: v.optional(v.number()),
  /** False if a request must still follow, even after the time limit: the last one was interrupted, or falsely reported as done */
  isRequested: v.optional(v.boolean()),
  unprovedSince: v.optional(v.number()),
});

/**
 * Deploys and proves in one stage: a deployment that was falsely reported as done is requested again until the time limit. After
 * the limit, writes are opened without proof, or users stay on the new version: in both cases they can write.
 */
export async function deployBack(context: StepContext, to: string): Promise<Facts> {
  const { run, services } = context;
  const action = run.plan.sameVersion ? 'deploy-new' : 'deploy-old';
  const { since, isLast, unprovedSince } = await deployInTime(context, action, to);
  const check = await checkReturn(context, to);
  if (check.kind === 'returned') return {};
  const { kind, why } = check;
  if (kind !== 'unknowable' && services.clock().getTime() - unprovedSince < PROOF_MS) {
    // A deployment that was falsely reported as done is requested again, once even after the time limit.
    await context.saveCursor({
      since,
      isRequested: isLast || kind !== 'not-returned',
      unprovedSince,
    });
    if (kind === 'not-returned') await askAgain(context);
    throw addActionHint(
      action,
      to,
      kind === 'unavailable' ? why : createUnprovedFailure(String(why)),
    );
  }
  // A backend that does not respond may run either version: users stay on the one that worked before the rollback.
  const mayRunNew = kind === 'not-returned' || kind === 'unavailable';
  if (mayRunNew && wentLive(run) && to !== liveCollectionOf(run)) {
    const message = `After "${action}" on ${to}: ${why} Writes are open on ${liveCollectionOf(run)} again.`;
    throw new Refusal('RefusedStillNewVersion', message);
  }
  const lookAt = `whether the backend works on ${to}${run.plan.sameVersion ? '' : ', in the old version'}`;
  const message = 'The backend does not prove that users are back; the rollback continues';
  services.log({ level: 'WARN', message, runId: run.runId, lookAt, why: String(why) });
  return { oldVersion: 'unproved', lookAt };
}

/**
 * Requests the deployment until it is done, or the time limit has passed. A request that was interrupted by a kill is repeated even
 * after the time limit, because the time may have passed without any request.
 * @returns the time of the first request, whether this was the last one, and since when the proof has been awaited
 */
async function deployInTime(
  context: StepContext,
  action: 'deploy-new' | 'deploy-old',
  collection: string,
) {
  const { run, services, cursor, saveCursor } = context;
  const now = services.clock().getTime();
  const savedState = v.parse(v.fallback(deploymentSchema, {}), cursor);
  const { since = now, isRequested = false, unprovedSince = now } = savedState;
  const until = since + Math.max(DEPLOYMENT_MS, 2_000 * (run.plan.deploySeconds ?? 0));
  const hasTimedOut = now >= until;
  if (hasTimedOut && isRequested) return { since, isLast: true, unprovedSince };
  // The time limit of the proof starts when the deployment ends, so `unprovedSince` is not recorded here.
  await saveCursor({ since, isRequested: hasTimedOut });
  await ensureActionDone(context, action, collection).catch(async (error: unknown) => {
    if (!context.signal.aborted) await saveCursor({ since, isRequested: true });
    throw retryUntilDeadline(error, until);
  });
  const times = { since, unprovedSince: hasTimedOut ? services.clock().getTime() : unprovedSince };
  await saveCursor({ ...times, isRequested: true });
  return { ...times, isLast: hasTimedOut };
}

function createUnprovedFailure(why: string): RetryableFailure {
  return new RetryableFailure('RetryableUnavailable', why, { code: 200 });
}

/** While users wait, the operator may repair a webhook that refuses, so the webhook is called again until the deadline. */
function retryUntilDeadline(error: unknown, deadline: number): unknown {
  if (!(error instanceof Refusal)) return error;
  const until = new Date(deadline).toISOString();
  const why = `${error.why} The webhook is called again until ${until}; then writes are opened anyway.`;
  return new RetryableFailure('RetryableUnavailable', why, { cause: error, code: 400 });
}

// If the old collection was deleted, a write would create an empty one, although the new collection may be the only copy.
export async function openOld(context: StepContext, { to, points }: OldCollection): Promise<void> {
  await assertNotDeleted(context, to, points);
  await context.renewLease();
  await ensureActionDone(context, 'open-writes', to);
  await assertNotDeleted(context, to, points);
  await assertOpen(context, [to]);
}

/** Opens writes when nothing could be proved in time. */
export async function openWithoutProof(
  context: StepContext,
  { to, why }: { readonly to: string; readonly why: string },
): Promise<Facts> {
  const { log } = context.services;
  await activateAnyway(context, to);
  await ensureActionDone(context, 'open-writes', to);
  const lookAt = `whether the backend works on ${to}, and whether users find their memories`;
  const message = 'Writes were opened without proof';
  log({ level: 'WARN', message, runId: context.run.runId, lookAt, why });
  return { oldVersion: 'unproved', lookAt };
}

export async function restoreSetting(context: StepContext): Promise<void> {
  await activateAnyway(context, liveCollectionOf(context.run));
}

/** Continues if the aliases cannot be moved, for example because the collection is missing: writes must not stay frozen. */
async function activateAnyway(context: StepContext, to: string): Promise<void> {
  const { services, run } = context;
  const { setting, log } = services;
  const onAliasesRefused = ({ why }: Refusal) => {
    const message = `Move the aliases to ${to} by hand: writes are opened`;
    log({ level: 'WARN', message, runId: run.runId, why });
  };
  await activate(context, { from: await setting.read(), to, onAliasesRefused });
}

/** Deploys the new version again, unless that version still responds. */
export async function deployAgain(context: StepContext, to: string): Promise<void> {
  if ((await checkReturn(context, to)).kind === 'not-returned') return;
  const collection = liveCollectionOf(context.run);
  await deployInTime(context, 'deploy-new', collection);
  const check = await checkReturn(context, to);
  if (check.kind === 'not-returned') return;
  const message = 'The backend does not prove that the new version is back; writes are opened';
  const lookAt = `whether the backend works on ${collection}`;
  const why = check.kind === 'returned' ? `It works on ${to}.` : String(check.why);
  context.services.log({ level: 'WARN', message, runId: context.run.runId, lookAt, why });
}

export async function openAgain(context: StepContext): Promise<void> {
  const collections = liveCollectionsOf(context.run);
  await ensureActionDone(context, 'open-writes', collections[0]);
  await assertOpen(context, collections);
}

/** @throws Refusal if the collection was deleted since the rollback began: the old version would create an empty one. */
async function assertNotDeleted(
  { services: { vectors }, run }: Pick<StepRequest, 'services' | 'run'>,
  returnTo: string,
  expected = countVerified(run),
): Promise<void> {
  // The list contains no aliases, which could have the same name.
  const exists = (await vectors.listCollections()).includes(returnTo);
  const mayBeEmpty = expected === 0 || !hasSwitched(run);
  if (exists && (mayBeEmpty || (await vectors.count(returnTo)) > 0)) return;
  const why = `${returnTo} was deleted or emptied after the rollback had begun.`;
  throw new Refusal('RefusedNothingToReturnTo', why);
}

/** Result of a rollback's deployment, as the backend's responses show it */
type ReturnCheck =
  | { readonly kind: 'returned' }
  /** unproved: a later response may tell. unknowable: no response will ever tell. unavailable: there is no response. */
  | {
      readonly kind: 'not-returned' | 'unproved' | 'unknowable' | 'unavailable';
      readonly why: unknown;
    };

/**
 * A response of the old version proves that users are back. If the run does not change the version, the backend is searched for a
 * memory that only the collection to return to has, and then for one that only the other collection has.
 */
async function checkReturn(context: StepContext, to: string): Promise<ReturnCheck> {
  const { services, run } = context;
  const live = liveCollectionOf(run);
  const { sameVersion = false } = run.plan;
  try {
    await services.backend.health();
    const runsNewVersion =
      sameVersion || (await services.backend.isGraphDeprecated(testUserOf(run.runId)));
    if (!runsNewVersion || (sameVersion && to === live)) return { kind: 'returned' };
    const worksOnOld = to !== live && (await backendServesFrom(context, to, live));
    if (worksOnOld && sameVersion) return { kind: 'returned' };
    if (worksOnOld) return { kind: 'unproved', why: `The new version answers, on ${to}.` };
    if (!sameVersion) return { kind: 'not-returned', why: 'The new version still answers.' };
    if (await backendServesFrom(context, live, to))
      return { kind: 'not-returned', why: `The backend still works on ${live}.` };
    return { kind: 'unproved', why: `The backend does not show that it works on ${to}.` };
  } catch (error) {
    if (isRetryableFailure(error)) return { kind: 'unavailable', why: error };
    if (error instanceof Refusal) return { kind: 'unknowable', why: error };
    throw error;
  }
}
