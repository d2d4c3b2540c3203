// A kept snapshot: the artifacts it consists of, their proof, and its restore under another name. The restore starts work on
// the store and polls it, so that it is not bound by one invocation.
import * as v from 'valibot';
import type { VectorStore } from './adapters/qdrant.ts';
import { type ArtifactStore, measureStream, partKey } from './ports/artifacts.ts';
import { Refusal, RetryableFailure, takeAs } from './refusals.ts';
import type { Stage } from './runs/stages.ts';
import { type StepContext, type Waiting, waiting } from './runs/step.ts';
import { MINUTE_MS, pollSeconds } from './runs/times.ts';

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

export const snapshotSchema = v.object({
  name: v.string(),
  size: count,
  /** The store's own SHA-256, where it tells one. */
  checksum: v.nullable(v.string()),
});

/** A snapshot as the store describes it */
export type Snapshot = v.InferOutput<typeof snapshotSchema>;

/** However large the file is, its description stays this small: the parts are numbered. */
export const partsSchema = v.object({ prefix: v.string(), count, bytes: count });

export const keptSnapshotSchema = v.object({
  ...snapshotSchema.entries,
  parts: partsSchema,
  /** Digest of the kept parts, read back */
  sha256: v.string(),
});

export type KeptSnapshot = Readonly<v.InferOutput<typeof keptSnapshotSchema>>;

export type Parts = KeptSnapshot['parts'];

/** Keys of the artifacts that a kept snapshot consists of. */
export function listPartKeys({ parts }: Pick<KeptSnapshot, 'parts'>): string[] {
  return Array.from({ length: parts.count }, (_, part) => partKey(parts.prefix, part));
}

async function* readParts(artifacts: ArtifactStore, parts: Parts): AsyncIterable<Uint8Array> {
  for (const key of listPartKeys({ parts })) yield* artifacts.get(key);
}

export async function computeSha256(artifacts: ArtifactStore, parts: Parts): Promise<string> {
  return (await measureStream(readParts(artifacts, parts))).sha256;
}

/** @throws Refusal unless what was kept is what the store made */
export function assertIntact({ name, size, checksum, parts, sha256 }: KeptSnapshot): void {
  if (parts.bytes === size && (checksum ?? sha256) === sha256) return;
  throw new Refusal(
    'RefusedSnapshot',
    `What is kept of ${name} is not what the store made: ${parts.bytes} bytes, SHA-256 ${sha256}.`,
  );
}

/** Reads all of it. @throws Refusal when something is missing or damaged */
export async function checkKept(artifacts: ArtifactStore, kept: KeptSnapshot): Promise<void> {
  if ((await computeSha256(artifacts, kept.parts)) === kept.sha256) return;
  throw new Refusal('RefusedSnapshot', `What is kept of ${kept.name} is damaged.`);
}

/** Checkpoint of a restore. */
export const restoringSchema = v.object({
  /** Epoch of the lease that has cleared the name and begins the upload. */
  upload: v.optional(v.number()),
  isUploaded: v.optional(v.boolean()),
  /** Since when the collection has had this many points; none from the end of the upload until it can be read. */
  seen: v.optional(v.object({ points: v.optional(v.number()), at: v.number() })),
  /** How many points came back. */
  restored: v.optional(v.number()),
});

type Restoring = v.InferOutput<typeof restoringSchema>;

/** Beside two minutes, for the store to check and unpack what it was sent: 10 MB per second. */
const SLOWEST_BYTES_PER_MS = 10_000;

/** Empty, or of several shards, it may not be complete the first time that it can be read. */
const SETTLING_MS = 10_000;

/**
 * Under a name that is the run's own: onto a collection that exists, a restore overwrites silently.
 * A collection of that name is removed first: a half-restored collection may crash the store at its next start.
 */
export function restoreSnapshot(name: string, kept: KeptSnapshot | undefined): Stage<Restoring> {
  return {
    isDone: ({ restored }) => restored !== undefined,
    advance: async (context, state) => {
      if (!kept) throw new Refusal('RefusedNotNow', `There is no snapshot for ${name}.`);
      return await restoreOn(context, { name, kept }, state);
    },
  };
}

interface Restore {
  readonly name: string;
  readonly kept: KeptSnapshot;
}

const AGAIN: Restoring = { upload: undefined, isUploaded: undefined, seen: undefined };

async function restoreOn(
  context: Pick<StepContext, 'services' | 'lease' | 'signal' | 'renew'>,
  { name, kept }: Restore,
  state: Restoring,
): Promise<Restoring | Waiting> {
  const { services, lease } = context;
  const { vectors, clock } = services;
  const { upload, isUploaded, seen } = state;
  if (upload === undefined) {
    await assertNoAlias(vectors, name);
    await context.renew();
    await vectors.deleteCollection(name);
    return { upload: lease.epoch };
  }
  // One that an earlier invocation began may have arrived: it is waited for, and not sent twice.
  if (isUploaded === undefined) {
    const isSent = upload === lease.epoch && (await send(context, { name, kept }));
    return { isUploaded: isSent, seen: { at: clock().getTime() } };
  }
  const now = clock().getTime();
  const points = await vectors.restoredPoints(name);
  const isNew = points !== undefined && points !== seen?.points;
  const since = isNew ? now : (seen?.at ?? now);
  if (points !== undefined && now - since >= (await settlingMs(vectors, name, points))) {
    // The store keeps the file that it was sent, too.
    await vectors.deleteSnapshot(name, kept.name);
    return { restored: points };
  }
  if (isNew) return { seen: { points, at: now } };
  // Since it last changed: an invocation that crashed may have left it alone for minutes.
  const longest = 2 * MINUTE_MS + kept.size / SLOWEST_BYTES_PER_MS;
  if (now - since < longest) return waitForStore(now - since);
  await context.renew();
  await vectors.deleteCollection(name);
  if (!isUploaded) return AGAIN;
  throw new Refusal('RefusedSnapshot', `The store did not restore ${kept.name} in time.`);
}

/** True if the store reports that it has the whole file. After a lost response it may have. */
async function send(
  { services, signal, renew }: Pick<StepContext, 'services' | 'signal' | 'renew'>,
  { name, kept }: Restore,
): Promise<boolean> {
  const { vectors, artifacts } = services;
  await renew();
  const { size, sha256: checksum, name: fileName } = kept;
  const bytes = readParts(artifacts, kept.parts);
  return await vectors
    .uploadSnapshot(name, { fileName, size, checksum, bytes, signal })
    .then(() => true, unlessLost);
}

async function settlingMs(vectors: VectorStore, name: string, points: number): Promise<number> {
  const info = await vectors.collectionInfo(name);
  return points > 0 && info?.config.params.shard_number === 1 ? 0 : SETTLING_MS;
}

/** Behind an alias is what users may work on. @throws Refusal */
export async function assertNoAlias(vectors: VectorStore, name: string): Promise<void> {
  const aliases = await vectors.listAliases();
  if (aliases.every(({ alias_name }) => alias_name !== name)) return;
  throw new Refusal('RefusedNameTaken', `The name ${name} is an alias.`);
}

/** Once restored, the name is the run's; before, it has to be free. @throws Refusal */
export async function assertFree(vectors: VectorStore, name: string): Promise<void> {
  await assertNoAlias(vectors, name);
  if (!(await vectors.collectionExists(name))) return;
  throw new Refusal('RefusedNameTaken', `The name ${name} is taken.`);
}

export function waitForStore(awaitedMs: number): Waiting {
  return waiting('the vector store', pollSeconds(awaitedMs));
}

/** False after a lost response: the store may have done it. */
export const unlessLost = takeAs<false>(
  false,
  (error) => error instanceof RetryableFailure && error.answer === undefined,
);
