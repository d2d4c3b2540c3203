// Proves the new collection equal to the old one, stores the report, and lets nothing pass that is not.
import { copySettings } from '../copy/copy-plan.ts';
import {
  VERIFICATION_START,
  type VectorCheck,
  type VerificationCheckpoint,
  type VerificationSettings,
  verifyCopy,
} from '../proof/verification.ts';
import type { VerificationReport } from '../proof/verification-findings.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Run } from '../runs/run.ts';
import type { Outcome, Step, StepContext, Turn } from '../runs/step.ts';

export const verify: Step = {
  command: 'verify',
  work: async (turn) => {
    const { save, hasTime, checkpoint } = turn;
    const settings = await settingsOf(turn);
    const total = await settings.source.store.count(settings.source.collection);
    const { report } = await verifyCopy(
      settings,
      {
        isTimeUp: () => !hasTime(),
        saveCheckpoint: (reached) => save(reached, progressOf(reached, total)),
      },
      (checkpoint?.state as VerificationCheckpoint | undefined) ?? VERIFICATION_START,
    );
    return report ? await conclude(turn, report) : { done: false, waitSeconds: 0 };
  },
};

async function settingsOf({ services, run }: StepContext): Promise<VerificationSettings> {
  const { sourceCollection: source, targetCollection: target, accepts } = run.plan;
  const planned = { store: services.vectors, source, target, now: () => performance.now() };
  const settings = await copySettings(planned);
  return {
    source: settings.source,
    target: settings.target,
    pageSize: settings.pageSize,
    vectors: vectorsOf(run),
    acceptedKeywordGaps: accepts.includes('empty-keywords') ? Number.MAX_SAFE_INTEGER : 0,
  };
}

// Seeded by the run: what is verified again, in the window above all, is the same.
function vectorsOf({ runId, plan }: Run): VectorCheck {
  const { vectorSample: sample } = plan;
  return sample === undefined ? 'all' : { sample, seed: runId };
}

async function conclude(turn: Turn, report: VerificationReport): Promise<Outcome> {
  const { services, lease, run, save, note } = turn;
  const { isPassed, faults, sourceFingerprint, counts, findings } = report;
  const { vectorsCompared } = findings;
  const evidence = await storeReport(services, {
    lease,
    name: 'verification-report',
    content: { runId: run.runId, vectors: vectorsOf(run), ...report },
    facts: { isPassed, fingerprint: sourceFingerprint, points: counts.source, vectorsCompared },
  });
  if (isPassed) return { done: true, evidence };
  // In place of an older one that passed: it holds no more, and nobody is to approve it.
  await note({ evidence: { ...run.evidence, 'verification-report': evidence } });
  // The next verification looks at everything anew.
  await save(VERIFICATION_START);
  throw new Refusal(
    'RefusedVerification',
    `The collections are not equal: ${faults.join(', ')}. The report is ${evidence.artifact}.`,
  );
}

function progressOf({ findings }: VerificationCheckpoint, total: number) {
  return { done: findings.sourcePoints, total };
}

/** What the last report holds for. @throws Refusal where there is none, or it did not pass */
export function verifiedFingerprint({ evidence }: Run): string {
  const report = evidence['verification-report'];
  if (report?.facts.isPassed === true) return String(report.facts.fingerprint);
  if (report) {
    const why = `The last verification did not pass; its report is ${report.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  throw new Refusal('RefusedMissingEvidence', 'There is no verification that passed.');
}
