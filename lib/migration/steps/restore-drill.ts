// Proves that a snapshot can be restored: under a name of the run's own, counted, and removed again.
import { type Fingerprint, fingerprintOf } from '../proof/fingerprint.ts';
import { Refusal } from '../refusals.ts';
import { drillCollectionOf } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import { type KeptSnapshot, restoreSnapshot } from './restore-snapshot.ts';

/**
 * What an earlier, interrupted drill left behind is removed first: a half-restored collection is
 * what the store may not survive its next start with.
 * @returns what came back
 * @throws Refusal when the points are not as many as were counted
 */
export async function drillRestore(
  turn: Turn,
  { kept, points }: { readonly kept: KeptSnapshot; readonly points: number },
): Promise<Fingerprint> {
  const { run, renew } = turn;
  const { vectors } = turn.services;
  const scratch = drillCollectionOf(run);
  await renew();
  await vectors.deleteCollection(scratch);
  try {
    await restoreSnapshot(turn, { name: scratch, kept });
    const restored = await vectors.count(scratch);
    if (restored === points) return await fingerprintOf(vectors, scratch);
    throw new Refusal(
      'RefusedBackupUnproved',
      `Of ${points} points, the restored snapshot has ${restored}: written to meanwhile, or incomplete.`,
    );
  } finally {
    // A later turn may be drilling under the same name.
    await renew();
    await vectors.deleteCollection(scratch);
  }
}
