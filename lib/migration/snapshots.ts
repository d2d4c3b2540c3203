// Takes a snapshot of a collection and keeps it as artifacts. The stages start work on the store and poll it, so a snapshot can take
// longer than one invocation.
import type { VectorStore } from './adapters/qdrant.ts';
import {
  assertIntact,
  computeSha256,
  createStorePause,
  falseIfResponseLost,
  type KeptSnapshot,
  type Parts,
  type Snapshot,
} from './kept-snapshot.ts';
import { formatPartKey } from './ports/artifacts.ts';
import type { SnapshotDescription } from './ports/vector-store.ts';
import { isRefusedWith, isRetryableFailure, Refusal } from './refusals.ts';
import { NOTHING_RECORDED, type RecordedJournal, readStage } from './runs/journal.ts';
import type { StepContext } from './runs/step.ts';
import { MINUTE_MS } from './runs/times.ts';
import type { Services } from './services.ts';

/** Recorded before the request is sent. Another request is sent only if this one got no response. */
interface SnapshotRequest {
  readonly at: number;
  /** Time of the response on the store's clock; null if the response has no time, absent without a response */
  readonly accepted?: number | null;
}

interface SentRequests {
  /** Snapshots listed before the first request */
  readonly known: readonly string[];
  readonly requests: readonly SnapshotRequest[];
}

export interface MadeSnapshot extends SentRequests {
  readonly snapshot: Snapshot;
}

const SNAPSHOT_MADE = 'snapshot-made';

const MAX_SNAPSHOT_MS = 10 * MINUTE_MS;
/** If no snapshot is listed within this time after a lost response, another one is requested. */
const LOST_SNAPSHOT_MS = MINUTE_MS;
/** How much earlier or later than the response a snapshot can start: times are in whole seconds, and a busy store starts later. */
const MAX_EARLY_MS = 2_000;
const MAX_DELAY_MS = 15_000;

const UNUSABLE_REASONS = ['RefusedSnapshot', 'RefusedByService', 'RefusedMissingArtifact'];

interface Source {
  readonly collection: string;
  /** Part of the keys of the snapshot's artifacts, besides the run's id and the epoch */
  readonly label: string;
}

/**
 * Takes a snapshot, uses it, and leaves no snapshot on the store. After a failure that would recur with this snapshot, the
 * snapshot and the journal are discarded, so that a repeated step takes a new one.
 */
export async function withSnapshot<Result>(
  context: StepContext,
  source: Source,
  useSnapshot: (kept: KeptSnapshot) => Promise<Result>,
): Promise<Result> {
  const { stages } = context;
  const { collection } = source;
  try {
    const result = await useSnapshot(await keepSnapshot(context, source));
    // A request whose response was lost may have made another snapshot meanwhile.
    await stages.once('store-cleared', () =>
      removeOwnSnapshots(context, collection, readStage(stages.recorded, SNAPSHOT_MADE)),
    );
    return result;
  } catch (error) {
    const isUnusable = error instanceof Refusal && UNUSABLE_REASONS.includes(error.name);
    if (isUnusable && !context.signal.aborted) {
      await removeOwnSnapshots(context, collection, readStage(stages.recorded, SNAPSHOT_MADE));
      await stages.rewrite(NOTHING_RECORDED);
    }
    throw error;
  }
}

async function keepSnapshot(context: StepContext, source: Source): Promise<KeptSnapshot> {
  const { services, run, stages } = context;
  const { collection } = source;
  const { snapshot } = await stages.once<MadeSnapshot, SentRequests>(SNAPSHOT_MADE, (context) =>
    makeSnapshot(context, collection),
  );
  const parts = await stages.once<Parts, Parts>('snapshot-kept', (context) =>
    keepParts(context, { ...source, snapshot }),
  );
  return await stages.once('snapshot-intact', async () => {
    const sha256 = await computeSha256(services.artifacts, parts);
    const kept = { ...snapshot, parts, sha256 };
    assertIntact(kept);
    // The store's own copy is removed now: the restore test needs the space.
    const madeRecord = readStage(stages.recorded, SNAPSHOT_MADE);
    const unknownSnapshots = await removeOwnSnapshots(context, collection, madeRecord);
    if (unknownSnapshots.length > 0) {
      const message =
        'Another program makes snapshots, too: remove by hand those that it does not need';
      services.log({
        level: 'WARN',
        message,
        runId: run.runId,
        collection,
        left: unknownSnapshots.join(', '),
      });
    }
    return kept;
  });
}

/** Accepts any complete snapshot that was begun after one of the run's requests, even if another program requested it. */
async function makeSnapshot(
  context: StepContext<SentRequests>,
  collection: string,
): Promise<MadeSnapshot> {
  const { vectors, clock } = context.services;
  let sentRequests = context.cursor ?? {
    known: await listSnapshotNames(vectors, collection),
    requests: [],
  };
  const [snapshot] = await listOwnSnapshots(vectors, collection, sentRequests);
  if (snapshot) return { ...sentRequests, snapshot };
  if (shouldRequest(sentRequests.requests, clock().getTime(), collection)) {
    sentRequests = await requestSnapshot(context, collection, sentRequests);
    const [snapshot] = await listOwnSnapshots(vectors, collection, sentRequests);
    if (snapshot) return { ...sentRequests, snapshot };
  }
  throw createStorePause(clock().getTime() - (sentRequests.requests.at(-1)?.at ?? 0));
}

/** @throws Refusal if the store took too long */
function shouldRequest(
  requests: readonly SnapshotRequest[],
  now: number,
  collection: string,
): boolean {
  const [firstRequest] = requests;
  const lastRequest = requests.at(-1);
  if (!firstRequest || !lastRequest) return true;
  const isAccepted = lastRequest.accepted !== undefined;
  if (now - (isAccepted ? lastRequest : firstRequest).at >= MAX_SNAPSHOT_MS) {
    const minutes = MAX_SNAPSHOT_MS / MINUTE_MS;
    const why = `The store made no snapshot of ${collection} in ${minutes} minutes; requests: ${requests.length}.`;
    throw new Refusal('RefusedSnapshot', why);
  }
  return !isAccepted && now - lastRequest.at >= LOST_SNAPSHOT_MS;
}

async function requestSnapshot(
  { services: { vectors, clock, log }, run, renewLease, saveCursor }: StepContext<SentRequests>,
  collection: string,
  { known, requests }: SentRequests,
): Promise<SentRequests> {
  const requestedAt = clock().getTime();
  // If the process is killed from here on, the request may or may not have been sent, as after a lost response.
  const unconfirmed = { known, requests: [...requests, { at: requestedAt }] };
  await saveCursor(unconfirmed);
  await renewLease();
  const acceptedAt = await vectors.startSnapshot(collection).catch(falseIfResponseLost);
  if (acceptedAt !== false) {
    const confirmed = {
      known,
      requests: [...requests, { at: requestedAt, accepted: acceptedAt ?? null }],
    };
    await saveCursor(confirmed);
    return confirmed;
  }
  const message =
    'A request for a snapshot was not answered: it is repeated if no snapshot appears';
  log({ level: 'WARN', message, runId: run.runId, collection });
  return unconfirmed;
}

async function listSnapshotNames(vectors: VectorStore, collection: string): Promise<string[]> {
  return (await vectors.listSnapshots(collection)).map(({ name }) => name);
}

/** Lists the snapshots that the run's requests may have made, oldest first. The store lists only complete snapshots. */
async function listOwnSnapshots(
  vectors: VectorStore,
  collection: string,
  { known, requests }: SentRequests,
): Promise<Snapshot[]> {
  const snapshots = await vectors.listSnapshots(collection);
  return snapshots
    .filter(({ name }) => !known.includes(name) && mayBeOurs(name, requests))
    .toSorted((first, second) => (first.name < second.name ? -1 : 1))
    .map(toSnapshot);
}

/** A snapshot is named after the second in which it was begun. If a response had no time, any new snapshot may be the run's. */
function mayBeOurs(name: string, requests: SentRequests['requests']): boolean {
  const [, day, hour, minute, second] =
    /-(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)\.snapshot$/.exec(name) ?? [];
  const startedAt = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  const times = requests.flatMap(({ accepted }) => accepted ?? []);
  if (Number.isNaN(startedAt) || times.length < requests.length) return true;
  return times.some((time) => startedAt > time - MAX_EARLY_MS && startedAt < time + MAX_DELAY_MS);
}

function toSnapshot({ name, size, checksum }: SnapshotDescription): Snapshot {
  return { name, size, checksum: checksum ?? null };
}

async function keepParts(
  context: StepContext<Parts>,
  options: Source & { readonly snapshot: Snapshot },
): Promise<Parts> {
  const { services, run, lease, cursor, checkpoint } = context;
  const { label, snapshot } = options;
  const start = { prefix: `${run.runId}/${label}-${lease.epoch}`, count: 0, bytes: 0 };
  // The prefix is recorded before the first part, so that after a kill the repeated part overwrites it.
  if (!cursor) await checkpoint(() => start);
  let parts = cursor ?? start;
  while (parts.bytes < snapshot.size) {
    parts = await keepNextPart(services, options, parts);
    const progress = { done: parts.bytes, total: snapshot.size, unit: 'bytes' } as const;
    await checkpoint(() => parts, { progress });
  }
  return parts;
}

async function keepNextPart(
  { vectors, artifacts, snapshotPartBytes }: Services,
  { collection, snapshot: { name, size } }: Source & { readonly snapshot: Snapshot },
  parts: Parts,
): Promise<Parts> {
  const { totalBytes, bytes } = await vectors
    .downloadSnapshot(collection, name, parts.bytes)
    .catch((cause: unknown) => {
      if (!isRefusedWith(cause, 404)) throw cause;
      throw new Refusal('RefusedSnapshot', `The store no longer has ${name}.`, { cause });
    });
  if (totalBytes !== undefined && totalBytes !== size) {
    const why = `The snapshot ${name} has ${totalBytes} bytes instead of ${size}.`;
    throw new Refusal('RefusedSnapshot', why);
  }
  const maxBytes = Math.min(snapshotPartBytes, size - parts.bytes);
  const part = await artifacts.put(
    formatPartKey(parts.prefix, parts.count),
    takeFirstBytes(bytes, maxBytes),
  );
  if (part.bytes === 0) {
    const why = `The snapshot ${name} ends after ${parts.bytes} bytes of ${size}.`;
    throw new Refusal('RefusedSnapshot', why);
  }
  return { ...parts, count: parts.count + 1, bytes: parts.bytes + part.bytes };
}

// If the connection breaks, the bytes that arrived become a part, and the next part continues there.
async function* takeFirstBytes(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncIterable<Uint8Array> {
  let remaining = limit;
  try {
    for await (const chunk of bytes) {
      yield chunk.subarray(0, remaining);
      remaining -= chunk.length;
      if (remaining <= 0) return;
    }
  } catch (error) {
    if (remaining === limit || !isRetryableFailure(error)) throw error;
  }
}

/**
 * Removes the snapshots that the requests left on the store: each request may have made one, even if its response was lost. If
 * there are more snapshots than requests, some belong to another program. None is removed then: the store does not tell which.
 * @param record what the journal has for the stage SNAPSHOT_MADE
 * @returns names of the snapshots that were not removed, if any of them may be the run's
 */
async function removeOwnSnapshots(
  { services: { vectors }, renewLease }: Pick<StepContext, 'services' | 'renewLease'>,
  collection: string,
  record: unknown,
): Promise<string[]> {
  if (record === undefined) return [];
  const { snapshot, ...requests } = record as SentRequests & Partial<MadeSnapshot>;
  await renewLease();
  const snapshots = await listOwnSnapshots(vectors, collection, requests);
  const isAlreadyRemoved =
    snapshot !== undefined && snapshots.every(({ name }) => name !== snapshot.name);
  if (snapshots.length > requests.requests.length - (isAlreadyRemoved ? 1 : 0)) {
    return isAlreadyRemoved ? [] : snapshots.map(({ name }) => name);
  }
  for (const { name } of snapshots) await vectors.deleteSnapshot(collection, name);
  return [];
}

/** Removes the snapshots of an abandoned backup, which its journal names. */
export async function removeAbandonedSnapshots(
  context: Pick<StepContext, 'services' | 'renewLease'>,
  collection: string,
  journal: RecordedJournal,
): Promise<void> {
  await removeOwnSnapshots(context, collection, readStage(journal, SNAPSHOT_MADE));
}
