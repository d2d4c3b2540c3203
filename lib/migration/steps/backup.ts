// Takes a backup: a snapshot with its restore test, counts, and a dump of the graph. The manifest is written last, so it proves
// that the other artifacts exist and were tested.
import { digestDump, dumpGraph, listDumpKeys, verifyDump } from '../graph/dump.ts';
import { type KeptSnapshot, restoreSnapshot } from '../kept-snapshot.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import { type GraphDump, storeReport } from '../runs/reports.ts';
import type { Reference, Run } from '../runs/run.ts';
import { restoreTestCollectionOf } from '../runs/run-names.ts';
import type { Step, StepContext } from '../runs/step.ts';
import type { Contents } from '../scan.ts';
import type { Services } from '../services.ts';
import { withSnapshot } from '../snapshots.ts';
import { scanCollection, storeCounts } from './recorded-counts.ts';
import {
  assertWholeRestore,
  type Listing,
  listBeforeSnapshot,
  removeListing,
} from './restore-proof.ts';

export const backup: Step = {
  command: 'backup',
  forecast: async ({ services, run }) => {
    const collection = run.plan.sourceCollection;
    const { contents } = await scanCollection(services, run, collection);
    const { points, users } = contents;
    return { collection, points, users };
  },
  work: async (context) => ({ evidence: await takeBackup(context) }),
};

/** @returns the reference to the backup's manifest */
export async function takeBackup(context: StepContext): Promise<Reference> {
  const { run, stages } = context;
  const source = { collection: run.plan.sourceCollection, label: 'snapshot' };
  const restoredCollection = restoreTestCollectionOf(run);
  // Writes are frozen in a window, so the digest of the whole collection proves the restore, and no list is needed.
  const listing = run.window ? undefined : await listBeforeSnapshot(context);
  const provedBackup = await withSnapshot(context, source, async (kept) => {
    await restoreSnapshot(context, { name: restoredCollection, kept });
    const counted = await stages.once('counted', () => countRestored(context, listing));
    // The list and the restored collection are kept until the counts are recorded: if the invocation is killed before, the next one
    // needs them to prove the restore again.
    await stages.once('proof-removed', () => removeRestoreTest(context, listing));
    const newDump = await stages.once('graph-dumped', () => createDump(context));
    const graph = await stages.once('graph-read-back', () => readBack(context, newDump));
    return { kept, counted, graph };
  });
  return await stages.once('manifest', () => writeManifest(context, provedBackup));
}

interface CountedRestore {
  readonly contents: Contents;
  readonly counts: Reference;
}

// Counts and fingerprint are taken from the restored snapshot, because users keep writing to the source.
async function countRestored(
  context: StepContext,
  listing: Listing | undefined,
): Promise<CountedRestore> {
  const { services, run } = context;
  const restoredCollection = restoreTestCollectionOf(run);
  if (listing) {
    await assertWholeRestore(context, restoredCollection, listing).catch(async (error: unknown) => {
      if (error instanceof Refusal) await removeRestored(context);
      throw error;
    });
  }
  const scanned = await scanCollection(services, run, restoredCollection);
  return { contents: scanned.contents, counts: await storeCounts(context, scanned) };
}

async function removeRestoreTest(
  context: StepContext,
  listing: Listing | undefined,
): Promise<void> {
  if (listing) await removeListing(context, listing);
  await removeRestored(context);
}

async function removeRestored({ services, run, renewLease }: StepContext): Promise<void> {
  await renewLease();
  await services.vectors.deleteCollection(restoreTestCollectionOf(run));
}

interface ProvedBackup {
  readonly kept: KeptSnapshot;
  readonly counted: CountedRestore;
  readonly graph: GraphDump;
}

async function writeManifest(
  context: StepContext,
  { kept, counted: { contents, counts }, graph }: ProvedBackup,
): Promise<Reference> {
  const { services, run } = context;
  const storeVersion = await services.vectors.fetchVersion();
  const collection = run.plan.sourceCollection;
  return await storeReport(context, 'backup-manifest', {
    details: { collection, counts, snapshot: kept, contents, graph },
    facts: {
      ...counts.facts,
      storeVersion,
      fingerprint: contents.digest,
      bytes: kept.size,
      graph: graph.kind,
      ...(graph.digest && { graphDigest: graph.digest }),
    },
  });
}

/** @throws Refusal if the previous backup has a graph and this one would have none */
export function assertGraphConfigured({ graph }: Pick<Services, 'graph'>, { evidence }: Run): void {
  const { graph: kind = 'none' } = evidence['backup-manifest']?.facts ?? {};
  if (graph || kind === 'none') return;
  throw new Refusal('RefusedSetting', 'The run has backed up a graph, but NEO4J_URL is not set.');
}

type NewDump = Pick<GraphDump, 'kind' | 'prefix'>;

/** @throws Refusal if the graph changes during the window */
async function createDump({ services, run, lease }: StepContext): Promise<NewDump> {
  assertGraphConfigured(services, run);
  const { graph: source, artifacts, clock: now } = services;
  const prefix = `${run.runId}/graph-${lease.epoch}`;
  if (!source) return { kind: 'none', prefix };
  try {
    await dumpGraph({ source, artifacts, prefix, runId: run.runId, now });
    return { kind: 'exact', prefix };
  } catch (error) {
    if (run.window || !isRefusal(error, 'RefusedNotFrozen')) throw error;
    return { kind: 'drifted', prefix };
  }
}

/**
 * Reads every file and every value of the dump again. The manifest of a damaged dump is deleted: without it, the files are not a
 * dump.
 * @throws Refusal if the dump is damaged
 */
async function readBack(
  { services: { artifacts } }: StepContext,
  { kind, prefix }: NewDump,
): Promise<GraphDump> {
  if (kind !== 'exact') return { kind, prefix, nodes: 0, relationships: 0 };
  try {
    const { nodes, relationships } = (await verifyDump(artifacts, prefix)).contents;
    const digest = await digestDump(artifacts, prefix);
    return { kind, prefix, nodes, relationships, digest };
  } catch (error) {
    if (error instanceof Refusal) await artifacts.delete(listDumpKeys(prefix).manifest);
    throw error;
  }
}

/** Lists the keys of the artifacts that the graph dump consists of; none unless the dump is exact. */
export function listGraphKeys({ kind, prefix }: GraphDump): string[] {
  return kind === 'exact' ? Object.values(listDumpKeys(prefix)) : [];
}
