// Which collection a rollback leads to: the old one as long as it is there, else its snapshot under a fresh name.
// Finding it changes nothing.
import { troubleOf } from '../point-writer.ts';
import { denseVectorOf } from '../ports/vector-store.ts';
import type { ReconcileCheckpoint } from '../reconcile.ts';
import { isRefusal, Refusal, takeAs } from '../refusals.ts';
import { readManifest } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import { liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { StepRequest } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { assertNoAlias, checkKept, type KeptSnapshot } from '../snapshots.ts';
import { verifiedFingerprint } from './copy.ts';
import { scanCollection } from './recorded-counts.ts';

interface RollbackSource {
  readonly returnTo: string;
  /** To be restored as that collection; undefined where it is there. */
  readonly restores: KeptSnapshot | undefined;
}

/** @throws Refusal naming what is missing or damaged */
export async function findRollbackSource(services: Services, run: Run): Promise<RollbackSource> {
  const { sourceCollection } = run.plan;
  if (await isUsable(services, run)) return { returnTo: sourceCollection, restores: undefined };
  const manifest = await readManifest(services, run).catch(asNoRollback);
  assertSameMinor(manifest.storeVersion, await services.vectors.version());
  const returnTo = restoredCollectionOf(run);
  await assertNoAlias(services.vectors, returnTo).catch((error: unknown) => {
    throw isRefusal(error, 'RefusedNameTaken') ? asNoRollback(error) : error;
  });
  await checkKept(services.artifacts, manifest.snapshot).catch(asNoRollback);
  return { returnTo, restores: manifest.snapshot };
}

/** Whether an operator who wants to roll back could. */
export async function canRollBack(services: Services, run: Run): Promise<boolean> {
  const isLost = (error: unknown) => isRefusal(error, 'RefusedNothingToReturnTo');
  return await findRollbackSource(services, run).then(() => true, takeAs(false, isLost));
}

/** What was restored is what was verified; the test user's memories aside. @throws Refusal */
export async function assertRestored(
  services: Services,
  run: Run,
  restored: string,
): Promise<void> {
  const { contents } = await scanCollection(services, run, restored);
  if (contents.digest === verifiedFingerprint(run)) return;
  throw noRollback('The snapshot does not hold what was verified.');
}

/** Somebody may have deleted it since the rollback began; the old version then makes an empty one when it starts. */
export async function assertStillThere(
  { services: { vectors }, run }: Pick<StepRequest, 'services' | 'run'>,
  {
    returnTo,
    reconciled,
  }: Pick<RollbackSource, 'returnTo'> & { reconciled?: ReconcileCheckpoint | undefined },
): Promise<void> {
  // An alias of that name is no collection.
  const isThere = (await vectors.listCollections()).includes(returnTo);
  const mayBeEmpty = reconciled?.isComplete
    ? reconciled.report.from.points === 0
    : run.switchedAt === undefined || run.evidence['verification-report']?.facts.points === 0;
  if (isThere && (mayBeEmpty || (await vectors.count(returnTo)) > 0)) return;
  throw noRollback(`${returnTo} was deleted or emptied after the rollback had begun.`);
}

// Before users were let into the new version they never left the old one: whatever it holds is theirs. After that it is
// made equal to the new one, and only has to be of the same layout.
async function isUsable(services: Services, run: Run): Promise<boolean> {
  const { sourceCollection } = run.plan;
  if (!(await services.vectors.listCollections()).includes(sourceCollection)) return false;
  return run.openedAt === undefined || (await isOfSameLayout(services, run));
}

async function isOfSameLayout({ vectors }: Services, run: Run): Promise<boolean> {
  const old = await vectors.collectionInfo(run.plan.sourceCollection);
  const live = await vectors.collectionInfo(liveCollectionOf(run));
  if (!old || !live || troubleOf(old) !== undefined) return false;
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
