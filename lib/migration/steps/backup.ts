// Snapshot, restore test, counts and the dump of the graph; the manifest comes last and says that all the rest is there and
// was proved.
import * as v from 'valibot';
import { digestDump, dumpGraph, dumpKeys, verifyDump } from '../graph/dump.ts';
import { restoreSnapshot, restoringSchema } from '../kept-snapshot.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import { type GraphDump, graphDumpSchema, storeReport } from '../runs/reports.ts';
import { type Progress, type Reference, type Run, referenceSchema } from '../runs/run.ts';
import { restoreTestCollectionOf } from '../runs/run-names.ts';
import { isWaiting, type Stage, within } from '../runs/stages.ts';
import type { Step, StepContext, Waiting } from '../runs/step.ts';
import { contentsSchema } from '../scan.ts';
import type { Services } from '../services.ts';
import { removeSnapshot, takeSnapshot, takeSnapshotStages, takingSchema } from '../snapshots.ts';
import { scanCollection, storeCounts } from './recorded-counts.ts';
import {
  assertWholeRestore,
  LISTING_START,
  type Listing,
  listBefore,
  listingSchema,
  removeListing,
} from './restore-proof.ts';

export const backupSchema = v.object({
  /** Digests right before the snapshot. Unused in a window, which proves by one digest that it restores what is frozen. */
  listing: v.optional(listingSchema, LISTING_START),
  taking: v.optional(takingSchema, {}),
  /** Under a name of its own, as a test. */
  restoring: v.optional(restoringSchema, {}),
  /** Counts of the restored snapshot */
  counted: v.optional(v.object({ contents: contentsSchema, counts: referenceSchema })),
  isRemoved: v.optional(v.boolean()),
  dumped: v.optional(v.object({ prefix: v.string(), kind: graphDumpSchema.entries.kind })),
  graph: v.optional(graphDumpSchema),
});

export type BackupState = v.InferOutput<typeof backupSchema>;

export const backup: Step = {
  command: 'backup',
  forecast: async ({ services, run }) => {
    const collection = run.plan.sourceCollection;
    const { contents } = await scanCollection(services, run, collection);
    const { points, users } = contents;
    return { collection, points, users };
  },
  work: async (context) => {
    const { checkpoint, save } = context;
    const from = v.parse(backupSchema, checkpoint?.state ?? {});
    const kept = await takeBackup(context, { from, save });
    return isWaiting(kept) ? kept : { done: true, evidence: kept };
  },
};

/** @returns its manifest, or what is waited for */
export async function takeBackup(
  context: StepContext,
  {
    from,
    save,
  }: {
    readonly from: BackupState;
    readonly save: (reached: BackupState, progress?: Progress) => Promise<unknown>;
  },
): Promise<Reference | Waiting> {
  const end = await takeSnapshotStages(context, context.run.plan.sourceCollection, {
    stages: listStages(context),
    from,
    start: v.parse(backupSchema, {}),
    save: (state) => save(state, describeProgress(state)),
  });
  return isWaiting(end) ? end : await writeManifest(context, end);
}

function listStages({ run }: StepContext): readonly Stage<BackupState>[] {
  const collection = run.plan.sourceCollection;
  return [
    ...(run.window ? [] : [listingStage]),
    within('taking', () => takeSnapshot({ collection, label: 'snapshot' })),
    within('restoring', ({ taking }) => restoreSnapshot(restoreTestCollectionOf(run), taking.kept)),
    { isDone: ({ counted }) => counted !== undefined, advance: countRestored },
    { isDone: ({ isRemoved }) => isRemoved === true, advance: removeProof },
    // The dump and its read-back each have an invocation of their own, where they are long.
    { isDone: ({ dumped }) => dumped !== undefined, advance: dump },
    { isDone: ({ graph }) => graph !== undefined, advance: readBack },
  ];
}

const listingStage: Stage<BackupState> = {
  isDone: ({ listing }) => listing.isComplete,
  advance: async (context, { listing: from }, keep) => {
    const save = (listing: Listing) => keep({ listing });
    const listing = await listBefore(context, { from, save });
    return isWaiting(listing) ? listing : { listing };
  },
};

// Counts and fingerprint are those of the snapshot itself: users go on writing to the collection that it is of.
async function countRestored(
  context: StepContext,
  { listing }: BackupState,
): Promise<Partial<BackupState>> {
  const { services, run } = context;
  const restored = restoreTestCollectionOf(run);
  if (!run.window) {
    await assertWholeRestore(context, restored, listing).catch(async (error: unknown) => {
      if (error instanceof Refusal) await removeRestored(context);
      throw error;
    });
  }
  const scanned = await scanCollection(services, run, restored);
  return {
    counted: { contents: scanned.contents, counts: await storeCounts(context, scanned) },
  };
}

// Only once the counts are kept: an invocation that was killed before that proves the restore again, by the same list.
async function removeProof(
  context: StepContext,
  { listing }: BackupState,
): Promise<Partial<BackupState>> {
  await removeListing(context, listing);
  await removeRestored(context);
  return { isRemoved: true };
}

async function removeRestored({ services, run, renew }: StepContext): Promise<void> {
  await renew();
  await services.vectors.deleteCollection(restoreTestCollectionOf(run));
}

async function writeManifest(context: StepContext, state: BackupState): Promise<Reference> {
  const { services, run, renew } = context;
  const {
    taking: { kept },
    counted: { contents, counts } = {},
    graph,
  } = state;
  const storeVersion = await services.vectors.version();
  const collection = run.plan.sourceCollection;
  const evidence = await storeReport(context, 'backup-manifest', {
    more: { collection, counts, snapshot: kept, contents, graph },
    facts: {
      ...counts?.facts,
      storeVersion,
      fingerprint: contents?.digest ?? '',
      bytes: kept?.size ?? 0,
      graph: graph?.kind ?? 'none',
      ...(graph?.digest && { graphDigest: graph.digest }),
    },
  });
  await renew();
  await removeSnapshot(services.vectors, collection, state.taking);
  return evidence;
}

function describeProgress({ taking: { snapshot, parts } }: BackupState) {
  return snapshot && { done: parts?.bytes ?? 0, total: snapshot.size, unit: 'bytes' as const };
}

/** The next backup would be without the graph that the last one has. @throws Refusal */
export function assertGraphNamed({ graph }: Pick<Services, 'graph'>, { evidence }: Run): void {
  const { graph: kind = 'none' } = evidence['backup-manifest']?.facts ?? {};
  if (graph || kind === 'none') return;
  throw new Refusal('RefusedSetting', 'The run has backed up a graph, and NEO4J_URL is not set.');
}

/** @throws Refusal if the graph changes inside the window */
async function dump({ services, run, lease }: StepContext): Promise<Partial<BackupState>> {
  assertGraphNamed(services, run);
  const { graph: source, artifacts, clock: now } = services;
  const prefix = `${run.runId}/graph-${lease.epoch}`;
  if (!source) return { dumped: { kind: 'none', prefix } };
  try {
    await dumpGraph({ source, artifacts, prefix, runId: run.runId, now });
    return { dumped: { kind: 'exact', prefix } };
  } catch (error) {
    if (run.window || !isRefusal(error, 'RefusedNotFrozen')) throw error;
    return { dumped: { kind: 'drifted', prefix } };
  }
}

/**
 * The digest of every file, and every value: what cannot be read is no dump, and has no manifest.
 * @throws Refusal
 */
async function readBack(
  { services: { artifacts } }: StepContext,
  { dumped = { kind: 'none', prefix: '' } }: BackupState,
): Promise<Partial<BackupState>> {
  const { kind, prefix } = dumped;
  if (kind !== 'exact') return { graph: { kind, prefix, nodes: 0, relationships: 0 } };
  try {
    const { nodes, relationships } = (await verifyDump(artifacts, prefix)).contents;
    const digest = await digestDump(artifacts, prefix);
    return { graph: { kind, prefix, nodes, relationships, digest } };
  } catch (error) {
    if (error instanceof Refusal) await artifacts.delete(dumpKeys(prefix).manifest);
    throw error;
  }
}

/** Keys of the artifacts that an exact dump consists of. */
export function listFiles({ kind, prefix }: GraphDump): string[] {
  return kind === 'exact' ? Object.values(dumpKeys(prefix)) : [];
}
