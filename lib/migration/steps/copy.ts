// Fills the new collection, compares both and repairs what differs. Before the window users go on writing: what still differs
// is reported as pending. In the window nothing may differ.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { isInWindow } from '../phases.ts';
import {
  faultsIn,
  RECONCILE_START,
  type ReconcileCheckpoint,
  type ReconcileReport,
  type ReconcileSettings,
} from '../reconcile.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import { type Run, withServed } from '../runs/run.ts';
import { builtCollectionsOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepContext, StepRequest } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { userCountLines } from '../user-counts.ts';
import { assertExpected, countChanges, reconcileInStep, reconcileSettings } from './equalize.ts';
import { scanCollection } from './recorded-counts.ts';

const MAX_LISTED = 20;

const stateSchema = v.object({
  /** The first copy fills the collection, and compares in a walk of its own. */
  mode: v.picklist(['fill', 'repair']),
  reached: v.custom<ReconcileCheckpoint>(() => true),
});

type State = v.InferOutput<typeof stateSchema>;

export const copy: Step = {
  command: 'copy',
  forecast: async (context) => {
    const { services, run } = context;
    const { keywords } = await reconcileSettings(context, 'repair');
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
      keywords,
    };
  },
  work: async (context) => {
    const { run, checkpoint, save } = context;
    const mode = run.phase === 'rebuilt' ? 'fill' : 'repair';
    if (!checkpoint) {
      await assertUntouched(context);
      await assertSafe(context);
      // A copy that is killed has changed the collection itself.
      await save({ mode, reached: RECONCILE_START } satisfies State);
    }
    const begun = v.parse(stateSchema, checkpoint?.state ?? { mode, reached: RECONCILE_START });
    const settings = await reconcileSettings(context, begun.mode);
    assertKeywords(context, settings);
    const { isComplete, report } = await reconcileInStep(context, settings, {
      start: begun.reached,
      save: (reached, progress) => save({ ...begun, reached } satisfies State, progress),
    });
    if (!isComplete) return { done: false, waitSeconds: 0 };
    if (begun.mode === 'repair') return await conclude(context, report);
    await save({ mode: 'repair', reached: startAfter(report) } satisfies State);
    return { done: false, waitSeconds: 0 };
  },
};

/**
 * Since users left it after a rollback, nobody was to write to the new collection. What somebody wrote there all the same
 * is nowhere else, and the copy would remove it. @throws Refusal, and the run takes no further window
 */
async function assertUntouched({ services, run, note }: StepContext): Promise<void> {
  const { targetCollection: target, retentionDays } = run.plan;
  const left = run.evidence['rollback-report']?.facts.newFingerprint;
  if (left === undefined || run.evidence['verification-report'] || isInWindow(run.phase)) return;
  const { contents } = await scanCollection(services, run, target);
  if (contents.digest === left) return;
  const takesNoWindow = `${target} was written to after users had left it`;
  const until = services.clock().getTime() + retentionDays * DAY_MS;
  await note({ takesNoWindow, served: withServed(run, builtCollectionsOf(run), until) });
  throw new Refusal('RefusedNotNow', `No copy: ${takesNoWindow}.`);
}

/** What users worked on in an earlier window is not emptied by a copy, either. @throws Refusal with the numbers */
async function assertSafe(context: StepContext): Promise<void> {
  const { run, input } = context;
  const { sourceCollection: from, targetCollection: to } = run.plan;
  if (!run.served?.some(({ collection }) => collection === to)) return;
  assertExpected(await countChanges(context, { from, to }), to, input.deletes);
}

/** A later walk reports what the ones before it wrote, too. */
function startAfter({ inserted, replaced, deleted }: ReconcileReport): ReconcileCheckpoint {
  const { report } = RECONCILE_START;
  return { ...RECONCILE_START, report: { ...report, inserted, replaced, deleted } };
}

async function conclude(context: StepContext, report: ReconcileReport): Promise<Outcome> {
  const { run, save } = context;
  const { inserted, replaced, deleted, withoutKeywords } = report;
  const { points, digest: fingerprint } = report.from;
  const faults = faultsIn(report);
  const pending = Object.values(report.pending).reduce((sum, count) => sum + count, 0);
  const evidence = await storeReport(context, 'verification-report', {
    facts: { fingerprint, points, inserted, replaced, deleted, withoutKeywords, pending },
    more: { faults, ...report },
  });
  if (!isInWindow(run.phase)) return { done: true, evidence };
  if (faults.length > 0) {
    // The next walk begins at the first point.
    await save({ mode: 'repair', reached: RECONCILE_START } satisfies State);
    const why = `The collections are not equal: ${faults.join(', ')}. The report is ${evidence.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  if (run.evidence['backup-manifest']?.facts.fingerprint === fingerprint) {
    return { done: true, evidence };
  }
  const why = `${run.plan.sourceCollection} was written to after its backup, which is due again.`;
  return { done: true, phase: 'frozen', refusal: new Refusal('RefusedSourceChanged', why) };
}

function assertKeywords({ run: { plan } }: StepRequest, { keywords }: ReconcileSettings): void {
  if (keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors of texts.';
  throw new Refusal('RefusedPrerequisites', why, { data: { finding: 'empty-keywords' } });
}

/** Of both collections, when they were compared in the window. */
export function verifiedFingerprint({ evidence }: Run): string {
  return String(evidence['verification-report']?.facts.fingerprint);
}
