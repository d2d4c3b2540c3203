// From a collection to its snapshot, kept as artifacts and checked there: the stages that every snapshot goes through.
import * as v from 'valibot';
import type { VectorStore } from '../ports/vector-store.ts';
import { partSchema, snapshotSchema } from '../proof/backup-manifest.ts';
import { Refusal } from '../refusals.ts';
import type { Stage } from '../runs/stages.ts';
import type { Turn } from '../runs/step.ts';
import type { KeptSnapshot } from './restore-snapshot.ts';
import { checkKept, fetchPart, newSnapshot } from './snapshot-backup.ts';

export const snapshotEntries = {
  /** Snapshots that others made: listed before ours was asked for. */
  known: v.optional(v.array(v.string())),
  askedAt: v.optional(v.number()),
  snapshot: v.optional(snapshotSchema),
  parts: v.optional(v.array(partSchema)),
  sha256: v.optional(v.string()),
};

const stateSchema = v.object(snapshotEntries);

export type SnapshotState = v.InferOutput<typeof stateSchema>;

const LONGEST_SNAPSHOT_MS = 10 * 60_000;

/** @param label what its artifacts are called, beside the run's id and the turn they were made in */
export function snapshotStages<State extends SnapshotState>({
  collection,
  label,
}: {
  readonly collection: string;
  readonly label: string;
}): readonly Stage<State>[] {
  const isThere = (vectors: VectorStore, { known = [] }: State) =>
    newSnapshot(vectors, collection, known);
  return [
    {
      isDone: ({ known }) => known !== undefined,
      advance: async ({ services }, state) => {
        const listed = await services.vectors.listSnapshots(collection);
        return { ...state, known: listed.map(({ name }) => name) };
      },
    },
    {
      isDone: ({ askedAt }) => askedAt !== undefined,
      // A turn that died here may have asked already: what it asked for is then listed, or will be.
      advance: async ({ services }, state) => {
        const { vectors, clock } = services;
        if (!(await isThere(vectors, state))) await vectors.startSnapshot(collection);
        return { ...state, askedAt: clock().getTime() };
      },
    },
    {
      isDone: ({ snapshot }) => snapshot !== undefined,
      advance: async ({ services }, state) => {
        const { vectors, clock } = services;
        const snapshot = await isThere(vectors, state);
        if (snapshot) return { ...state, snapshot, parts: [] };
        if (clock().getTime() - (state.askedAt ?? 0) < LONGEST_SNAPSHOT_MS) return undefined;
        const why = `The store made no snapshot of ${collection} in time.`;
        throw new Refusal('RefusedSnapshot', why);
      },
    },
    {
      isDone: ({ snapshot, parts = [] }) =>
        snapshot !== undefined && bytesOf(parts) >= snapshot.size,
      advance: async ({ services, run, lease }, state) => {
        const { snapshot, parts = [] } = state;
        if (!snapshot) return state;
        const part = await fetchPart(services, {
          collection,
          snapshot,
          fromByte: bytesOf(parts),
          partBytes: services.snapshotPartBytes,
          artifact: `${run.runId}/${label}-${lease.epoch}-part-${String(parts.length).padStart(5, '0')}`,
        });
        return { ...state, parts: [...parts, part] };
      },
    },
    {
      isDone: ({ sha256 }) => sha256 !== undefined,
      advance: async ({ services }, state) => {
        const { snapshot, parts = [] } = state;
        if (!snapshot) return state;
        return { ...state, sha256: await checkKept(services.artifacts, { snapshot, parts }) };
      },
    },
  ];
}

/**
 * When what was counted, made or kept will never do: taken again, the step has to begin with the first thing.
 * @param forget saves the checkpoint without it
 */
export async function forgetFutile(
  { services, renew, signal }: Turn,
  error: unknown,
  options: {
    readonly collection: string;
    readonly reached: SnapshotState;
    readonly forget: () => Promise<void>;
  },
): Promise<void> {
  if (!isFutile(error) || signal.aborted) return;
  await renew();
  await removeSnapshot(services.vectors, options.collection, options.reached);
  await options.forget();
}

const FUTILE = [
  'RefusedSnapshot',
  'RefusedSnapshot',
  'RefusedSnapshot',
  // A store refuses what is not what its checksum says, a part that is missing ends the sending.
  'RefusedByStore',
  'RefusedMissingArtifact',
];

function isFutile(error: unknown): boolean {
  return error instanceof Refusal && FUTILE.includes(error.name);
}

/** Undefined until all of it is kept and checked. */
export function keptSnapshotOf(state: SnapshotState): KeptSnapshot | undefined {
  const { snapshot, parts, sha256 } = state;
  return snapshot && parts && sha256 ? { snapshot, parts, sha256 } : undefined;
}

/** Kept elsewhere by now: the store's own copy only takes room. */
export async function removeSnapshot(
  vectors: VectorStore,
  collection: string,
  { snapshot }: SnapshotState,
): Promise<void> {
  const listed = await vectors.listSnapshots(collection);
  if (snapshot && listed.some(({ name }) => name === snapshot.name)) {
    await vectors.deleteSnapshot(collection, snapshot.name);
  }
}

export function bytesOf(parts: readonly { readonly bytes: number }[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}
