// Which collection a rollback leads to, and what happens to the writes since the switch. By default they come along: the
// old collection is made equal to the new one, or its snapshot where it is gone or damaged. Finding it changes nothing.
import * as v from 'valibot';
import { troubleOf } from '../point-writer.ts';
import { denseVectorOf } from '../ports/vector-store.ts';
import { isRefusal, isRetryableFailure, Refusal, takeAs } from '../refusals.ts';
import { readManifest } from '../runs/reports.ts';
import { hasSwitched, type Run, wasOpened, wentLive } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { assertNoAlias, checkKept, type KeptSnapshot, keptSnapshotSchema } from '../snapshots.ts';
import { assertExpected, changesSince, countChanges, isExcessive, unsafe } from './equality.ts';
import { scanCollection } from './recorded-counts.ts';

/**
 * carry: writes since the switch come along. as-it-was: they do not; the old collection stays as it is.
 * to-snapshot: they do not, to the number that the operator has acknowledged.
 */
const WAYS = ['carry', 'as-it-was', 'to-snapshot'] as const;

export const returnSchema = v.object({
  way: v.picklist(WAYS),
  returnTo: v.string(),
  /** To be restored as that collection. */
  restores: v.optional(keptSnapshotSchema),
  /** By the operator who started the rollback; another who continues it need not repeat them. */
  acknowledged: v.number(),
  deletes: v.optional(v.number()),
  /** Nobody was let in, and yet the new version may have taken users' writes. */
  mayHaveLeaked: v.boolean(),
});

export type Return = v.InferOutput<typeof returnSchema>;

/** @throws Refusal naming what is missing or damaged, or what the rollback would remove */
export async function planReturn(request: StepRequest): Promise<Return> {
  const { services, run, input } = request;
  const { asItWas = false, toSnapshot = false } = input;
  const { deletes, acknowledgedLoss: acknowledged = 0 } = input;
  if (asItWas && toSnapshot) {
    throw new Refusal('RefusedSetting', 'Give either asItWas or toSnapshot, not both.');
  }
  const more = { acknowledged, deletes, mayHaveLeaked: await mayLeak(services, run) };
  if (toSnapshot && wasOpened(run)) {
    return { way: 'to-snapshot', ...(await restored(services, run)), ...more };
  }
  if (run.plan.inPlace) return await planReturnInPlace(request, more);
  const isIntact = await isUsable(services, run, !wasOpened(run) || asItWas);
  const target = isIntact ? { returnTo: run.plan.sourceCollection } : await restored(services, run);
  if (!wasOpened(run) || asItWas) return { way: 'as-it-was', ...target, ...more };
  const trouble = await readabilityOf(services, run);
  if (trouble === undefined) {
    if (wentLive(run)) await assertSafe(request, target, deletes);
    return { way: 'carry', ...target, ...more };
  }
  // Nobody decides on the rollback of a window: users return, whatever became of the new collection.
  if (!wentLive(run)) return { way: 'as-it-was', ...target, ...more };
  throw unsafe(`${trouble}: what users wrote since the switch cannot come along.`);
}

/** Nobody was let in, and yet the new version may have taken writes. */
async function mayLeak({ setting }: Services, run: Run): Promise<boolean> {
  return !wasOpened(run) && (await setting.read()) === liveCollectionOf(run);
}

/** The old collection as it is, or as it is not: for a rollback that only has to open writes. */
export async function planLastResort(services: Services, run: Run): Promise<Return> {
  const mayHaveLeaked = await mayLeak(services, run);
  return { way: 'as-it-was', returnTo: run.plan.sourceCollection, acknowledged: 0, mayHaveLeaked };
}

/** Undefined where the snapshot cannot be restored. */
export async function planRestore(services: Services, run: Run): Promise<Return | undefined> {
  const target = await restored(services, run).catch(takeAs(undefined, isLost));
  return target && { way: 'as-it-was', ...target, acknowledged: 0, mayHaveLeaked: false };
}

const isLost = (error: unknown) => isRefusal(error, 'RefusedNothingToReturnTo');

/** Both versions work on the same points: all writes are there. */
async function planReturnInPlace(
  { services, run }: StepRequest,
  more: Pick<Return, 'acknowledged' | 'deletes'>,
): Promise<Return> {
  const { sourceCollection } = run.plan;
  const isThere = (await services.vectors.listCollections()).includes(sourceCollection);
  const target = isThere ? { returnTo: sourceCollection } : await restored(services, run);
  return { ...more, way: 'as-it-was', ...target, mayHaveLeaked: false };
}

/** Whether an operator who wants to roll back could. */
export async function canRollBack(services: Services, run: Run): Promise<boolean> {
  if (await isUsable(services, run, true)) return true;
  return await restored(services, run).then(() => true, takeAs(false, isLost));
}

/** Why the new collection cannot be read; undefined where it can. */
export async function readabilityOf({ vectors }: Services, run: Run): Promise<string | undefined> {
  const live = liveCollectionOf(run);
  if (!(await vectors.listCollections()).includes(live)) return `${live} is gone`;
  try {
    await vectors.scroll(live, { limit: 1 });
    return undefined;
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return `${live} cannot be read (${error.message})`;
  }
}

/** The store is there, and says so each time: waiting would not help. */
function isAnswer(error: unknown): error is Error {
  return isRetryableFailure(error) ? error.answer === 500 : isRefusal(error, 'RefusedByService');
}

// Users notice nothing of a refusal here: nothing is frozen yet.
async function assertSafe(
  request: StepRequest,
  { returnTo, restores }: { readonly returnTo: string; readonly restores?: KeptSnapshot },
  deletes: number | undefined,
): Promise<void> {
  const { services, run } = request;
  const live = liveCollectionOf(run);
  if (restores) {
    return assertExpected(await lackingIn(services, run, live), returnTo, deletes);
  }
  assertExpected(await countChanges(request, { from: live, to: returnTo }), returnTo, deletes);
}

/** What the dry run says: the numbers of the rollback as it would be now. */
export async function forecastReturn(request: StepRequest) {
  const { run } = request;
  if (!hasSwitched(run)) {
    return { returnsTo: run.plan.sourceCollection, leavesBehind: 0 };
  }
  const { way, returnTo, restores } = await planReturn(request);
  const where = { returnsTo: returnTo, ...(restores && { restores: restores.name }) };
  const isSame = returnTo === liveCollectionOf(run);
  if (!wasOpened(run) || isSame) return { ...where, leavesBehind: 0 };
  if (way !== 'carry') return { ...where, ...(await forecastLeftBehind(request)) };
  if (restores) return { ...where, leavesBehind: 0 };
  const collections = { from: liveCollectionOf(run), to: returnTo };
  const { adds, changes, removes, points } = await countChanges(request, collections);
  return { ...where, adds, changes, removes, of: points, leavesBehind: 0 };
}

/** Writes to the new collection that a rollback to the snapshot, or to the old collection as it was, leaves there. */
async function forecastLeftBehind(request: StepRequest) {
  // There never were two collections that were equal.
  if (request.run.plan.inPlace) return { leavesBehind: UNRESTORED };
  const { leftBehind, ...more } = await leftBehindBy(request);
  return { leavesBehind: leftBehind === 'unknown' ? UNREADABLE : leftBehind, ...more };
}

/**
 * Users have not deleted what a collection lacks that was emptied.
 * @param restored that users return to; otherwise what both collections had when they were last equal
 */
export async function leftBehindBy(
  request: StepRequest,
  restored?: string,
): Promise<{ readonly leftBehind: number | 'unknown'; readonly lacking?: number }> {
  const { services, run } = request;
  if ((await readabilityOf(services, run)) !== undefined) return { leftBehind: 'unknown' };
  const live = liveCollectionOf(run);
  const { adds, changes, removes, points } = restored
    ? await countChanges(request, { from: live, to: restored }, false)
    : await changesSince(request, live);
  const isEmptied = isExcessive({ removes, changes: 0, points });
  if (isEmptied) return { leftBehind: adds + changes, lacking: removes };
  return { leftBehind: adds + changes + removes };
}

const UNREADABLE = 'unknown: the new collection cannot be read';
const UNRESTORED = 'counted against the restored snapshot, before writes are frozen';

async function restored(services: Services, run: Run) {
  const manifest = await readManifest(services, run).catch(asNoRollback);
  assertSameMinor(manifest.storeVersion, await services.vectors.version());
  const returnTo = restoredCollectionOf(run);
  await assertNoAlias(services.vectors, returnTo).catch((error: unknown) => {
    throw isRefusal(error, 'RefusedNameTaken') ? asNoRollback(error) : error;
  });
  await checkKept(services.artifacts, manifest.snapshot).catch(asNoRollback);
  return { returnTo, restores: manifest.snapshot };
}

/** What was restored is what was verified; the test user's memories aside. @throws Refusal */
export async function assertRestored(
  services: Services,
  run: Run,
  restored: string,
): Promise<void> {
  const { contents } = await scanCollection(services, run, restored);
  // In place, the snapshot is from before the window.
  const { fingerprint } =
    run.evidence[run.plan.inPlace ? 'backup-manifest' : 'verification-report']?.facts ?? {};
  if (contents.digest === fingerprint) return;
  throw noRollback('The snapshot does not hold what was verified.');
}

/** Somebody may have deleted it since the rollback began; the old version then makes an empty one when it starts. */
export async function assertStillThere(
  { services: { vectors }, run }: Pick<StepRequest, 'services' | 'run'>,
  returnTo: string,
  expected = verifiedPointsOf(run),
): Promise<void> {
  // An alias of that name is no collection.
  const isThere = (await vectors.listCollections()).includes(returnTo);
  const mayBeEmpty = expected === 0 || !hasSwitched(run);
  if (isThere && (mayBeEmpty || (await vectors.count(returnTo)) > 0)) return;
  throw noRollback(`${returnTo} was deleted or emptied after the rollback had begun.`);
}

// Before users were let into the new version they never left the old one: whatever it holds is theirs. After that it is
// made equal to the new one, and only has to be of the same layout; or it is used as it is, and has to be whole.
async function isUsable(services: Services, run: Run, isLeftAsItIs = false): Promise<boolean> {
  const { vectors } = services;
  const { sourceCollection } = run.plan;
  if (!(await vectors.listCollections()).includes(sourceCollection)) return false;
  if (!wasOpened(run)) return true;
  if (!(await isWritable(services, run))) return false;
  if (!isLeftAsItIs) return true;
  return !isExcessive(await lackingIn(services, run, sourceCollection));
}

function verifiedPointsOf({ evidence }: Run): number {
  return Number(evidence['verification-report']?.facts.points ?? 0);
}

/** How many of the points that were verified are not there any more. */
async function lackingIn({ vectors }: Services, run: Run, collection: string) {
  const points = verifiedPointsOf(run);
  const removes = Math.max(0, points - (await vectors.count(collection)));
  return { points, removes, changes: 0 };
}

async function isWritable({ vectors }: Services, { plan, ...run }: Run): Promise<boolean> {
  const old = await vectors.collectionInfo(plan.sourceCollection);
  if (!old || troubleOf(old) !== undefined) return false;
  const live = await vectors.collectionInfo(liveCollectionOf({ plan, ...run }));
  if (!live) return true;
  const [ours, theirs] = [old, live].map(denseVectorOf);
  return ours?.size === theirs?.size && ours?.distance === theirs?.distance;
}

// Snapshots are for the same minor version; of a newer one, the store would not start again.
function assertSameMinor(made: string, running: string): void {
  const minorOf = (version: string) => version.split('.').slice(0, 2).join('.');
  if (minorOf(made) === minorOf(running)) return;
  throw noRollback(`The snapshot is of version ${made} and the store runs ${running}.`);
}

function noRollback(why: string, cause?: unknown): Refusal {
  return new Refusal('RefusedNothingToReturnTo', why, { cause });
}

function asNoRollback(error: unknown): never {
  throw error instanceof Refusal ? noRollback(error.why, error) : error;
}
