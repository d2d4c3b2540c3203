// The snapshot of a collection: made without waiting in silence, fetched in parts, checked where it is kept.
import { createHash } from 'node:crypto';
import type { ArtifactStore } from '../ports/artifacts.ts';
import type { SnapshotDescription, VectorStore } from '../ports/vector-store.ts';
import type { Part, Snapshot } from '../proof/backup-manifest.ts';
import { isRefusedWith, Refusal } from '../refusals.ts';

/** The one snapshot that was not there before: being listed, it is complete. Undefined until then. */
export async function newSnapshot(
  vectors: VectorStore,
  collection: string,
  known: readonly string[],
): Promise<Snapshot | undefined> {
  const listed = await vectors.listSnapshots(collection);
  const [fresh] = listed
    .filter(({ name }) => !known.includes(name))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return fresh && describe(fresh);
}

function describe({ name, size, checksum }: SnapshotDescription): Snapshot {
  return { name, size, checksum: checksum ?? null };
}

/** The part after those that are kept already. @throws Refusal when the file is not as long as it was said to be */
export async function fetchPart(
  { vectors, artifacts }: { vectors: VectorStore; artifacts: ArtifactStore },
  options: {
    readonly collection: string;
    readonly snapshot: Snapshot;
    readonly fromByte: number;
    readonly partBytes: number;
    readonly artifact: string;
  },
): Promise<Part> {
  const { collection, snapshot, fromByte, partBytes, artifact } = options;
  const { totalBytes, bytes } = await vectors
    .downloadSnapshot(collection, snapshot.name, fromByte)
    .catch((cause: unknown) => {
      throw isRefusedWith(cause, 404) ? goneFromStore(snapshot, cause) : cause;
    });
  if (totalBytes !== undefined && totalBytes !== snapshot.size) {
    const sizes = `${totalBytes} bytes instead of ${snapshot.size}`;
    throw new Refusal('RefusedSnapshot', `The snapshot ${snapshot.name} has ${sizes}.`);
  }
  const kept = await artifacts.put(artifact, firstBytes(bytes, partBytes));
  if (kept.bytes === 0) {
    const sizes = `ends after ${fromByte} bytes of ${snapshot.size}`;
    throw new Refusal('RefusedSnapshot', `The snapshot ${snapshot.name} ${sizes}.`);
  }
  return { artifact, bytes: kept.bytes, sha256: kept.sha256 };
}

function goneFromStore({ name }: Snapshot, cause: unknown): Refusal {
  return new Refusal('RefusedSnapshot', `The store has no ${name} any more.`, { cause });
}

async function* firstBytes(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncIterable<Uint8Array> {
  let left = limit;
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return;
  }
}

/** The file as it is kept. */
export async function* keptBytes(
  artifacts: ArtifactStore,
  parts: readonly Part[],
): AsyncIterable<Uint8Array> {
  for (const { artifact } of parts) yield* artifacts.get(artifact);
}

/**
 * Reads back what is kept, to its end.
 * @returns its SHA-256
 * @throws Refusal when it is not what the store made
 */
export async function checkKept(
  artifacts: ArtifactStore,
  { snapshot, parts }: { snapshot: Snapshot; parts: readonly Part[] },
): Promise<string> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of keptBytes(artifacts, parts)) {
    hash.update(chunk);
    size += chunk.length;
  }
  const sha256 = hash.digest('hex');
  if (size !== snapshot.size || (snapshot.checksum !== null && snapshot.checksum !== sha256)) {
    throw new Refusal(
      'RefusedSnapshot',
      `What is kept of ${snapshot.name} is not what the store made: ${size} bytes, SHA-256 ${sha256}.`,
    );
  }
  return sha256;
}
