// Counts, snapshot and drill; the manifest comes last and says that all the rest is there and was proved.
import * as v from 'valibot';
import { graphDumpSchema } from '../proof/backup-manifest.ts';
import { recordCounts } from '../proof/count-record.ts';
import { fingerprintSchema } from '../proof/fingerprint.ts';
import { takeCensus } from '../proof/user-census.ts';
import { storeReport } from '../runs/reports.ts';
import { referenceSchema } from '../runs/run.ts';
import { type Stage, takeStages } from '../runs/stages.ts';
import { type Outcome, type Step, type Turn, waiting } from '../runs/step.ts';
import { backUpGraph } from './graph-backup.ts';
import { drillRestore } from './restore-drill.ts';
import {
  bytesOf,
  forgetFutile,
  keptSnapshotOf,
  removeSnapshot,
  snapshotEntries,
  snapshotStages,
} from './snapshot-stages.ts';

const stateSchema = v.object({
  counts: v.optional(referenceSchema),
  ...snapshotEntries,
  /** What the restored snapshot held. */
  drilled: v.optional(fingerprintSchema),
  graph: v.optional(graphDumpSchema),
});

type State = v.InferOutput<typeof stateSchema>;

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
      await forgetFutile(turn, error, { collection, reached, forget: () => turn.save({}) });
      throw error;
    }
  },
};

function stagesOf({ run }: Turn): readonly Stage<State>[] {
  const collection = run.plan.sourceCollection;
  return [
    { isDone: ({ counts }) => counts !== undefined, advance: count },
    ...snapshotStages<State>({ collection, label: 'snapshot' }),
    { isDone: ({ drilled }) => drilled !== undefined, advance: drill },
    { isDone: ({ graph }) => graph !== undefined, advance: dump },
  ];
}

async function count(turn: Turn, state: State): Promise<State> {
  const { services, run, lease } = turn;
  const { vectors, clock } = services;
  const collection = run.plan.sourceCollection;
  const record = await recordCounts(
    services,
    await takeCensus(vectors, { collection, now: clock() }),
    turn,
  );
  const counts = await storeReport(services, {
    lease,
    name: 'user-counts',
    content: record,
    facts: {
      points: record.points,
      users: record.users.length,
      witness: record.witness,
      asked: record.asked,
      disagreements: record.disagreements.length,
    },
  });
  return { ...state, counts };
}

async function drill(turn: Turn, state: State): Promise<State> {
  const kept = keptSnapshotOf(state);
  if (!kept) return state;
  const points = Number(state.counts?.facts.points);
  return { ...state, drilled: await drillRestore(turn, { kept, points }) };
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
  await removeSnapshot(services.vectors, collection, state);
  return { done: true, evidence };
}

function progressOf({ snapshot, parts = [] }: State) {
  return snapshot && { done: bytesOf(parts), total: snapshot.size };
}
