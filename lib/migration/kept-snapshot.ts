// A kept snapshot: its artifacts, the proof that they are complete, and its restore into a collection with another name. The stages
// of the restore start work on the vector store, and poll until it is done.
import * as v from 'valibot';
import type { VectorStore } from './adapters/qdrant.ts';
import { type ArtifactStore, formatPartKey, measureStream } from './ports/artifacts.ts';
import { Refusal, RetryableFailure, recoverWith } from './refusals.ts';
import { NOTHING_RECORDED, Paused } from './runs/journal.ts';
import type { StepContext } from './runs/step.ts';
import { MINUTE_MS, pollSeconds } from './runs/times.ts';

const countSchema = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const snapshotSchema = v.object({
  name: v.string(),
  size: countSchema,
  /** SHA-256 that the vector store computed; null if it computes none */
  checksum: v.nullable(v.string()),
});

/** A snapshot as the vector store describes it */
export type Snapshot = v.InferOutput<typeof snapshotSchema>;

/** Parts of the snapshot file. Their keys are numbered, so the prefix and the count describe any number of parts. */
const partsSchema = v.object({ prefix: v.string(), count: countSchema, bytes: countSchema });

export const keptSnapshotSchema = v.object({
  ...snapshotSchema.entries,
  parts: partsSchema,
  /** Digest of the parts, read back from the artifact store */
  sha256: v.string(),
});

export type KeptSnapshot = Readonly<v.InferOutput<typeof keptSnapshotSchema>>;

export type Parts = KeptSnapshot['parts'];

/** Lists the keys of the artifacts that a kept snapshot consists of. */
export function listPartKeys({ parts }: Pick<KeptSnapshot, 'parts'>): string[] {
  return Array.from({ length: parts.count }, (_, part) => formatPartKey(parts.prefix, part));
}

async function* readParts(artifacts: ArtifactStore, parts: Parts): AsyncIterable<Uint8Array> {
  for (const key of listPartKeys({ parts })) yield* artifacts.get(key);
}

export async function computeSha256(artifacts: ArtifactStore, parts: Parts): Promise<string> {
  return (await measureStream(readParts(artifacts, parts))).sha256;
}

/** @throws Refusal unless the kept parts have the size and the checksum of the snapshot that the store made */
export function assertIntact({ name, size, checksum, parts, sha256 }: KeptSnapshot): void {
  if (parts.bytes === size && (checksum ?? sha256) === sha256) return;
  throw new Refusal(
    'RefusedSnapshot',
    `The kept parts of ${name} are not what the store made: ${parts.bytes} bytes, SHA-256 ${sha256}.`,
  );
}

/** Reads all parts. @throws Refusal if a part is missing or damaged */
export async function verifyKeptSnapshot(
  artifacts: ArtifactStore,
  snapshot: KeptSnapshot,
): Promise<void> {
  if ((await computeSha256(artifacts, snapshot.parts)) === snapshot.sha256) return;
  throw new Refusal('RefusedSnapshot', `The kept parts of ${snapshot.name} are damaged.`);
}

/** Lowest expected speed at which a store checks and unpacks an upload: 10 MB per second, after a fixed allowance of two minutes */
const MIN_BYTES_PER_MS = 10_000;

/** Extra time for a collection that is empty or has several shards, because it becomes readable before it is complete */
const SETTLING_MS = 10_000;

/**
 * Restores the snapshot under a name that belongs to the run, because a restore silently overwrites an existing collection. If an
 * earlier attempt left a collection with this name, it is removed first: half restored, it may crash the store at its next start.
 */
export async function restoreSnapshot({ stages }: StepContext, restore: Restore): Promise<void> {
  await stages.once('restored', async (context) => {
    while (!(await sendAndWait(context, restore))) await context.stages.rewrite(NOTHING_RECORDED);
  });
}

interface Restore {
  readonly name: string;
  readonly kept: KeptSnapshot;
}

interface Observation {
  /** Number of points; undefined until the collection can be read */
  readonly points?: number;
  /** Time of the first check that found this number */
  readonly at: number;
}

/**
 * @returns false if the snapshot must be sent again: it was not restored in time, and the store never confirmed the upload
 * @throws Refusal if the store confirmed the upload, but did not restore it in time
 */
async function sendAndWait(context: StepContext, restore: Restore): Promise<boolean> {
  const { services, lease, renewLease, stages } = context;
  const { vectors, clock } = services;
  const { name } = restore;
  const clearedEpoch = await stages.once('name-cleared', async () => {
    await assertNoAlias(vectors, name);
    await renewLease();
    await vectors.deleteCollection(name);
    return lease.epoch;
  });
  const { isSent: isConfirmed, at: sentAt } = await stages.once('snapshot-sent', async () => {
    // If an earlier invocation began the upload, it may have arrived: wait for the restore instead of sending it twice.
    const isConfirmed = clearedEpoch === lease.epoch && (await sendSnapshot(context, restore));
    return { isSent: isConfirmed, at: clock().getTime() };
  });
  return await stages.once<boolean, Observation>('readable', (context) =>
    checkRestored(context, { ...restore, isConfirmed, sentAt }),
  );
}

async function checkRestored(
  context: StepContext<Observation>,
  {
    name,
    kept,
    isConfirmed,
    sentAt,
  }: Restore & { readonly isConfirmed: boolean; readonly sentAt: number },
): Promise<boolean> {
  const { cursor: observation = { at: sentAt } } = context;
  const { vectors, clock } = context.services;
  const now = clock().getTime();
  const points = await vectors.countRestoredPoints(name);
  const hasChanged = points !== undefined && points !== observation.points;
  const since = hasChanged ? now : observation.at;
  if (points !== undefined && now - since >= (await chooseSettlingMs(vectors, name, points))) {
    // The store also keeps the uploaded file.
    await vectors.deleteSnapshot(name, kept.name);
    return true;
  }
  if (hasChanged) await context.saveCursor({ points, at: now });
  // The wait is measured from the last observed change: after a crash, minutes may have passed without a check.
  const maxWaitMs = 2 * MINUTE_MS + kept.size / MIN_BYTES_PER_MS;
  if (now - since < maxWaitMs) throw createStorePause(now - since);
  await context.renewLease();
  await vectors.deleteCollection(name);
  if (!isConfirmed) return false;
  throw new Refusal('RefusedSnapshot', `The store did not restore ${kept.name} in time.`);
}

/** @returns true if the store confirmed the upload; false if the response was lost, although the file may have arrived */
async function sendSnapshot(
  { services, signal, renewLease }: Pick<StepContext, 'services' | 'signal' | 'renewLease'>,
  { name, kept }: Restore,
): Promise<boolean> {
  const { vectors, artifacts } = services;
  await renewLease();
  const { size, sha256: checksum, name: fileName } = kept;
  const bytes = readParts(artifacts, kept.parts);
  return await vectors
    .uploadSnapshot(name, { fileName, size, checksum, bytes, signal })
    .then(() => true, falseIfResponseLost);
}

async function chooseSettlingMs(
  vectors: VectorStore,
  name: string,
  points: number,
): Promise<number> {
  const info = await vectors.readCollectionInfo(name);
  return points > 0 && info?.config.params.shard_number === 1 ? 0 : SETTLING_MS;
}

/** @throws Refusal if the name is an alias: users may work on the collection behind it */
export async function assertNoAlias(vectors: VectorStore, name: string): Promise<void> {
  const aliases = await vectors.listAliases();
  if (aliases.every(({ alias_name }) => alias_name !== name)) return;
  throw new Refusal('RefusedNameTaken', `The name ${name} is an alias.`);
}

/** Called before the restore: afterwards, the run's own collection has the name. @throws Refusal if the name is taken */
export async function assertFree(vectors: VectorStore, name: string): Promise<void> {
  await assertNoAlias(vectors, name);
  if (!(await vectors.collectionExists(name))) return;
  throw new Refusal('RefusedNameTaken', `The name ${name} is taken.`);
}

export function createStorePause(awaitedMs: number): Paused {
  return new Paused({ waitsFor: 'the vector store', waitSeconds: pollSeconds(awaitedMs) });
}

/** Turns a lost response into `false`: the store may or may not have carried out the request. */
export const falseIfResponseLost = recoverWith<false>(
  false,
  (error) => error instanceof RetryableFailure && error.code === undefined,
);
