// Plans a rollback: the collection to return to, and the fate of the writes since the switch. By default these writes are kept: the
// old collection is made equal to the new one. If the old collection is missing or damaged, its restored snapshot takes its place.
// Planning changes nothing.
import * as v from 'valibot';
import {
  assertNoAlias,
  type KeptSnapshot,
  keptSnapshotSchema,
  verifyKeptSnapshot,
} from '../kept-snapshot.ts';
import { assertExpected, isExcessive, refuseMassChange } from '../mass-change.ts';
import { whyUnhealthy } from '../point-writer.ts';
import { readDenseVector } from '../ports/vector-store.ts';
import { isRefusal, Refusal, recoverWith } from '../refusals.ts';
import { readManifest } from '../runs/reports.ts';
import { hasSwitched, type Run, wasOpened, wentLive } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import { MINUTE_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { compare, compareCounts, countLostWrites, whyUnreadable } from './comparison.ts';

export const returnPlanSchema = v.object({
  /**
   * never-left: users never left the old collection; the rollback only opens writes.
   * carry: copies the writes since the switch to the collection that users return to.
   * as-it-was: leaves these writes behind; the old collection stays unchanged.
   * to-snapshot: restores the snapshot, and leaves these writes behind, up to the number that the operator acknowledged.
   */
  way: v.picklist(['never-left', 'carry', 'as-it-was', 'to-snapshot']),
  returnTo: v.string(),
  /** Snapshot to restore under the name `returnTo` */
  restores: v.optional(keptSnapshotSchema),
  /** True if the new version may have taken early writes; the name is stored. */
  mayHaveLeaked: v.boolean(),
  /** True if the old collection was missing: the last common version does not apply to a collection that an operator restored. */
  beginsBase: v.optional(v.boolean()),
});

export type ReturnPlan = v.InferOutput<typeof returnPlanSchema>;

/** Time for which a refusal can keep writes frozen; then they are opened without proof. */
export const MAX_UNPROVED_MS = 15 * MINUTE_MS;

export interface ReturnDecision {
  readonly plan: ReturnPlan;
  /** Since when users have been waiting, if the window is long over */
  readonly failingSince?: number;
}

/**
 * Called before the rollback begins.
 * @throws Refusal, unless the window is long over: then the rollback begins anyway, to open writes
 */
export async function decideReturn(request: StepRequest): Promise<ReturnDecision> {
  if (!hasSwitched(request.run)) return { plan: stayOnOld(request.run) };
  try {
    return { plan: await planReturn(request) };
  } catch (error) {
    const { services, run } = request;
    const { deadlineAt = Number.POSITIVE_INFINITY } = run.window ?? {};
    const isLongOver = services.clock().getTime() >= deadlineAt + MAX_UNPROVED_MS;
    const mustOpenWrites = run.phase === 'switching' && isLongOver;
    if (!mustOpenWrites || !isRefusal(error, 'RefusedNothingToReturnTo')) throw error;
    return { plan: await planLastResort(services, run), failingSince: deadlineAt };
  }
}

/** The plan for users who never left the old collection */
export function stayOnOld({ plan }: Run): ReturnPlan {
  return { way: 'never-left', returnTo: plan.sourceCollection, mayHaveLeaked: false };
}

/** @throws Refusal naming a missing or damaged collection or artifact, or the points that the rollback would remove */
async function planReturn(request: StepRequest): Promise<ReturnPlan> {
  const { services, run, input } = request;
  const { asItWas = false, toSnapshot = false, deletes } = input;
  if (asItWas && toSnapshot) {
    throw new Refusal('RefusedSetting', 'Give either asItWas or toSnapshot, not both.');
  }
  const mayHaveLeaked = await mayHaveEarlyWrites(services, run);
  if (toSnapshot && wasOpened(run)) {
    return { way: 'to-snapshot', ...(await planSnapshotRestore(services, run)), mayHaveLeaked };
  }
  if (run.plan.inPlace) return await planReturnInPlace(request);
  const isIntact = await isUsable(services, run, !wasOpened(run) || asItWas);
  const target = isIntact
    ? { returnTo: run.plan.sourceCollection }
    : await planSnapshotRestore(services, run);
  if (!wasOpened(run) || asItWas) return { way: 'as-it-was', ...target, mayHaveLeaked };
  const problem = await whyUnreadable(services, run);
  if (problem === undefined) {
    if (wentLive(run)) await assertNoMassChange(request, target, deletes);
    return { way: 'carry', ...target, mayHaveLeaked };
  }
  // The rollback of a window runs unattended: users return even if the new collection cannot be read.
  if (!wentLive(run)) return { way: 'as-it-was', ...target, mayHaveLeaked };
  throw refuseMassChange(`${problem}: users' writes since the switch cannot be carried over.`);
}

/** True if the new version may have taken early writes: traffic was never opened, but the setting names the new collection. */
async function mayHaveEarlyWrites({ setting }: Services, run: Run): Promise<boolean> {
  return !wasOpened(run) && (await setting.read()) === liveCollectionOf(run);
}

/** Plans a return to the old collection without checking that it exists: the rollback only needs to open writes. */
async function planLastResort(services: Services, run: Run): Promise<ReturnPlan> {
  const mayHaveLeaked = await mayHaveEarlyWrites(services, run);
  return { way: 'as-it-was', returnTo: run.plan.sourceCollection, mayHaveLeaked };
}

/** Plans a rollback to the restored snapshot. @returns undefined if the snapshot cannot be restored */
export async function planRestore(services: Services, run: Run): Promise<ReturnPlan | undefined> {
  const target = await planSnapshotRestore(services, run).catch(
    recoverWith(undefined, isUnrestorable),
  );
  return target && { way: 'as-it-was', ...target, mayHaveLeaked: false };
}

const isUnrestorable = (error: unknown) => isRefusal(error, 'RefusedNothingToReturnTo');

/** In place, both versions work on the same points, so no write is left behind. */
async function planReturnInPlace({ services, run }: StepRequest): Promise<ReturnPlan> {
  const { sourceCollection } = run.plan;
  const exists = (await services.vectors.listCollections()).includes(sourceCollection);
  const target = exists ? { returnTo: sourceCollection } : await planSnapshotRestore(services, run);
  return { way: 'as-it-was', ...target, mayHaveLeaked: false };
}

// Refuses here, while it is cheap: writes are not frozen yet, and users notice nothing.
async function assertNoMassChange(
  request: StepRequest,
  { returnTo, restores }: { readonly returnTo: string; readonly restores?: KeptSnapshot },
  deletes: number | undefined,
): Promise<void> {
  const live = liveCollectionOf(request.run);
  if (restores) {
    return assertExpected(await compareCounts(request, live), returnTo, deletes);
  }
  const { base } = request.run;
  const changes = await compare(request, { active: live, standby: returnTo, base });
  assertExpected(changes, returnTo, deletes);
}

async function planSnapshotRestore(services: Services, run: Run) {
  const manifest = await readManifest(services, run).catch(rethrowAsNoRollback);
  assertSameMinor(manifest.storeVersion, await services.vectors.fetchVersion());
  const returnTo = restoredCollectionOf(run);
  await assertNoAlias(services.vectors, returnTo).catch((error: unknown) => {
    throw isRefusal(error, 'RefusedNameTaken') ? rethrowAsNoRollback(error) : error;
  });
  await verifyKeptSnapshot(services.artifacts, manifest.snapshot).catch(rethrowAsNoRollback);
  return { returnTo, restores: manifest.snapshot };
}

// If traffic was never opened, users never left the old collection: it is usable in any state. Otherwise it needs the layout of
// the new one, and must also be complete if it is used unchanged.
async function isUsable(services: Services, run: Run, staysUnchanged = false): Promise<boolean> {
  const { vectors } = services;
  const { sourceCollection } = run.plan;
  if (!(await vectors.listCollections()).includes(sourceCollection)) return false;
  if (!wasOpened(run)) return true;
  if (!(await isWritable(services, run))) return false;
  if (!staysUnchanged) return true;
  return !isExcessive(await compareCounts({ services, run }, sourceCollection));
}

async function isWritable({ vectors }: Services, { plan, ...run }: Run): Promise<boolean> {
  const oldInfo = await vectors.readCollectionInfo(plan.sourceCollection);
  if (!oldInfo || whyUnhealthy(oldInfo) !== undefined) return false;
  const liveInfo = await vectors.readCollectionInfo(liveCollectionOf({ plan, ...run }));
  if (!liveInfo) return true;
  const [oldVector, liveVector] = [oldInfo, liveInfo].map(readDenseVector);
  return oldVector?.size === liveVector?.size && oldVector?.distance === liveVector?.distance;
}

// A store reads only snapshots of its own minor version: with a snapshot of a newer version, it would not start again.
function assertSameMinor(snapshotVersion: string, storeVersion: string): void {
  const readMinor = (version: string) => version.split('.').slice(0, 2).join('.');
  if (readMinor(snapshotVersion) === readMinor(storeVersion)) return;
  throw refuseRollback(
    `The snapshot is of version ${snapshotVersion} and the store runs ${storeVersion}.`,
  );
}

function refuseRollback(why: string, cause?: unknown): Refusal {
  return new Refusal('RefusedNothingToReturnTo', why, { cause });
}

function rethrowAsNoRollback(error: unknown): never {
  throw error instanceof Refusal ? refuseRollback(error.why, error) : error;
}

/** Figures for the dry run of a rollback */
export async function forecastReturn(request: StepRequest) {
  const { run } = request;
  if (!hasSwitched(run)) {
    return { returnsTo: run.plan.sourceCollection, leavesBehind: 0 };
  }
  const { way, returnTo, restores } = await planReturn(request);
  const target = { returnsTo: returnTo, ...(restores && { restores: restores.name }) };
  const isSame = returnTo === liveCollectionOf(run);
  if (!wasOpened(run) || isSame) return { ...target, leavesBehind: 0 };
  if (way !== 'carry') return { ...target, ...(await forecastLeftBehind(request)) };
  if (restores) return { ...target, leavesBehind: 0 };
  const { adds, changes, removes, points } = await compare(request, {
    active: liveCollectionOf(run),
    standby: returnTo,
    base: run.base,
  });
  return { ...target, adds, changes, removes, of: points, leavesBehind: 0 };
}

/** Counts the writes that a rollback would leave behind in the new collection. */
async function forecastLeftBehind(request: StepRequest) {
  // In place there is no second collection to compare with.
  if (request.run.plan.inPlace) {
    return { leavesBehind: 'counted against the restored snapshot, before writes are frozen' };
  }
  const { leftBehind: leavesBehind, ...missing } = await countLostWrites(request);
  if (leavesBehind !== 'unknown') return { leavesBehind, ...missing };
  return { leavesBehind: 'unknown: the new collection cannot be read' };
}
