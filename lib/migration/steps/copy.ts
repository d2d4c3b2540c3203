// Fills the new collection, compares both and repairs what differs. Users go on writing: what still differs is reported as
// pending. A switch takes the same walk, after which nothing may differ.
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { untilIndexed } from '../configuration.ts';
import { holdSame } from '../fate.ts';
import {
  figuresIn,
  findingsIn,
  measureParity,
  PARITY_START,
  type Parity,
  type ParityReached,
} from '../parity.ts';
import { decideKeywordFilling } from '../point-writer.ts';
import { RECONCILE_START, startAfter } from '../reconcile.ts';
import { faultsIn, pendingIn, type ReconcileReport } from '../reconcile-report.ts';
import { Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import type { Reference, Run } from '../runs/run.ts';
import { testUserOf } from '../runs/run-names.ts';
import { isWaiting, MORE_TIME } from '../runs/stages.ts';
import type { Outcome, Step, StepContext, StepRequest } from '../runs/step.ts';
import { userCountLines } from '../user-counts.ts';
import { moveEntities, movesEntities } from './entities.ts';
import { type Equalised, type EqualiseOptions, equalise, equalisingEntries } from './equalise.ts';
import { fillInPlace, fillSchema } from './in-place.ts';
import { scanCollection } from './recorded-counts.ts';

const MAX_LISTED = 20;
/** In the record; the report has more. */
const MAX_NAMED = 8;

const stateSchema = v.object({
  ...equalisingEntries,
  /** The first copy fills the collection, and compares in a walk of its own. */
  mode: v.picklist(['fill', 'repair']),
  /** Points that the walk compared a second, as it ended. */
  perSecond: v.optional(v.number()),
  /** Walk over the entities, if users have some. */
  entities: v.optional(v.unknown()),
  /** State of the searches, once both collections were compared */
  parity: v.optional(v.custom<ParityReached>(() => true)),
});

type State = v.InferOutput<typeof stateSchema>;

export const copy: Step = {
  command: 'copy',
  forecast: async (context) => {
    const { services, run } = context;
    const keywords = await decideKeywords(context);
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
    const { services, run, checkpoint, save } = context;
    if (run.plan.inPlace) {
      const from = v.parse(v.optional(fillSchema), checkpoint?.state);
      const filled = await fillInPlace(context, { from, save });
      return isWaiting(filled) ? filled : { done: true, evidence: filled };
    }
    const mode = run.phase === 'rebuilt' ? 'fill' : 'repair';
    const begun = v.parse(stateSchema, checkpoint?.state ?? { mode });
    const startedAt = services.clock().getTime();
    const copied = await copyOnwards(context, {
      mode: begun.mode,
      users: 'writing',
      reached: begun,
      save: (reached, progress) => save({ ...begun, ...reached } satisfies State, progress),
    });
    if (!copied) return MORE_TIME;
    const { report } = copied;
    if (begun.mode === 'fill') {
      await save({ mode: 'repair', reached: startAfter({ report }) } satisfies State);
      return MORE_TIME;
    }
    const compared = report.compared - (begun.reached?.report.compared ?? 0);
    const milliseconds = services.clock().getTime() - startedAt;
    const perSecond =
      compared > 0 && milliseconds > 0 ? (compared * 1_000) / milliseconds : begun.perSecond;
    const reached = { ...RECONCILE_START, isComplete: true, report };
    const more = { compared: undefined, reached, ...(perSecond && { perSecond }) };
    const walked: State = { ...begun, ...more };
    if (movesEntities(run)) {
      const { sourceCollection: from, targetCollection: to } = run.plan;
      const moved = await moveEntities(context, {
        from,
        to,
        reached: begun.entities,
        save: (entities, progress) => save({ ...walked, entities } satisfies State, progress),
      });
      if (moved === undefined) return MORE_TIME;
    }
    const indexing = await untilIndexed(context, run.plan.targetCollection);
    if (indexing) {
      await save(walked);
      return indexing;
    }
    const parity = await searchBoth(context, walked);
    return parity ? await conclude(context, { report, perSecond, parity }) : MORE_TIME;
  },
};

/**
 * Makes the new collection equal to the old one. Changes that only the new one has come back, or are overwritten, as the last
 * common version says.
 * @returns undefined when time was up
 */
export async function copyOnwards(
  context: StepContext,
  options: Pick<EqualiseOptions, 'users' | 'reached' | 'save'> & { readonly mode: State['mode'] },
): Promise<Equalised | undefined> {
  const { run, input } = context;
  await assertKeywords(context);
  return await equalise(context, {
    ...options,
    active: run.plan.sourceCollection,
    standby: run.plan.targetCollection,
    walk: 'copied',
    // The base begins with the first comparison in a window: until then only the copy has written to the new collection.
    base: run.base || run.phase === 'switching' ? 'continued' : undefined,
    // A copy does not empty what users worked on in an earlier window, either.
    onExcess: isServed(run) ? 'refuse' : 'write',
    deletes: input.deletes,
  });
}

function isServed({ served, plan }: Run): boolean {
  return served.some(({ collection }) => collection === plan.targetCollection);
}

/** @returns undefined when time is up */
async function searchBoth(context: StepContext, walked: State): Promise<Parity | undefined> {
  const { services, run, save, hasTime } = context;
  const { runId, plan } = run;
  return await measureParity(
    {
      from: { store: services.vectors, collection: plan.sourceCollection },
      to: { store: services.vectors, collection: plan.targetCollection },
      hasKeywords: (await decideKeywords(context)) === 'by-store',
      seed: runId,
      without: testUserOf(runId),
    },
    {
      start: walked.parity ?? PARITY_START,
      isTimeUp: () => !hasTime(),
      save: (parity) => save({ ...walked, parity } satisfies State),
    },
  );
}

/** Such a difference would block every cutover. @throws Refusal naming some of the points */
function assertRepairable({ plan }: Run, report: ReconcileReport, artifact: string): void {
  const { stuck = 0, examples } = report;
  if (stuck === 0) return;
  const found = `${pendingIn(report).join(', ')}; such as ${examples.slice(0, MAX_NAMED).join(', ')}`;
  const why = `${stuck} points of ${plan.targetCollection} stay different however often they are copied (${found}). The report is ${artifact}.`;
  throw new Refusal('RefusedByService', why);
}

/** Two indexes of the same quantised vectors order near neighbours differently, the more so the fewer dimensions they have. */
const QUANTISED =
  ' Both collections are searched as users search them, by quantised vectors; compare a few searches with the parameter {"quantization": {"ignore": true}}: if these agree, only the order of near neighbours differs.';

/** Fails for search results that users would miss. @throws Refusal with the findings */
async function assertParity(
  { services: { vectors }, run: { plan } }: StepRequest,
  parity: Parity,
  artifact: string,
): Promise<void> {
  const findings = findingsIn(parity);
  if (findings.length === 0 || plan.accepts.includes('search-parity')) return;
  const info = await vectors.collectionInfo(plan.sourceCollection);
  const compared = info?.config.quantization_config ? QUANTISED : '';
  const why = `Searches differ in ${plan.targetCollection}: ${findings.join('; ')}.${compared} The report is ${artifact}.`;
  throw new Refusal('RefusedPrerequisites', why, { data: { finding: 'search-parity' } });
}

async function conclude(
  context: StepContext,
  found: {
    readonly report: ReconcileReport;
    readonly perSecond: number | undefined;
    readonly parity: Parity;
  },
): Promise<Outcome> {
  const { perSecond, parity, report } = found;
  const evidence = await storeVerification(context, report, {
    ...(perSecond && { perSecond }),
    ...parity,
  });
  try {
    assertRepairable(context.run, report, evidence.artifact);
    await assertParity(context, parity, evidence.artifact);
  } catch (error) {
    // Compares and searches again after a repair.
    await context.save({ mode: 'repair' } satisfies State);
    throw error;
  }
  return { done: true, evidence };
}

async function storeVerification(
  context: StepContext,
  report: ReconcileReport,
  figures: Reference['facts'],
): Promise<Reference> {
  const { inserted, replaced, deleted, withoutKeywords } = report;
  const { points, digest: fingerprint } = report.from;
  const { writes: takenBack, overruled, withheld } = report.strays;
  const pending = Object.values(report.pending).reduce((sum, count) => sum + count, 0);
  return await storeReport(context, 'verification-report', {
    facts: {
      fingerprint,
      points,
      inserted,
      replaced,
      deleted,
      withoutKeywords,
      pending,
      ...Object.fromEntries(Object.entries(report.pending).filter(([, count]) => count > 0)),
      ...(pending > 0 && { examples: report.examples.slice(0, MAX_NAMED).join(', ') }),
      ...figures,
      ...(takenBack > 0 && { takenBack, overruled, ...(withheld > 0 && { withheld }) }),
    },
    more: { faults: faultsIn(report), ...report },
  });
}

/** Requires frozen writes. @throws Refusal unless both are equal, and unchanged since the backup */
export async function verifyEqual(
  context: StepContext,
  { report, faults }: Equalised,
): Promise<Reference> {
  const { evidence, plan } = context.run;
  const { facts = {} } = evidence['verification-report'] ?? {};
  // This walk counts what it copied itself; most was copied before.
  const copied = facts.copied ?? facts.inserted;
  const figures = { ...figuresIn(facts), ...(copied !== undefined && { copied }) };
  const verified = await storeVerification(context, report, figures);
  if (faults.length > 0) {
    const why = `The collections are not equal: ${faults.join(', ')}. The report is ${verified.artifact}.`;
    throw new Refusal('RefusedVerification', why);
  }
  const digest = evidence['backup-manifest']?.facts.fingerprint;
  if (holdSame(report.from, { digest })) return verified;
  const restored = evidence['backup-manifest']?.facts.points;
  const why = `${plan.sourceCollection} has ${report.from.points} points, and the restored snapshot had ${restored}, or others: it was written to after writes were frozen, or the store did not restore all of it.`;
  throw new Refusal('RefusedSourceChanged', why);
}

async function decideKeywords({ services, run }: StepRequest) {
  return await decideKeywordFilling(services.vectors, run.plan.targetCollection);
}

/** @throws Refusal unless the operator accepted it */
async function assertKeywords(request: StepRequest): Promise<void> {
  const { plan } = request.run;
  const keywords = await decideKeywords(request);
  if (keywords === 'by-store' || plan.accepts.includes('empty-keywords')) return;
  const why =
    keywords === 'no-slot'
      ? `${plan.targetCollection} has no keyword slot.`
      : 'The store cannot make keyword vectors of texts.';
  throw new Refusal('RefusedPrerequisites', why, { data: { finding: 'empty-keywords' } });
}
