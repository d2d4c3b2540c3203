// Compares the new collection with the old one, and stores the report. Before the window users go on writing, and what
// differs is copied in the window; in the window nothing may differ.
import { IN_WINDOW } from '../phases.ts';
import { faultsIn, RECONCILE_START } from '../reconcile.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Step } from '../runs/step.ts';
import { reconcileInStep, reconcileSettings } from './copy-step.ts';

export const verify: Step = {
  command: 'verify',
  work: async (turn) => {
    const { services, lease, run, save, note } = turn;
    const settings = await reconcileSettings(turn, 'compare');
    const { isComplete, report } = await reconcileInStep(turn, settings);
    if (!isComplete) return { done: false, waitSeconds: 0 };
    const faults = faultsIn(report);
    const isPassed = faults.length === 0 || !IN_WINDOW.some((phase) => phase === run.phase);
    const { points, digest: fingerprint } = report.from;
    const pending = Object.values(report.pending).reduce((sum, count) => sum + count, 0);
    const { vectorsCompared, withoutKeywords } = report;
    const evidence = await storeReport(services, {
      lease,
      name: 'verification-report',
      content: { runId: run.runId, vectors: settings.vectors, faults, ...report },
      facts: { isPassed, fingerprint, points, pending, vectorsCompared, withoutKeywords },
    });
    if (isPassed) return { done: true, evidence };
    // It replaces an older one that passed, which holds no more and must not be approved.
    await note({ evidence: { ...run.evidence, 'verification-report': evidence } });
    // The next verification begins at the first point.
    await save(RECONCILE_START);
    throw new Refusal(
      'RefusedVerification',
      `The collections are not equal: ${faults.join(', ')}. The report is ${evidence.artifact}.`,
    );
  },
};

/** The fingerprint that the last report holds for. @throws Refusal where there is none, or it did not pass */
export function verifiedFingerprint({ evidence }: Run): string {
  const report = evidence['verification-report'];
  if (report?.facts.isPassed === true) return String(report.facts.fingerprint);
  if (report) {
    const why = `The last verification did not pass; its report is ${report.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  throw new Refusal('RefusedNotNow', 'There is no verification that passed.');
}
