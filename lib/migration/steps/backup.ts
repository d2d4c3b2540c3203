// Counts, snapshot and drill; the manifest comes last and says that all the rest is there and was proved.
import * as v from 'valibot';
import { storeReport } from '../ports/reports.ts';
import type { VectorStore } from '../ports/vector-store.ts';
import { recordCounts } from '../proof/count-record.ts';
import { takeCensus } from '../proof/user-census.ts';
import { Refusal } from '../refusals.ts';
import { referenceSchema } from '../runs/run.ts';
import type { Outcome, Step, Turn } from '../runs/step.ts';
import { backUpGraph, graphDumpSchema } from './graph-backup.ts';
import { drillRestore } from './restore-drill.ts';
import { checkKept, fetchPart, newSnapshot } from './snapshot-backup.ts';

// What is there is done. A killed backup goes on with the first thing that is missing.
const stateSchema = v.object({
  counts: v.optional(referenceSchema),
  /** Snapshots that others made: listed before ours was asked for. */
  known: v.optional(v.array(v.string())),
  askedAt: v.optional(v.number()),
  snapshot: v.optional(
    v.object({ name: v.string(), size: v.number(), checksum: v.nullable(v.string()) }),
  ),
  parts: v.optional(
    v.array(v.object({ artifact: v.string(), bytes: v.number(), sha256: v.string() })),
  ),
  sha256: v.optional(v.string()),
  /** What the restored snapshot held. */
  drilled: v.optional(v.object({ points: v.number(), digest: v.string() })),
  graph: v.optional(graphDumpSchema),
});

type State = v.InferOutput<typeof stateSchema>;

const POLL_SECONDS = 5;
const LONGEST_SNAPSHOT_MS = 10 * 60_000;

export const backup: Step = {
  command: 'backup',
  forecast: async ({ services, run }) => {
    const collection = run.plan.sourceCollection;
    const { points, users } = await takeCensus(services.vectors, {
      collection,
      now: services.clock(),
    });
    return { collection, points, users: users.size };
  },
  work: async (turn) => {
    let state = v.parse(stateSchema, turn.checkpoint?.state ?? {});
    for (const stage of STAGES) {
      while (!stage.isDone(state)) {
        if (!turn.hasTime()) return { done: false, waitSeconds: 0 };
        await turn.renew();
        const next = await stage.advance(turn, state).catch(async (error: unknown) => {
          if (isFutile(error)) await beginAnew(turn, state);
          throw error;
        });
        if (!next) return { done: false, waitSeconds: POLL_SECONDS };
        state = next;
        await turn.save(state, progressOf(state));
      }
    }
    return await writeManifest(turn, state);
  },
};

// What was counted, made or kept will never do: taken again, the backup has to begin with the first thing.
function isFutile(error: unknown): boolean {
  const { name } = error as Error;
  return name === 'RefusedBackupUnproved' || name === 'RefusedSnapshot';
}

async function beginAnew({ services, run, renew, save }: Turn, { snapshot }: State): Promise<void> {
  await renew();
  await removeSnapshot(services.vectors, run.plan.sourceCollection, snapshot?.name);
  await save({});
}

interface Stage {
  readonly isDone: (state: State) => boolean;
  /** Undefined when there is nothing to do but wait. */
  readonly advance: (turn: Turn, state: State) => Promise<State | undefined>;
}

const STAGES: readonly Stage[] = [
  { isDone: ({ counts }) => counts !== undefined, advance: count },
  { isDone: ({ known }) => known !== undefined, advance: listKnown },
  { isDone: ({ askedAt }) => askedAt !== undefined, advance: askForSnapshot },
  { isDone: ({ snapshot }) => snapshot !== undefined, advance: awaitSnapshot },
  { isDone: isFetched, advance: fetchNextPart },
  { isDone: ({ sha256 }) => sha256 !== undefined, advance: check },
  { isDone: ({ drilled }) => drilled !== undefined, advance: drill },
  { isDone: ({ graph }) => graph !== undefined, advance: dump },
];

async function count({ services, run, lease }: Turn, state: State): Promise<State> {
  const { vectors, clock } = services;
  const collection = run.plan.sourceCollection;
  const record = await recordCounts(
    services,
    await takeCensus(vectors, { collection, now: clock() }),
  );
  const counts = await storeReport(services, {
    lease,
    name: 'user-counts',
    content: record,
    facts: {
      points: record.points,
      users: record.users.length,
      witness: record.witness,
      disagreements: record.disagreements.length,
    },
  });
  return { ...state, counts };
}

async function listKnown({ services, run }: Turn, state: State): Promise<State> {
  const listed = await services.vectors.listSnapshots(run.plan.sourceCollection);
  return { ...state, known: listed.map(({ name }) => name) };
}

// A turn that died here may have asked already: what it asked for is then listed, or will be.
async function askForSnapshot({ services, run }: Turn, state: State): Promise<State> {
  const collection = run.plan.sourceCollection;
  const isThere = await newSnapshot(services.vectors, collection, state.known ?? []);
  if (!isThere) await services.vectors.startSnapshot(collection);
  return { ...state, askedAt: services.clock().getTime() };
}

async function awaitSnapshot({ services, run }: Turn, state: State): Promise<State | undefined> {
  const collection = run.plan.sourceCollection;
  const snapshot = await newSnapshot(services.vectors, collection, state.known ?? []);
  if (snapshot) return { ...state, snapshot, parts: [] };
  if (services.clock().getTime() - (state.askedAt ?? 0) < LONGEST_SNAPSHOT_MS) return undefined;
  throw new Refusal('RefusedSnapshot', `The store made no snapshot of ${collection} in time.`);
}

function isFetched({ snapshot, parts = [] }: State): boolean {
  return snapshot !== undefined && bytesOf(parts) >= snapshot.size;
}

async function fetchNextPart({ services, run, lease }: Turn, state: State): Promise<State> {
  const { snapshot, parts = [] } = state;
  if (!snapshot) return state;
  const part = await fetchPart(services, {
    collection: run.plan.sourceCollection,
    snapshot,
    fromByte: bytesOf(parts),
    partBytes: services.snapshotPartBytes,
    artifact: `${run.runId}/snapshot-${lease.epoch}-part-${String(parts.length).padStart(5, '0')}`,
  });
  return { ...state, parts: [...parts, part] };
}

async function check({ services }: Turn, state: State): Promise<State> {
  const { snapshot, parts = [] } = state;
  return snapshot
    ? { ...state, sha256: await checkKept(services.artifacts, { snapshot, parts }) }
    : state;
}

async function drill(turn: Turn, state: State): Promise<State> {
  const { snapshot, parts = [], sha256, counts } = state;
  if (!snapshot || !sha256) return state;
  const points = Number(counts?.facts.points);
  const drilled = await drillRestore(turn, { kept: { snapshot, parts, sha256 }, points });
  return { ...state, drilled };
}

async function dump(turn: Turn, state: State): Promise<State> {
  return { ...state, graph: await backUpGraph(turn) };
}

async function writeManifest(
  { services, run, lease, renew }: Turn,
  state: State,
): Promise<Outcome> {
  const { counts, snapshot, parts, sha256, drilled, graph } = state;
  const storeVersion = await services.vectors.version();
  const collection = run.plan.sourceCollection;
  const evidence = await storeReport(services, {
    lease,
    name: 'backup-manifest',
    content: {
      runId: run.runId,
      collection,
      storeVersion,
      counts,
      snapshot,
      parts,
      sha256,
      drilled,
      graph,
    },
    facts: {
      ...counts?.facts,
      storeVersion,
      fingerprint: drilled?.digest ?? '',
      bytes: snapshot?.size ?? 0,
      graph: graph?.kind ?? 'none',
    },
  });
  await renew();
  await removeSnapshot(services.vectors, collection, snapshot?.name);
  return { done: true, evidence };
}

// It is proved elsewhere by now, and the store's own copy only takes room.
async function removeSnapshot(vectors: VectorStore, collection: string, name?: string) {
  const listed = await vectors.listSnapshots(collection);
  if (name && listed.some((snapshot) => snapshot.name === name)) {
    await vectors.deleteSnapshot(collection, name);
  }
}

function progressOf({ snapshot, parts = [] }: State) {
  return snapshot && { done: bytesOf(parts), total: snapshot.size };
}

function bytesOf(parts: readonly { readonly bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
