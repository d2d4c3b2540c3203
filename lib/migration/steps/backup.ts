// Snapshot, restore test, counts and the dump of the graph; the manifest comes last and says that all the rest is there and
// was proved.
import * as v from 'valibot';
import { dumpGraph, dumpKeys, verifyDump } from '../graph/dump.ts';
import { isInWindow } from '../phases.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import { type GraphDump, graphDumpSchema, storeReport } from '../runs/reports.ts';
import { referenceSchema } from '../runs/run.ts';
import { drillCollectionOf } from '../runs/run-names.ts';
import { type Stage, takeStages } from '../runs/stages.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { contentsSchema } from '../scan.ts';
import {
  discardUnusableSnapshot,
  removeSnapshot,
  restoreSnapshot,
  restoringEntries,
  takeSnapshot,
  takingEntries,
} from '../snapshots.ts';
import { scanCollection, storeCounts } from './recorded-counts.ts';

const stateSchema = v.object({
  ...takingEntries,
  /** Under a name of its own, as a test. */
  ...restoringEntries,
  /** Of the restored snapshot. */
  contents: v.optional(contentsSchema),
  counts: v.optional(referenceSchema),
  isRemoved: v.optional(v.boolean()),
  dumped: v.optional(v.object({ prefix: v.string(), kind: graphDumpSchema.entries.kind })),
  graph: v.optional(graphDumpSchema),
});

type State = v.InferOutput<typeof stateSchema>;

export const backup: Step = {
  command: 'backup',
  forecast: async ({ services, run }) => {
    const collection = run.plan.sourceCollection;
    const { contents } = await scanCollection(services, run, collection);
    const { points, users } = contents;
    return { collection, points, users };
  },
  work: async (context) => {
    // No data moves in the window: the snapshot from before it is the copy that stays untouched.
    if (context.run.plan.inPlace && isInWindow(context.run.phase)) return { done: true };
    let reached = v.parse(stateSchema, context.checkpoint?.state ?? {});
    const save = async (state: State) => {
      reached = state;
      await context.save(state, progressOf(state));
    };
    try {
      const end = await takeStages(context, stagesOf(context), { from: reached, save });
      if (!end.isComplete) return end.wait;
      return await writeManifest(context, end.state);
    } catch (error) {
      const collection = context.run.plan.sourceCollection;
      const forget = () => context.save({});
      await discardUnusableSnapshot(context, error, { collection, reached, forget });
      throw error;
    }
  },
};

function stagesOf({ run }: StepContext): readonly Stage<State>[] {
  const collection = run.plan.sourceCollection;
  return [
    takeSnapshot({ collection, label: 'snapshot' }),
    restoreSnapshot(drillCollectionOf(run), ({ kept }) => kept),
    { isDone: ({ counts }) => counts !== undefined, advance: countRestored },
    { isDone: ({ isRemoved }) => isRemoved === true, advance: removeRestored },
    // The dump and its read-back each have an invocation of their own, where they are long.
    { isDone: ({ dumped }) => dumped !== undefined, advance: dump },
    { isDone: ({ graph }) => graph !== undefined, advance: readBack },
  ];
}

// Counts and fingerprint are those of the snapshot itself: users go on writing to the collection that it is of.
async function countRestored(context: StepContext): Promise<Partial<State>> {
  const { services, run } = context;
  const scanned = await scanCollection(services, run, drillCollectionOf(run));
  return { contents: scanned.contents, counts: await storeCounts(context, scanned) };
}

async function removeRestored({ services, run, renew }: StepContext): Promise<Partial<State>> {
  await renew();
  await services.vectors.deleteCollection(drillCollectionOf(run));
  return { isRemoved: true };
}

async function writeManifest(context: StepContext, state: State): Promise<Outcome> {
  const { services, run, renew } = context;
  const { contents, counts, kept, graph } = state;
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
    },
  });
  await renew();
  await removeSnapshot(services.vectors, collection, state);
  return { done: true, evidence };
}

function progressOf({ snapshot, parts }: State) {
  return snapshot && { done: parts?.bytes ?? 0, total: snapshot.size };
}

/** @throws Refusal when somebody writes to the graph inside the window */
async function dump({ services, run, lease }: StepContext): Promise<Partial<State>> {
  const { graph: source, artifacts, clock: now } = services;
  const prefix = `${run.runId}/graph-${lease.epoch}`;
  if (!source) return { dumped: { kind: 'none', prefix } };
  try {
    await dumpGraph({ source, artifacts, prefix, runId: run.runId, now });
    return { dumped: { kind: 'exact', prefix } };
  } catch (error) {
    const isWindow = run.deadlineAt !== undefined;
    if (isWindow || !isRefusal(error, 'RefusedNotFrozen')) throw error;
    return { dumped: { kind: 'drifted', prefix } };
  }
}

/**
 * Every value, and both ends of every relationship: what cannot be read is no dump, and has no manifest.
 * @throws Refusal
 */
async function readBack(
  { services: { artifacts } }: StepContext,
  { dumped = { kind: 'none', prefix: '' } }: State,
): Promise<Partial<State>> {
  const { kind, prefix } = dumped;
  if (kind !== 'exact') return { graph: { kind, prefix, nodes: 0, relationships: 0 } };
  try {
    const { nodes, relationships } = (await verifyDump(artifacts, prefix)).contents;
    return { graph: { kind, prefix, nodes, relationships } };
  } catch (error) {
    if (error instanceof Refusal) await artifacts.delete(dumpKeys(prefix).manifest);
    throw error;
  }
}

/** Keys of the artifacts that an exact dump consists of. */
export function filesOf({ kind, prefix }: GraphDump): string[] {
  return kind === 'exact' ? Object.values(dumpKeys(prefix)) : [];
}
