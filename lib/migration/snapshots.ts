// Takes a snapshot of a collection and keeps it as artifacts: a sequence of checkpointed stages that start work on the store
// and poll it, so that it is not bound by one invocation.
import * as v from 'valibot';
import type { VectorStore } from './adapters/qdrant.ts';
import {
  assertIntact,
  computeSha256,
  keptSnapshotSchema,
  type Parts,
  partsSchema,
  type Snapshot,
  snapshotSchema,
  unlessLost,
  waitForStore,
} from './kept-snapshot.ts';
import { partKey } from './ports/artifacts.ts';
import type { SnapshotDescription } from './ports/vector-store.ts';
import { isRefusedWith, isRetryableFailure, Refusal } from './refusals.ts';
import type { Progress } from './runs/run.ts';
import { type Stage, takeStages } from './runs/stages.ts';
import type { StepContext, StepRequest, Waiting } from './runs/step.ts';
import { MINUTE_MS } from './runs/times.ts';

/** Noted before it is sent; a second one only where no response came. */
const requestSchema = v.object({
  at: v.number(),
  /** The store's time of its response, null where it tells none; absent where none came. */
  accepted: v.optional(v.nullable(v.number())),
});

/** Checkpoint of taking a snapshot. */
export const takingSchema = v.object({
  /** Snapshots listed before the first request */
  known: v.optional(v.array(v.string())),
  requests: v.optional(v.array(requestSchema)),
  snapshot: v.optional(snapshotSchema),
  parts: v.optional(partsSchema),
  kept: v.optional(keptSnapshotSchema),
});

type Taking = v.InferOutput<typeof takingSchema>;

const MAX_SNAPSHOT_MS = 10 * MINUTE_MS;
/** After a lost response: by then a snapshot that was started is listed, or a second one does no harm. */
const LOST_SNAPSHOT_MS = MINUTE_MS;
/** Both times are in whole seconds, and a store under load begins later. */
const EARLIEST_MS = 2_000;
const LATEST_MS = 15_000;

/** @param label names its artifacts, beside the run's id and the epoch they were made in */
export function takeSnapshot(options: {
  readonly collection: string;
  readonly label: string;
}): Stage<Taking> {
  return {
    isDone: ({ kept }) => kept !== undefined,
    advance: (context, state, keep) => takeOn(context, { ...options, keep }, state),
  };
}

interface Taken {
  readonly collection: string;
  readonly label: string;
  readonly keep: (reached: Taking) => Promise<unknown>;
}

async function takeOn(
  context: StepContext,
  { collection, label, keep }: Taken,
  state: Taking,
): Promise<Taking | Waiting> {
  const { services, run, lease } = context;
  const { vectors, artifacts } = services;
  const { known, snapshot, parts } = state;
  if (!known) {
    const listed = await vectors.listSnapshots(collection);
    return { known: listed.map(({ name }) => name) };
  }
  if (!snapshot || !parts) {
    // Any complete one that was begun after a request is as good, also one that another program asked for.
    const [found] = await listMade(vectors, collection, state);
    const prefix = `${run.runId}/${label}-${lease.epoch}`;
    if (found) return { snapshot: found, parts: { prefix, count: 0, bytes: 0 } };
    return await requestOrWait(context, { collection, keep }, state);
  }
  if (parts.bytes < snapshot.size) {
    return { parts: await keepNextPart(services, { collection, snapshot, parts }) };
  }
  const kept = { ...snapshot, parts, sha256: await computeSha256(artifacts, parts) };
  assertIntact(kept);
  // The store's own copy only takes space now: that of the restore test.
  await context.renew();
  const left = await removeSnapshot(vectors, collection, state);
  if (left.length > 0) {
    const message =
      'Another program makes snapshots, too: remove by hand those that it does not need';
    services.log({ level: 'WARN', message, runId: run.runId, collection, left: left.join(', ') });
  }
  return { kept };
}

async function requestOrWait(
  { services: { vectors, clock, log }, run, renew }: StepContext,
  { collection, keep }: Pick<Taken, 'collection' | 'keep'>,
  { requests = [] }: Taking,
): Promise<Taking | Waiting> {
  const now = clock().getTime();
  const [first] = requests;
  const last = requests.at(-1);
  if (first && last) {
    const isAccepted = last.accepted !== undefined;
    if (now - (isAccepted ? last : first).at >= MAX_SNAPSHOT_MS) {
      const minutes = MAX_SNAPSHOT_MS / MINUTE_MS;
      const why = `The store made no snapshot of ${collection} in ${minutes} minutes; requests: ${requests.length}.`;
      throw new Refusal('RefusedSnapshot', why);
    }
    if (isAccepted || now - last.at < LOST_SNAPSHOT_MS) return waitForStore(now - last.at);
  }
  // Killed from here on, the request may have been sent or not, just as where its response is lost.
  await keep({ requests: [...requests, { at: now }] });
  await renew();
  const time = await vectors.startSnapshot(collection).catch(unlessLost);
  if (time !== false) return { requests: [...requests, { at: now, accepted: time ?? null }] };
  const message = 'A request for a snapshot was not answered: where none appears, it is repeated';
  log({ level: 'WARN', message, runId: run.runId, collection });
  return waitForStore(0);
}

/** Begun after one of our requests, the oldest first: being listed, they are complete. */
async function listMade(
  vectors: VectorStore,
  collection: string,
  { known, requests = [] }: Taking,
): Promise<Snapshot[]> {
  const listed = await vectors.listSnapshots(collection);
  return listed
    .filter(({ name }) => !known?.includes(name) && isMadeThen(name, requests))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
    .map(describe);
}

/** The store names one after the second in which it begins it. Where it told no time, any new one may be meant. */
function isMadeThen(name: string, requests: NonNullable<Taking['requests']>): boolean {
  const [, day, hour, minute, second] =
    /-(\d{4}-\d\d-\d\d)-(\d\d)-(\d\d)-(\d\d)\.snapshot$/.exec(name) ?? [];
  const begun = Date.parse(`${day}T${hour}:${minute}:${second}Z`);
  const times = requests.flatMap(({ accepted }) => accepted ?? []);
  if (Number.isNaN(begun) || times.length < requests.length) return true;
  return times.some((time) => begun > time - EARLIEST_MS && begun < time + LATEST_MS);
}

function describe({ name, size, checksum }: SnapshotDescription): Snapshot {
  return { name, size, checksum: checksum ?? null };
}

async function keepNextPart(
  services: StepRequest['services'],
  options: { readonly collection: string; readonly snapshot: Snapshot; readonly parts: Parts },
): Promise<Parts> {
  const { vectors, artifacts, snapshotPartBytes } = services;
  const { collection, snapshot, parts } = options;
  const { name, size } = snapshot;
  const { totalBytes, bytes } = await vectors
    .downloadSnapshot(collection, name, parts.bytes)
    .catch((cause: unknown) => {
      if (!isRefusedWith(cause, 404)) throw cause;
      throw new Refusal('RefusedSnapshot', `The store has no ${name} any more.`, { cause });
    });
  if (totalBytes !== undefined && totalBytes !== size) {
    const why = `The snapshot ${name} has ${totalBytes} bytes instead of ${size}.`;
    throw new Refusal('RefusedSnapshot', why);
  }
  const wanted = Math.min(snapshotPartBytes, size - parts.bytes);
  const kept = await artifacts.put(partKey(parts.prefix, parts.count), firstBytes(bytes, wanted));
  if (kept.bytes === 0) {
    const why = `The snapshot ${name} ends after ${parts.bytes} bytes of ${size}.`;
    throw new Refusal('RefusedSnapshot', why);
  }
  return { ...parts, count: parts.count + 1, bytes: parts.bytes + kept.bytes };
}

// A connection may break at any byte: what it has brought is a part, and the next one continues where it ends.
async function* firstBytes(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncIterable<Uint8Array> {
  let left = limit;
  try {
    for await (const chunk of bytes) {
      yield chunk.subarray(0, left);
      left -= chunk.length;
      if (left <= 0) return;
    }
  } catch (error) {
    if (left === limit || !isRetryableFailure(error)) throw error;
  }
}

/**
 * Removes what the requests left on the store: each one may have made a snapshot, also where its response was lost. With more
 * snapshots than requests, some are another program's, and the store does not say which ones: all are left.
 * @returns their names, if one of them may be the run's
 */
export async function removeSnapshot(
  vectors: VectorStore,
  collection: string,
  state: Taking,
): Promise<string[]> {
  const { known, requests = [], snapshot } = state;
  if (!known) return [];
  const made = await listMade(vectors, collection, state);
  const isGone = snapshot !== undefined && made.every(({ name }) => name !== snapshot.name);
  if (made.length > requests.length - (isGone ? 1 : 0)) {
    return isGone ? [] : made.map(({ name }) => name);
  }
  for (const { name } of made) await vectors.deleteSnapshot(collection, name);
  return [];
}

const UNUSABLE = ['RefusedSnapshot', 'RefusedByService', 'RefusedMissingArtifact'];

/**
 * Stages that take a snapshot of the collection and use it. After a failure that this snapshot will always lead to, it is
 * discarded, so that the step, when it is taken again, begins with a new one.
 */
export async function takeSnapshotStages<State extends { readonly taking: Taking }>(
  context: StepContext,
  collection: string,
  options: {
    readonly stages: readonly Stage<State>[];
    readonly from: State;
    /** Without a snapshot. */
    readonly start: State;
    readonly save: (state: State, progress?: Progress) => Promise<unknown>;
  },
): Promise<State | Waiting> {
  const { stages, from, start, save } = options;
  let reached = from;
  const keep = async (state: State, progress?: Progress) => {
    reached = state;
    await save(state, progress);
  };
  try {
    return await takeStages(context, stages, { from, save: keep });
  } catch (error) {
    const isUnusable = error instanceof Refusal && UNUSABLE.includes(error.name);
    if (isUnusable && !context.signal.aborted) {
      await context.renew();
      await removeSnapshot(context.services.vectors, collection, reached.taking);
      await save(start);
    }
    throw error;
  }
}
