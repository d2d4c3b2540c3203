// What there is to go back to: the old collection if it is what it was, or if users may have written to it and to nothing
// else; else its snapshot under a fresh name.
// Found out, and made, beside what users work on: before a return begins, nothing of theirs is touched.
import { measureOf } from '../ports/measured-content.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { type BackupManifest, readManifest } from '../proof/backup-manifest.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { ofTestUser, restoredCollectionOf } from '../runs/run-names.ts';
import type { Approach } from '../runs/step.ts';
import { fingerprintOf } from '../scan.ts';
import type { Services } from '../services.ts';
import { verifiedFingerprint } from './copy-step.ts';
import { restoreSnapshot } from './restore-snapshot.ts';

export interface WayBack {
  readonly returnTo: string;
  /** Of the snapshot, which then was found to be whole; undefined when the collection is there already. */
  readonly restoring: BackupManifest | undefined;
}

type Renew = () => Promise<void>;

/**
 * Looks at everything that a return rests on, and changes nothing.
 * @throws Refusal naming what is missing or damaged
 */
export async function findWayBack(
  services: Services,
  run: Run,
  renew: Renew = async () => {},
): Promise<WayBack> {
  const { sourceCollection } = run.plan;
  const restored = restoredCollectionOf(run);
  // Users never left it: whatever it holds, deletions too, is theirs.
  if (run.openedAt === undefined && (await isThere(services, sourceCollection))) {
    return { returnTo: sourceCollection, restoring: undefined };
  }
  for (const name of [sourceCollection, restored]) {
    if (await isAsVerified(services, run, name)) return { returnTo: name, restoring: undefined };
  }
  const manifest = await usableManifest(services, run);
  assertSameMinor(manifest.storeVersion, await services.vectors.version());
  await assertNoAlias(services, restored);
  await assertKept(services, manifest, renew);
  return { returnTo: restored, restoring: manifest };
}

/** Whether a person who wants to go back could. */
export async function hasWayBack(services: Services, run: Run): Promise<boolean> {
  try {
    await findWayBack(services, run);
    return true;
  } catch (error) {
    if (error instanceof Refusal && error.name === 'RefusedNothingToReturnTo') return false;
    throw error;
  }
}

/**
 * The collection to go back to, restored if need be.
 * The turn is renewed before each change: by now a later one may have restored it, and users work on it.
 * @throws Refusal, and what was half-made is removed
 */
export async function prepareWayBack(approach: Approach): Promise<string> {
  const { services, run, renew } = approach;
  const { returnTo, restoring } = await findWayBack(services, run, renew);
  const { vectors } = services;
  if (!restoring) {
    await removeTestWrites(approach, returnTo);
    return returnTo;
  }
  await renew();
  // The preflight found the name free: what bears it now is an interrupted restore.
  await vectors.deleteCollection(returnTo);
  await restoreSnapshot(approach, { name: returnTo, kept: restoring });
  if (await isAsVerified(services, run, returnTo)) return returnTo;
  await renew();
  await vectors.deleteCollection(returnTo);
  throw noWayBack('The snapshot does not hold what was verified.');
}

// A smoke test that met the old version has left memories of its own there.
async function isAsVerified(
  { vectors }: Pick<Services, 'vectors'>,
  run: Run,
  name: string,
): Promise<boolean> {
  if (!(await isThere({ vectors }, name))) return false;
  const { digest } = await fingerprintOf(vectors, name, testUserOf(run.runId));
  return digest === verifiedFingerprint(run);
}

async function isThere({ vectors }: Pick<Services, 'vectors'>, name: string): Promise<boolean> {
  return (await vectors.listCollections()).includes(name);
}

async function removeTestWrites({ services, run, renew }: Approach, name: string): Promise<void> {
  const filter = ofTestUser(run);
  if ((await services.vectors.count(name, filter)) === 0) return;
  await renew();
  await services.vectors.deletePoints(name, { filter });
}

async function usableManifest(services: Services, run: Run): Promise<BackupManifest> {
  try {
    return await readManifest(services, run);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw noWayBack(`The backup's manifest cannot be used: ${error.why}`, error);
  }
}

// Read to the end, part by part: a listing tells only that something is there.
async function assertKept(
  { artifacts }: Services,
  { parts, snapshot }: BackupManifest,
  renew: Renew,
): Promise<void> {
  for (const { artifact, bytes, sha256 } of parts) {
    await renew();
    const measure = await measureOf(artifacts.get(artifact)).catch((error: unknown) => {
      throw error instanceof Refusal ? noWayBack(error.why, error) : error;
    });
    if (measure.bytes === bytes && measure.sha256 === sha256) continue;
    throw noWayBack(`${artifact} of ${snapshot.name} is not what was kept.`);
  }
}

async function assertNoAlias({ vectors }: Services, name: string): Promise<void> {
  const aliases = await vectors.listAliases();
  if (aliases.every(({ alias_name }) => alias_name !== name)) return;
  throw noWayBack(`${name}, where the snapshot would be restored, is an alias.`);
}

// Snapshots are for the same minor version; of a newer one, the store would not start again.
function assertSameMinor(made: string, running: string): void {
  const minorOf = (version: string) => version.split('.').slice(0, 2).join('.');
  if (minorOf(made) === minorOf(running)) return;
  throw noWayBack(`The snapshot is of version ${made} and the store runs ${running}.`);
}

function noWayBack(why: string, cause?: unknown): Refusal {
  return new Refusal('RefusedNothingToReturnTo', why, { cause });
}
