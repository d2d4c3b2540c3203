// Fills the new collection, and makes it equal again each time it is taken: in the window nothing may differ any more.
import { createHash } from 'node:crypto';
import { copySettings } from '../point-writer.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import {
  faultsIn,
  RECONCILE_START,
  type ReconcileCheckpoint,
  type ReconcileSettings,
  reconcile,
} from '../reconcile.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Outcome, Step, StepContext, Turn } from '../runs/step.ts';
import { userCountLines } from '../user-counts.ts';
import { scanCollection } from './recorded-counts.ts';

const MAX_LISTED = 20;

export const copy: Step = {
  command: 'copy',
  forecast: async (context) => {
    const { services, run } = context;
    const settings = await reconcileSettings(context, 'compare');
    const { contents, counts } = await scanCollection(services, run, run.plan.sourceCollection);
    const { points, users, unreachable } = contents;
    // Named after what it lists: a later dry run does not change the list of an earlier one.
    const name = createHash('sha256').update(contents.usersDigest).digest('hex').slice(0, 16);
    const artifact = `${run.runId}/copy-forecast-${name}.txt`;
    const { sha256: digest } = await services.artifacts.put(artifact, userCountLines(counts));
    return {
      points,
      users,
      withoutUser: unreachable.absent + unreachable['camel-case'],
      largest: counts.largest(MAX_LISTED),
      allUsers: { artifact, digest },
      keywords: settings.keywords,
    };
  },
  work: async (turn) => {
    const isFirst = turn.run.evidence['copy-report'] === undefined;
    const settings = await reconcileSettings(turn, isFirst ? 'fill' : 'repair');
    assertKeywords(turn, settings);
    const { isComplete, report } = await reconcileInStep(turn, settings);
    if (!isComplete) return { done: false, waitSeconds: 0 };
    const { compared, inserted, replaced, deleted, withoutKeywords } = report;
    const pending = Object.values(report.pending).reduce((sum, count) => sum + count, 0);
    return await conclude(turn, report, {
      ...{ compared, inserted, replaced, deleted, pending, withoutKeywords },
    });
  },
};

function assertKeywords({ run: { plan } }: StepContext, { keywords }: ReconcileSettings): void {
  if (keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors of texts.';
  throw new Refusal('RefusedPrerequisites', why);
}

async function conclude(
  { services, lease, run }: Turn,
  report: ReconcileCheckpoint['report'],
  facts: Readonly<Record<string, number>>,
): Promise<Outcome> {
  const evidence = await storeReport(services, {
    lease,
    name: 'copy-report',
    content: { runId: run.runId, faults: faultsIn(report), ...report },
    facts,
  });
  return { done: true, evidence };
}

export async function reconcileSettings(
  { services, run }: StepContext,
  mode: ReconcileSettings['mode'],
): Promise<ReconcileSettings> {
  const { vectors: store } = services;
  const { runId, plan } = run;
  const { sourceCollection: from, targetCollection: to, vectorSample: sample } = plan;
  return {
    ...(await copySettings(store, { from, to })),
    from: { store, collection: from },
    to: { store, collection: to },
    mode,
    // The same sample each time, in the window above all.
    vectors: sample === undefined ? 'all' : { sample, seed: runId },
    without: testUserOf(runId),
  };
}

/** From the checkpoint of the step on; not complete when time is up. */
export async function reconcileInStep(
  { services, renew, save, hasTime, checkpoint }: Turn,
  settings: ReconcileSettings,
): Promise<ReconcileCheckpoint> {
  const total = await services.vectors.count(settings.from.collection);
  return await reconcile(
    settings,
    {
      renew,
      isTimeUp: () => !hasTime(),
      saveCheckpoint: (reached) => save(reached, { done: reached.report.compared, total }),
    },
    (checkpoint?.state as ReconcileCheckpoint | undefined) ?? RECONCILE_START,
  );
}
