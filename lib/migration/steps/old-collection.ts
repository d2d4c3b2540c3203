// What there is to go back to: the old collection if it is what it was, else its snapshot under a fresh name.
import { fingerprintOf } from '../proof/fingerprint.ts';
import { readManifest } from '../proof/user-comparison.ts';
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { restoredCollectionOf } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { assertFree } from './restore-drill.ts';
import { keptBytes } from './snapshot-backup.ts';
import { verifiedFingerprint } from './verify-step.ts';

export async function isOldIntact({ vectors }: Services, run: Run): Promise<boolean> {
  const { sourceCollection } = run.plan;
  if (!(await vectors.listCollections()).includes(sourceCollection)) return false;
  const { digest } = await fingerprintOf(vectors, sourceCollection);
  return digest === verifiedFingerprint(run);
}

/**
 * Only ever under a fresh name: onto a collection that exists, a restore overwrites without a word.
 * What an interrupted restore left is removed first.
 * The turn is renewed before each change: by now a later one may have restored it, and users work on it.
 * @throws Refusal when the snapshot is gone, or of another version of the store
 */
export async function restoreOld({ services, run, renew, signal }: Turn): Promise<string> {
  const { vectors, artifacts } = services;
  const { snapshot, parts, sha256, drilled, storeVersion } = await readManifest(services, run);
  const name = restoredCollectionOf(run);
  assertSameMinor(storeVersion, await vectors.version());
  await renew();
  await vectors.deleteCollection(name);
  await assertFree(vectors, name);
  await renew();
  await vectors.uploadSnapshot(name, {
    fileName: snapshot.name,
    size: snapshot.size,
    checksum: sha256,
    bytes: keptBytes(artifacts, parts),
    signal,
  });
  const { digest, points } = await fingerprintOf(vectors, name);
  if (points === drilled && digest === verifiedFingerprint(run)) return name;
  await renew();
  await vectors.deleteCollection(name);
  throw new Refusal('RefusedNothingToReturnTo', 'The snapshot does not hold what was verified.');
}

// Snapshots are for the same minor version; of a newer one, the store would not start again.
function assertSameMinor(made: string, running: string): void {
  const minorOf = (version: string) => version.split('.').slice(0, 2).join('.');
  if (minorOf(made) === minorOf(running)) return;
  throw new Refusal(
    'RefusedNothingToReturnTo',
    `The snapshot is of version ${made} and the store runs ${running}.`,
  );
}
