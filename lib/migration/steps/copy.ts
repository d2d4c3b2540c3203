// Fills the new collection, and makes it equal again each time it is taken: in the window nothing may differ any more. A
// verification compares while users go on writing: what differs then is copied in the window.
import { createHash } from 'node:crypto';
import { IN_WINDOW } from '../phases.ts';
import { copySettings } from '../point-writer.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import {
  faultsIn,
  RECONCILE_START,
  type ReconcileCheckpoint,
  type ReconcileReport,
  type ReconcileSettings,
  reconcile,
} from '../reconcile.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Reference, Run } from '../runs/run.ts';
import type { Outcome, Step, StepContext, StepRequest } from '../runs/step.ts';
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
  work: async (context) => {
    const isFirst = context.run.evidence['copy-report'] === undefined;
    const settings = await reconcileSettings(context, isFirst ? 'fill' : 'repair');
    assertKeywords(context, settings);
    const { isComplete, report } = await reconcileInStep(context, settings);
    if (!isComplete) return { done: false, waitSeconds: 0 };
    const isWindow = IN_WINDOW.some((phase) => phase === context.run.phase);
    if (isWindow) return await concludeWindow(context, settings, report);
    return { done: true, evidence: await storeCopy(context, report) };
  },
};

// Nobody writes any more: what still differs has to be looked at before anything is switched.
async function concludeWindow(
  context: StepContext,
  settings: ReconcileSettings,
  report: ReconcileReport,
): Promise<Outcome> {
  const { evidence, faults } = await storeComparison(context, settings, report);
  if (faults.length === 0) return { done: true, evidence };
  // It replaces an older one that passed, which holds no more.
  await context.note({ evidence: { ...context.run.evidence, 'verification-report': evidence } });
  // The next walk begins at the first point.
  await context.save(RECONCILE_START);
  const why = `The collections are not equal: ${faults.join(', ')}. The report is ${evidence.artifact}.`;
  throw new Refusal('RefusedVerification', why);
}

function assertKeywords({ run: { plan } }: StepRequest, { keywords }: ReconcileSettings): void {
  if (keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors of texts.';
  throw new Refusal('RefusedPrerequisites', why);
}

async function storeCopy(
  { services, lease, run }: StepContext,
  report: ReconcileReport,
): Promise<Reference> {
  const { compared, inserted, replaced, deleted, withoutKeywords } = report;
  const pending = pendingIn(report);
  return await storeReport(services, {
    lease,
    name: 'copy-report',
    content: { runId: run.runId, faults: faultsIn(report), ...report },
    facts: { compared, inserted, replaced, deleted, pending, withoutKeywords },
  });
}

/** A comparison of both collections, which is what is approved, and what has to hold until writes are opened. */
export async function storeComparison(
  { services, lease, run }: StepContext,
  { vectors }: ReconcileSettings,
  report: ReconcileReport,
): Promise<{ readonly evidence: Reference; readonly faults: readonly string[] }> {
  const faults = faultsIn(report);
  const { points, digest: fingerprint } = report.from;
  const { vectorsCompared, withoutKeywords } = report;
  const isWindow = IN_WINDOW.some((phase) => phase === run.phase);
  const isPassed = faults.length === 0 || !isWindow;
  const evidence = await storeReport(services, {
    lease,
    name: 'verification-report',
    content: { runId: run.runId, vectors, faults, ...report },
    facts: {
      ...{ isPassed, fingerprint, points, vectorsCompared, withoutKeywords },
      pending: pendingIn(report),
    },
  });
  return { evidence, faults };
}

/** The fingerprint that the last comparison holds for. @throws Refusal where there is none, or it did not pass */
export function verifiedFingerprint({ evidence }: Run): string {
  const report = evidence['verification-report'];
  if (report?.facts.isPassed === true) return String(report.facts.fingerprint);
  if (report) {
    const why = `The last comparison did not pass; its report is ${report.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  throw new Refusal('RefusedNotNow', 'There is no comparison that passed.');
}

function pendingIn({ pending }: ReconcileReport): number {
  return Object.values(pending).reduce((sum, count) => sum + count, 0);
}

export async function reconcileSettings(
  { services, run }: StepRequest,
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
  { services, renew, save, hasTime, checkpoint }: StepContext,
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

export const verify: Step = {
  command: 'verify',
  work: async (context) => {
    const settings = await reconcileSettings(context, 'compare');
    const { isComplete, report } = await reconcileInStep(context, settings);
    if (!isComplete) return { done: false, waitSeconds: 0 };
    const { evidence } = await storeComparison(context, settings, report);
    return { done: true, evidence };
  },
};
