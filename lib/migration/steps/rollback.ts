// Rolls back: moves users to the old version, and carries over their writes since the cutover unless the operator leaves these
// behind. This file begins the rollback with a plan (return-target.ts) and ends it with a report. The stages in between are in
// switch.ts; return-end.ts decides how a refused rollback ends.
import { measureParts } from '../forecast.ts';
import { Refusal } from '../refusals.ts';
import { collectFacts, readJournal } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import { addServed, hasSwitched, wasOpened, wentLive } from '../runs/run.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  restoredCollectionOf,
} from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { assertSettingKnown } from './backend-actions.ts';
import { removeCollections, removeOwnCollections, tidyUp } from './clean-up.ts';
import { beginJournal, type Returned, readPlan, type Stayed } from './return-end.ts';
import { decideReturn, forecastReturn } from './return-target.ts';
import { switchBack } from './switch.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: forecastReturn,
  work: async (context) => {
    await context.begin(() => recordPlan(context));
    const end = await switchBack(context);
    return 'refused' in end ? await stayOnNew(context, end) : await finish(context, end);
  },
};

/** Records the plan as the beginning of the journal. */
async function recordPlan(context: StepContext): Promise<Record<string, never>> {
  const { services, run, stages } = context;
  if (run.phase === 'live') await assertSettingKnown(services, run);
  const { plan, failingSince: since } = await decideReturn(context);
  const failing = since === undefined ? undefined : { since };
  // In a window that has not ended, writes are frozen.
  await stages.rewrite(beginJournal(plan, { failing, isFrozen: run.phase === 'switching' }));
  return {};
}

async function stayOnNew(context: StepContext, { refused }: Stayed): Promise<Outcome> {
  const { run } = context;
  const message = `Remove the restored collection ${restoredCollectionOf(run)} by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // An unfinished switch continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  const { name, why, data } = refused;
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function finish(context: StepContext, end: Returned): Promise<Outcome> {
  const { run } = context;
  const { points: _, ...stageFacts } = collectFacts(context.stages.recorded);
  // If nothing proves that the old version runs, users may still work on the new collection.
  const isUnproved = hasSwitched(run) && stageFacts.oldVersion !== undefined;
  const usersWorkedOnNew = wasOpened(run) || isUnproved || stageFacts.leakedWrites !== undefined;
  const served = usersWorkedOnNew ? liveCollectionsOf(run) : [];
  const message = 'Remove the collections and the snapshot of the run by hand';
  const except = [...served, ...builtCollectionsOf(run)];
  let { hasUploaded } = run;
  await tidyUp(context, message, async () => {
    await removeOwnCollections(context, { except });
    // From now on, a collection with the uploaded name belongs to another program.
    hasUploaded = hasUploaded && usersWorkedOnNew;
  });
  const facts = { returnedTo: end.to, leftBehind: 0, ...stageFacts };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = computeRetentionEnd(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const blockedBecause = whyCutoverBlocked(context, end, usersWorkedOnNew);
  const changes = {
    hasUploaded,
    ...(usersWorkedOnNew && { served: addServed(run, served, until) }),
    ...(blockedBecause !== undefined && { takesNoWindow: blockedBecause }),
  };
  const cutoverJournal = await readJournal(context.services, run.runId, 'cutover');
  const took = cutoverJournal ? measureParts(cutoverJournal) : {};
  return { evidence, changes, took };
}

/** The report is kept as long as the run's other artifacts, and at least for one retention period from now on. */
function computeRetentionEnd({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** Says why this run must not open another window: its next copy would remove writes that only the new collection has. */
function whyCutoverBlocked(
  context: StepContext,
  { to, unproved }: Returned,
  usersWorkedOnNew: boolean,
): string | undefined {
  const { run, stages } = context;
  if (unproved !== undefined) return `nothing proves that ${to} has users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && readPlan(context).way !== 'carry')
    return `${live} has writes that were left behind`;
  const { comparedByHand } = collectFacts(stages.recorded);
  if (comparedByHand) return `${live} has writes that were not carried over`;
  // The next window would upload the collection again, and remove what users worked on.
  if (usersWorkedOnNew && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}
