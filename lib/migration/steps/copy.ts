// Fills the new collection, compares it with the old one and repairs the differences. Because users keep writing, some differences
// remain and are reported as pending. The switch repairs again while writes are frozen; then nothing may differ.
import { createHash } from 'node:crypto';
import { waitUntilIndexed } from '../configuration.ts';
import { haveSameDigest } from '../fate.ts';
import { measureSpeed } from '../forecast.ts';
import { listFindings, measureParity, type Parity, pickParity } from '../parity.ts';
import { decideKeywordFilling } from '../point-writer.ts';
import {
  listPending,
  listProblems,
  NOTHING_COMPARED,
  type ReconcileReport,
} from '../reconcile-report.ts';
import { Refusal } from '../refusals.ts';
import type { RecordedJournal } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import type { Reference, Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import type { Step, StepContext, StepRequest } from '../runs/step.ts';
import { formatUserCounts } from '../user-counts.ts';
import { moveEntities, movesEntities } from './entities.ts';
import { type Equalised, type EqualiseOptions, equalise } from './equalise.ts';
import { fillInPlace } from './in-place.ts';
import { assertSourceFilled } from './last-copies.ts';
import { scanCollection } from './recorded-counts.ts';

const MAX_LISTED_USERS = 20;
/** Limit for the record and messages; the report names more points. */
const MAX_NAMED_POINTS = 8;

export const copy: Step = {
  command: 'copy',
  forecast: async (context) => {
    const { services, run } = context;
    const keywords = await decideKeywords(context);
    const { contents, counts } = await scanCollection(services, run, run.plan.sourceCollection);
    const { points, users, unreachable } = contents;
    // The artifact is named after its content, so that a later dry run does not overwrite it.
    const name = createHash('sha256').update(contents.usersDigest).digest('hex').slice(0, 16);
    const artifact = `${run.runId}/copy-forecast-${name}.txt`;
    const { sha256: digest } = await services.artifacts.put(artifact, formatUserCounts(counts));
    return {
      points,
      users,
      withoutUser: unreachable.absent + unreachable['camel-case'],
      largest: counts.listLargest(MAX_LISTED_USERS),
      allUsers: { artifact, digest },
      keywords,
    };
  },
  work: async (context) => {
    const { run, stages } = context;
    const evidence = run.plan.inPlace
      ? await stages.once('keywords-filled', fillInPlace)
      : await copyAndCompare(context);
    return { evidence };
  },
};

const FILLED = 'filled';
/** Passed when the comparison begins, so that its time can be measured */
const COMPARING = 'comparing';
const COMPARED = 'compared';

/** @returns the verification report */
async function copyAndCompare(context: StepContext): Promise<Reference> {
  const { run, stages } = context;
  const { sourceCollection: from, targetCollection: to } = run.plan;
  // The first copy fills the collection, then compares in a separate walk.
  const isFirstCopy = run.phase === 'rebuilt';
  const fillReport = isFirstCopy ? await stages.once(FILLED, fill) : NOTHING_COMPARED;
  await stages.once(COMPARING, async () => {});
  const compared = await stages.once(COMPARED, async (context) => {
    const options = { mode: 'repair', users: 'writing', earlier: { report: fillReport } } as const;
    return (await copyForward(context, options)).report;
  });
  if (movesEntities(run)) {
    await stages.once('entities-equal', (context) => moveEntities(context, { from, to }));
  }
  await stages.once('indexed', (context) => waitUntilIndexed(context, to));
  const parity = await stages.once('searched', compareSearches);
  const perSecond = measureSpeed(compared.compared, measureComparison(stages.recorded));
  const evidence = await storeVerification(context, compared, { perSecond, ...parity });
  try {
    assertRepairable(run, compared, evidence.artifact);
    await assertParity(context, parity, evidence.artifact);
  } catch (error) {
    // The operator may repair the cause, so the next invocation compares and searches again.
    const { [FILLED]: filledStage } = stages.recorded.passed;
    if (error instanceof Refusal) {
      await stages.rewrite({ passed: filledStage ? { [FILLED]: filledStage } : {} });
    }
    throw error;
  }
  return evidence;
}

async function fill(context: StepContext): Promise<ReconcileReport> {
  return (await copyForward(context, { mode: 'fill', users: 'writing' })).report;
}

/** Milliseconds that the comparison took */
function measureComparison({ passed }: RecordedJournal): number {
  return (passed[COMPARED]?.workedMs ?? 0) - (passed[COMPARING]?.workedMs ?? 0);
}

/**
 * Makes the new collection equal to the old one. Changes made only in the new one are carried back or overwritten, depending on
 * the last common version.
 */
export async function copyForward(
  context: StepContext,
  options: Pick<EqualiseOptions, 'users' | 'earlier'> & { readonly mode: 'fill' | 'repair' },
): Promise<Equalised> {
  const { run, input } = context;
  await assertKeywords(context);
  // If users worked on the new collection in an earlier window, a copy must not remove too much of it.
  const onExcess = hasTargetServed(run) ? 'refuse' : 'write';
  if (onExcess === 'write') await assertSourceFilled(context);
  return await equalise(context, {
    ...options,
    active: run.plan.sourceCollection,
    standby: run.plan.targetCollection,
    walk: 'copied',
    // The first comparison in a window writes the first base: before it, only copies have written to the new collection.
    base: run.base || run.phase === 'switching' ? 'continued' : undefined,
    onExcess,
    deletes: input.deletes,
  });
}

function hasTargetServed({ served, plan }: Run): boolean {
  return served.some(({ collection }) => collection === plan.targetCollection);
}

async function compareSearches(context: StepContext): Promise<Parity> {
  const { services, run, stages } = context;
  const { runId, plan } = run;
  return await measureParity(
    {
      from: { store: services.vectors, collection: plan.sourceCollection },
      to: { store: services.vectors, collection: plan.targetCollection },
      hasKeywords: (await decideKeywords(context)) === 'by-store',
      seed: runId,
      excludedUser: testUserOf(runId),
    },
    stages,
  );
}

/** Differences that copying cannot repair would block every cutover. @throws Refusal naming some of the points */
function assertRepairable({ plan }: Run, report: ReconcileReport, artifact: string): void {
  const { stuck = 0, examples } = report;
  if (stuck === 0) return;
  const differences = `${listPending(report).join(', ')}; such as ${examples.slice(0, MAX_NAMED_POINTS).join(', ')}`;
  const why = `${stuck} points of ${plan.targetCollection} stay different however often they are copied (${differences}). The report is ${artifact}.`;
  throw new Refusal('RefusedByService', why);
}

/** Two indexes of the same quantised vectors order near neighbours differently, especially with few dimensions. */
const QUANTISED =
  ' Both collections are searched as users search them, by quantised vectors; compare a few searches with the parameter {"quantization": {"ignore": true}}: if these agree, only the order of near neighbours differs.';

/** @throws Refusal with the findings, if users would miss search results */
async function assertParity(
  { services: { vectors }, run: { plan } }: StepRequest,
  parity: Parity,
  artifact: string,
): Promise<void> {
  const findings = listFindings(parity);
  if (findings.length === 0 || plan.accepts.includes('search-parity')) return;
  const info = await vectors.readCollectionInfo(plan.sourceCollection);
  const quantisationHint = info?.config.quantization_config ? QUANTISED : '';
  const why = `Searches differ in ${plan.targetCollection}: ${findings.join('; ')}.${quantisationHint} The report is ${artifact}.`;
  throw new Refusal('RefusedPrerequisites', why, { data: { finding: 'search-parity' } });
}

async function storeVerification(
  context: StepContext,
  report: ReconcileReport,
  figures: Reference['facts'],
): Promise<Reference> {
  const { inserted, replaced, deleted, withoutKeywords } = report;
  const { points, digest: fingerprint } = report.from;
  const { writes: takenBack, overruled, withheld } = report.strays;
  const pendingCount = Object.values(report.pending).reduce((sum, count) => sum + count, 0);
  return await storeReport(context, 'verification-report', {
    facts: {
      fingerprint,
      points,
      inserted,
      replaced,
      deleted,
      withoutKeywords,
      pending: pendingCount,
      ...Object.fromEntries(Object.entries(report.pending).filter(([, count]) => count > 0)),
      ...(pendingCount > 0 && { examples: report.examples.slice(0, MAX_NAMED_POINTS).join(', ') }),
      ...figures,
      ...(takenBack > 0 && { takenBack, overruled, ...(withheld > 0 && { withheld }) }),
    },
    details: { faults: listProblems(report), ...report },
  });
}

/** Writes must be frozen. @throws Refusal unless both collections are equal, and unchanged since the backup */
export async function verifyEqual(
  context: StepContext,
  { report, faults }: Equalised,
): Promise<Reference> {
  const { evidence, plan } = context.run;
  const { facts = {} } = evidence['verification-report'] ?? {};
  // This report counts only the last walk's copies; most points were copied before.
  const copiedPoints = facts.copied ?? facts.inserted;
  const figures = {
    ...pickParity(facts),
    ...(copiedPoints !== undefined && { copied: copiedPoints }),
  };
  const verification = await storeVerification(context, report, figures);
  if (faults.length > 0) {
    const why = `The collections are not equal: ${faults.join(', ')}. The report is ${verification.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  const digest = evidence['backup-manifest']?.facts.fingerprint;
  if (haveSameDigest(report.from, { digest })) return verification;
  const restoredPoints = evidence['backup-manifest']?.facts.points;
  const why = `${plan.sourceCollection} has ${report.from.points} points, and the restored snapshot had ${restoredPoints}, or its points differ: the collection was written to after writes were frozen, or the store did not restore all of it.`;
  throw new Refusal('RefusedSourceChanged', why);
}

async function decideKeywords({ services, run }: StepRequest) {
  return await decideKeywordFilling(services.vectors, run.plan.targetCollection);
}

/** @throws Refusal if keyword vectors cannot be made, unless the operator accepted that */
async function assertKeywords(request: StepRequest): Promise<void> {
  const { plan } = request.run;
  const keywords = await decideKeywords(request);
  if (keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors from texts.';
  throw new Refusal('RefusedPrerequisites', why, { data: { finding: 'empty-keywords' } });
}
