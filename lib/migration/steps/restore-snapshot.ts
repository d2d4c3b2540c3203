// Makes a collection of a snapshot that is kept as artifacts: only ever under a fresh name of the run's own, for onto
// a collection that exists a restore overwrites without a word.
import type { VectorStore } from '../ports/vector-store.ts';
import type { Part, Snapshot } from '../proof/backup-manifest.ts';
import { Refusal } from '../refusals.ts';
import type { Approach } from '../runs/step.ts';
import { keptBytes } from './snapshot-backup.ts';

export interface KeptSnapshot {
  readonly snapshot: Snapshot;
  readonly parts: readonly Part[];
  readonly sha256: string;
}

/**
 * What a failure leaves half-made is removed at once: the store may not survive its next start with it.
 * @throws Refusal when the name is taken
 */
export async function restoreSnapshot(
  { services, renew, signal }: Approach,
  { name, kept }: { readonly name: string; readonly kept: KeptSnapshot },
): Promise<void> {
  const { vectors, artifacts } = services;
  const { snapshot, parts, sha256 } = kept;
  await assertFree(vectors, name);
  await renew();
  try {
    await vectors.uploadSnapshot(name, {
      fileName: snapshot.name,
      size: snapshot.size,
      checksum: sha256,
      bytes: keptBytes(artifacts, parts),
      signal,
    });
  } catch (error) {
    // By now a later turn may have made it anew, whose it is then. What cannot be removed is removed by whoever comes
    // next; the failure that counts is the first one.
    await renew()
      .then(() => vectors.deleteCollection(name))
      .catch(() => undefined);
    throw error;
  }
}

/** An upload onto a name that exists, or onto an alias, overwrites whatever is behind it. @throws Refusal */
export async function assertFree(vectors: VectorStore, name: string): Promise<void> {
  const aliases = await vectors.listAliases();
  const isTaken =
    (await vectors.collectionExists(name)) || aliases.some(({ alias_name }) => alias_name === name);
  if (isTaken) throw new Refusal('RefusedNameTaken', `The name ${name} is taken.`);
}
