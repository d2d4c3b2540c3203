// The rollback: the switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them
// behind. Here it begins, with a plan (return-target.ts), and ends, with a report. In between, switch.ts has the stages of the way
// back, and return-end.ts what a refusal leads to.
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
import { removeCollections, removeOwn, tidyUp } from './clean-up.ts';
import { beginJournal, type Returned, readPlan, type Stayed } from './return-end.ts';
import { decideReturn, forecastReturn } from './return-target.ts';
import { switchBack } from './switch.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: forecastReturn,
  work: async (context) => {
    await context.begin(() => plan(context));
    const end = await switchBack(context);
    return 'refused' in end ? await stay(context, end) : await finish(context, end);
  },
};

/** Records the plan as the beginning of the journal. */
async function plan(context: StepContext): Promise<Record<string, never>> {
  const { services, run, stages } = context;
  if (run.phase === 'live') await assertSettingKnown(services, run);
  const { plan, failingSince: since } = await decideReturn(context);
  const failing = since === undefined ? undefined : { since };
  // A window that has not ended has frozen writes.
  await stages.rewrite(beginJournal(plan, { failing, isFrozen: run.phase === 'switching' }));
  return {};
}

async function stay(context: StepContext, { refused }: Stayed): Promise<Outcome> {
  const { run } = context;
  const message = `Remove the restored collection ${restoredCollectionOf(run)} by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not finished continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  const { name, why, data } = refused;
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function finish(context: StepContext, end: Returned): Promise<Outcome> {
  const { run } = context;
  const { points: _, ...found } = collectFacts(context.stages.recorded);
  // Without a proof of the old version, users may still work on the collection of the new one.
  const isUnproved = hasSwitched(run) && found.oldVersion !== undefined;
  const isServed = wasOpened(run) || isUnproved || found.leakedWrites !== undefined;
  const served = isServed ? liveCollectionsOf(run) : [];
  const message = 'Remove the collections and the snapshot of the run by hand';
  const except = [...served, ...builtCollectionsOf(run)];
  let { hasUploaded } = run;
  await tidyUp(context, message, async () => {
    await removeOwn(context, { except });
    // From now on, a collection of that name belongs to another program.
    hasUploaded = hasUploaded && isServed;
  });
  const facts = { returnedTo: end.to, leftBehind: 0, ...found };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = computeRetention(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(context, end, isServed);
  const changes = {
    hasUploaded,
    ...(isServed && { served: addServed(run, served, until) }),
    ...(takesNoWindow !== undefined && { takesNoWindow }),
  };
  const window = await readJournal(context.services, run.runId, 'cutover');
  const took = window ? measureParts(window) : {};
  return { evidence, changes, took };
}

/** The report is kept as long as the run's other artifacts, and at least for the plan's retention period from now on. */
function computeRetention({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** Why the run can only be aborted: the next copy would remove writes that only the new collection has. */
function whyNoWindow(
  context: StepContext,
  { to, unproved }: Returned,
  isServed: boolean,
): string | undefined {
  const { run, stages } = context;
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && readPlan(context).way !== 'carry')
    return `${live} has writes that were left behind`;
  const { comparedByHand } = collectFacts(stages.recorded);
  if (comparedByHand) return `${live} has writes that were not carried over`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}
