// Proves that a snapshot can be restored: under a name of the run's own, scanned, and removed again.
import { drillCollectionOf } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import type { Scan } from '../scan.ts';
import { scanCollection } from './recorded-counts.ts';
import { type KeptSnapshot, restoreSnapshot } from './restore-snapshot.ts';

/**
 * What an earlier, interrupted test left behind is removed first: a half-restored collection may keep the store from
 * starting again.
 * @returns what the snapshot holds: users may have written since it was made
 */
export async function drillRestore(turn: Turn, kept: KeptSnapshot): Promise<Scan> {
  const { run, renew, services } = turn;
  const { vectors } = services;
  const scratch = drillCollectionOf(run);
  await renew();
  await vectors.deleteCollection(scratch);
  try {
    await restoreSnapshot(turn, { name: scratch, kept });
    return await scanCollection(services, run, scratch);
  } finally {
    // A later step may be restoring under the same name.
    await renew();
    await vectors.deleteCollection(scratch);
  }
}
