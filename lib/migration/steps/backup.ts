// Snapshot, restore test and counts; the manifest comes last and says that all the rest is there and was proved.
import * as v from 'valibot';
import { graphDumpSchema } from '../proof/backup-manifest.ts';
import { storeReport } from '../runs/reports.ts';
import { referenceSchema } from '../runs/run.ts';
import { drillCollectionOf } from '../runs/run-names.ts';
import { type Stage, takeStages } from '../runs/stages.ts';
import { type Outcome, type Step, type Turn, waiting } from '../runs/step.ts';
import { contentsSchema } from '../scan.ts';
import {
  discardUnusableSnapshot,
  removeSnapshot,
  restoreSnapshot,
  restoringEntries,
  takeSnapshot,
  takingEntries,
} from '../snapshots.ts';
import { backUpGraph } from './graph-backup.ts';
import { scanCollection, storeCounts } from './recorded-counts.ts';

const stateSchema = v.object({
  ...takingEntries,
  /** Under a name of its own, as a test. */
  ...restoringEntries,
  /** Of the restored snapshot. */
  contents: v.optional(contentsSchema),
  counts: v.optional(referenceSchema),
  isRemoved: v.optional(v.boolean()),
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
  work: async (turn) => {
    let reached = v.parse(stateSchema, turn.checkpoint?.state ?? {});
    const save = async (state: State) => {
      reached = state;
      await turn.save(state, progressOf(state));
    };
    try {
      const end = await takeStages(turn, stagesOf(turn), { from: reached, save });
      if (!end.isComplete) return waiting(end.waitSeconds);
      return await writeManifest(turn, end.state);
    } catch (error) {
      const collection = turn.run.plan.sourceCollection;
      const forget = () => turn.save({});
      await discardUnusableSnapshot(turn, error, { collection, reached, forget });
      throw error;
    }
  },
};

function stagesOf({ run }: Turn): readonly Stage<State>[] {
  const collection = run.plan.sourceCollection;
  return [
    takeSnapshot({ collection, label: 'snapshot' }),
    restoreSnapshot(drillCollectionOf(run), ({ kept }) => kept),
    { isDone: ({ counts }) => counts !== undefined, advance: countRestored },
    { isDone: ({ isRemoved }) => isRemoved === true, advance: removeRestored },
    { isDone: ({ graph }) => graph !== undefined, advance: dump },
  ];
}

// Counts and fingerprint are those of the snapshot itself: users go on writing to the collection that it is of.
async function countRestored(turn: Turn, state: State): Promise<State> {
  const { services, run } = turn;
  const scanned = await scanCollection(services, run, drillCollectionOf(run));
  return { ...state, contents: scanned.contents, counts: await storeCounts(turn, scanned) };
}

async function removeRestored({ services, run, renew }: Turn, state: State): Promise<State> {
  await renew();
  await services.vectors.deleteCollection(drillCollectionOf(run));
  return { ...state, isRemoved: true };
}

async function dump(turn: Turn, state: State): Promise<State> {
  return { ...state, graph: await backUpGraph(turn) };
}

async function writeManifest(
  { services, run, lease, renew }: Turn,
  state: State,
): Promise<Outcome> {
  const { contents, counts, kept, graph } = state;
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
      snapshot: kept,
      contents,
      graph,
    },
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
