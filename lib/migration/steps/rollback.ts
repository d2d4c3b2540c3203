// The switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them behind.
// Until the setting changes, users stay on the new version: a rollback that is refused opens writes there again.
import { measureParts } from '../forecast.ts';
import { Refusal } from '../refusals.ts';
import { collectFacts, NOTHING_RECORDED, type RecordedJournal } from '../runs/journal.ts';
import { storeReport } from '../runs/reports.ts';
import { hasSwitched, type Run, wasOpened, withServed } from '../runs/run.ts';
import { builtCollectionsOf, liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepContext, StepRequest } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import { removeOwn, tidyUp } from './clean-up.ts';
import { compare } from './comparison.ts';
import { endRefused, openUnproved, planToOpen, stay } from './refused-rollback.ts';
import {
  beginRollback,
  findReturnCollection,
  markFrozen,
  type Notes,
  planReturn,
  readNotes,
} from './return-target.ts';
import { readSwitch, readSwitchJournal } from './stored-checkpoints.ts';
import { switchBack } from './switch.ts';
import { assertSettingKnown, countLostWrites } from './switch-back.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: forecastReturn,
  guard: async (approach) => {
    const { services, run, keep } = approach;
    // The old collection was never left.
    if (!hasSwitched(run)) return void (await keep(NOTHING_RECORDED));
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const notes = await planReturn(approach).then(
      (plan): Notes => ({ plan }),
      (error: unknown) => planToOpen(approach, error),
    );
    const begun = beginRollback(notes);
    // A window that has not ended has frozen writes.
    await keep(run.phase === 'switching' ? markFrozen(begun) : begun);
  },
  readJournal: readSwitchJournal,
  work: async (context) => {
    const { stages } = context;
    const { plan, refused, unproved } = readNotes(stages.recorded);
    try {
      if (refused) return await stay(context);
      if (unproved) await openUnproved(context, unproved);
      else await switchBack(context, plan);
    } catch (error) {
      if (!(error instanceof Refusal) || context.signal.aborted) throw error;
      const ended = await endRefused(context, error);
      if (ended) return ended;
    }
    return await conclude(context);
  },
};

async function conclude(context: StepContext): Promise<Outcome> {
  const { run } = context;
  const { recorded: journal } = context.stages;
  const to = findReturnCollection(run, readNotes(journal));
  const { points: _, ...found } = collectFacts(journal);
  const isServed = wasOpened(run) || found.leakedWrites !== undefined;
  const served = isServed ? liveCollectionsOf(run) : [];
  const message = 'What the run has left on the store is to be removed by hand';
  const except = [...served, ...builtCollectionsOf(run)];
  let { hasUploaded } = run;
  await tidyUp(context, message, async () => {
    await removeOwn(context, { except });
    // From now on, a collection of that name belongs to another program.
    hasUploaded = hasUploaded && isServed;
  });
  const facts = { returnedTo: to, leftBehind: 0, ...found };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = computeRetention(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(run, journal, isServed);
  const changes = {
    hasUploaded,
    ...(isServed && { served: withServed(run, served, until) }),
    ...(takesNoWindow !== undefined && { takesNoWindow }),
  };
  const window = await readSwitch(context.services, run.runId, 'cutover');
  const took = window ? measureParts(window) : {};
  return { evidence, changes, took };
}

/** The report is kept as long as the run's other artifacts, and at least as long as artifacts kept from today on. */
function computeRetention({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** The next copy would remove from the new collection what only it has; undefined where there is nothing. */
function whyNoWindow(run: Run, journal: RecordedJournal, isServed: boolean): string | undefined {
  const notes = readNotes(journal);
  const { plan, unproved } = notes;
  const to = findReturnCollection(run, notes);
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && plan?.way !== 'carry')
    return `${live} has writes that were left behind`;
  if (collectFacts(journal).comparedByHand) return `${live} has writes that did not come along`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}

/** Figures of a rollback at this moment, for a dry run */
async function forecastReturn(request: StepRequest) {
  const { run } = request;
  if (!hasSwitched(run)) {
    return { returnsTo: run.plan.sourceCollection, leavesBehind: 0 };
  }
  const { way, returnTo, restores } = await planReturn(request);
  const target = { returnsTo: returnTo, ...(restores && { restores: restores.name }) };
  const isSame = returnTo === liveCollectionOf(run);
  if (!wasOpened(run) || isSame) return { ...target, leavesBehind: 0 };
  if (way !== 'carry') return { ...target, ...(await forecastLeftBehind(request)) };
  if (restores) return { ...target, leavesBehind: 0 };
  const { adds, changes, removes, points } = await compare(request, {
    active: liveCollectionOf(run),
    standby: returnTo,
    base: run.base,
  });
  return { ...target, adds, changes, removes, of: points, leavesBehind: 0 };
}

/** Counts the writes that a rollback would leave behind in the new collection. */
async function forecastLeftBehind(request: StepRequest) {
  // In place there is no second collection to compare with.
  if (request.run.plan.inPlace) return { leavesBehind: UNRESTORED };
  const { leftBehind, ...lacking } = await countLostWrites(request);
  return { leavesBehind: leftBehind === 'unknown' ? UNREADABLE : leftBehind, ...lacking };
}

const UNREADABLE = 'unknown: the new collection cannot be read';
const UNRESTORED = 'counted against the restored snapshot, before writes are frozen';
