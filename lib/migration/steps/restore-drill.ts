// Proves that a snapshot can be restored: under a name of the run's own, counted, and removed again.
import { Refusal } from '../refusals.ts';
import type { Run } from '../runs/run.ts';
import { collectionsOf, drillCollectionOf } from '../runs/run-names.ts';
import type { Turn } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { keptBytes, type Part, type Snapshot } from './snapshot-backup.ts';

/**
 * What an earlier, interrupted drill left behind is removed first: a half-restored collection is
 * what the store may not survive its next start with.
 * @returns how many points came back
 * @throws Refusal when they are not as many as were counted
 */
export async function drillRestore(
  { services, run, renew, signal }: Turn,
  options: {
    readonly snapshot: Snapshot;
    readonly parts: readonly Part[];
    readonly sha256: string;
    readonly points: number;
  },
): Promise<number> {
  const { vectors, artifacts } = services;
  const { snapshot, parts, sha256, points } = options;
  const scratch = drillCollectionOf(run);
  await renew();
  await removeOwn(vectors, run, scratch);
  await assertFree(vectors, scratch);
  await renew();
  try {
    await vectors.uploadSnapshot(scratch, {
      fileName: snapshot.name,
      size: snapshot.size,
      checksum: sha256,
      bytes: keptBytes(artifacts, parts),
      signal,
    });
    const restored = await vectors.count(scratch);
    if (restored === points) return restored;
    throw new Refusal(
      'RefusedBackupUnproved',
      `Of ${points} points, the restored snapshot has ${restored}: written to meanwhile, or incomplete.`,
    );
  } finally {
    // A later turn may be drilling under the same name.
    await renew();
    await removeOwn(vectors, run, scratch);
  }
}

async function removeOwn(vectors: Services['vectors'], run: Run, name: string): Promise<void> {
  if (collectionsOf(run).includes(name)) await vectors.deleteCollection(name);
}

/** An upload onto a name that exists, or onto an alias, overwrites whatever is behind it. @throws Refusal */
export async function assertFree(vectors: Services['vectors'], name: string): Promise<void> {
  const aliases = await vectors.listAliases();
  const isTaken =
    (await vectors.collectionExists(name)) || aliases.some(({ alias_name }) => alias_name === name);
  if (isTaken) throw new Refusal('RefusedTarget', `The name ${name} is taken.`);
}
