// The switch back to the old version. Writes since the cutover are carried over, unless the operator leaves them behind.
// Until the setting changes, users stay on the new version: a rollback that is refused opens writes there again.
import * as v from 'valibot';
import { notNow, rollbackEnded } from '../moves.ts';
import { isRefusal, Refusal } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import {
  hasSwitched,
  type Progress,
  type Run,
  wasOpened,
  wentLive,
  windowOf,
  withServed,
} from '../runs/run.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  restoredCollectionOf,
} from '../runs/run-names.ts';
import { collectFacts, readSwitch, takeStages } from '../runs/stages.ts';
import {
  type Outcome,
  outOfTime,
  type Step,
  type StepContext,
  type StepRequest,
} from '../runs/step.ts';
import { DAY_MS, isOpened, retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections, removeOwn, tidyUp } from './clean-up.ts';
import { askAgain } from './external-action.ts';
import {
  forecastReturn,
  planLastResort,
  planRestore,
  planReturn,
  type Return,
} from './return-target.ts';
import { measureParts, type SwitchState, switchSchema } from './switch.ts';
import {
  assertSettingKnown,
  beginAgain,
  FREEZING_BEGUN,
  MAX_UNPROVED_MS,
  stagesBackward,
  stagesOfStaying,
  stagesUnproved,
} from './switch-back.ts';

export const rollback: Step = {
  command: 'rollback',
  forecast: async (request) => {
    assertRetained(request.services, request.run);
    return await forecastReturn(request);
  },
  guard: async (approach) => {
    const { services, run, input, save } = approach;
    assertRetained(services, run);
    if (input.actor === 'machine') assertNotOpened(services, run);
    // The old collection was never left.
    if (!hasSwitched(run)) return await save(neverLeft(run));
    if (run.phase === 'live') await assertSettingKnown(services, run);
    await save(await planReturn(approach).then(begin, (error) => beginToOpen(approach, error)));
  },
  mayBeLate: 'always',
  work: async (context) => {
    const { run, checkpoint, save } = context;
    let state = v.parse(switchSchema, checkpoint?.state ?? neverLeft(run));
    const keep = async (reached: SwitchState, progress?: Progress) => {
      state = reached;
      await save(state, progress);
    };
    try {
      if (state.refused) return await stay(context, state);
      if (state.unproved) return await leaveUnproved(context, state);
      const stages = stagesBackward(run, state);
      const end = await takeStages(context, stages, { from: state, save: keep });
      return await conclude(context, end);
    } catch (error) {
      if (!(error instanceof Refusal) || context.signal.aborted) throw error;
      const hasTurned = isRefusal(error, 'RefusedStillNewVersion');
      const staysOnNew = hasTurned || (await isOnNew(context, state));
      if (isRefusal(error, 'RefusedNothingToReturnTo')) {
        // After the restore, writes since the snapshot must be carried over again.
        await keep(beginAgain(state));
        // A restored snapshot lacks memories that no user deleted, so the base does not apply to it.
        if (state.plan?.way === 'carry') await context.note({ base: undefined });
        await askAgain(context);
      }
      if (!staysOnNew) return await endUnproved(context, state, { error, keep });
      const { name, why, data } = error;
      await keep({ ...state, refused: { name, why, data } });
      await askAgain(context);
      return await stay(context, state);
    }
  },
};

function neverLeft({ plan }: Run): SwitchState {
  return { to: plan.sourceCollection, passed: {} };
}

function begin(plan: Return): SwitchState {
  return { to: plan.returnTo, passed: {}, plan };
}

/** The window is long over, users cannot write, and no collection to return to was found: begins anyway, to open writes. */
async function beginToOpen({ services, run }: StepRequest, error: unknown): Promise<SwitchState> {
  const { deadlineAt = Number.POSITIVE_INFINITY } = run.window ?? {};
  const isLate = services.clock().getTime() >= deadlineAt + MAX_UNPROVED_MS;
  const isWaitedFor = run.phase === 'switching' && isLate;
  if (!isWaitedFor || !isRefusal(error, 'RefusedNothingToReturnTo')) throw error;
  const plan = await planLastResort(services, run);
  return { ...begin(plan), passed: FREEZING_BEGUN, failingSince: deadlineAt };
}

interface Failing {
  readonly error: Refusal;
  readonly keep: (next: SwitchState) => Promise<void>;
}

/** Gives a refusal that keeps writes frozen time to be repaired. @throws Refusal until that time is over */
async function endUnproved(
  context: StepContext,
  state: SwitchState,
  { error, keep }: Failing,
): Promise<Outcome> {
  if ('opened' in state.passed) throw error;
  const now = context.services.clock().getTime();
  const { failingSince = now } = state;
  const { name, why, data } = error;
  const failing = { ...state, failingSince };
  await keep(failing);
  if (now - failingSince < MAX_UNPROVED_MS) {
    const until = new Date(failingSince + MAX_UNPROVED_MS).toISOString();
    const message = `${why} Writes stay frozen until ${until}; then they are opened without a proof.`;
    throw new Refusal(name, message, { data, cause: error });
  }
  // On another collection, what was asked for before is another request.
  await askAgain(context);
  return await openUnproved(context, failing, { error, keep });
}

/** On the collection that was active when the rollback began; if that is the one that is gone, on its restored snapshot. */
async function openUnproved(
  context: StepContext,
  state: SwitchState,
  { error, keep }: Failing,
): Promise<Outcome> {
  const { services, run, note } = context;
  const { passed, plan, failingSince } = state;
  const { name, why, data } = error;
  const beganOnNew = wasOpened(run) || plan?.mayHaveLeaked === true;
  if (beganOnNew && (await services.vectors.collectionExists(liveCollectionOf(run)))) {
    const { openedAt = services.clock().getTime(), ...window } = windowOf(run);
    await note({ window: { ...window, openedAt, stays: true } });
    const begun = { ...passed, ...FREEZING_BEGUN };
    const staying = { ...state, passed: begun, refused: { name, why, data } };
    await keep(staying);
    return await stay(context, staying);
  }
  // Gone, or empty: the old version makes an empty one when it starts.
  const isGone = isRefusal(error, 'RefusedNothingToReturnTo');
  const another = isGone && !plan?.restores ? await planRestore(services, run) : undefined;
  if (another) {
    await keep({ ...begin(another), passed: FREEZING_BEGUN, failingSince });
    throw outOfTime();
  }
  const to = isGone ? run.plan.sourceCollection : state.to;
  const unproved = { ...state, to, unproved: why };
  await keep(unproved);
  return await leaveUnproved(context, unproved);
}

async function leaveUnproved(context: StepContext, state: SwitchState): Promise<Outcome> {
  const { save } = context;
  const end = await takeStages(context, stagesUnproved, { from: state, save });
  return await conclude(context, end);
}

function assertRetained({ clock }: Services, run: Run): void {
  const retainUntil = run.window?.retainUntil;
  if (retainUntil === undefined || !retentionOf(run, clock()).isOver) return;
  throw rollbackEnded(retainUntil);
}

/** In which users may be in already: what failed is repeated until it ends. */
function assertNotOpened({ clock }: Services, run: Run): void {
  if (run.window?.stays) {
    const why = `Users stay on ${liveCollectionOf(run)}, as no rollback was proved in time. Find out what it was refused for, then roll back by hand.`;
    throw notNow(why);
  }
  if (!isOpened(run, clock())) return;
  throw notNow('Users may be on the new version: the cutover is repeated until the window ends.');
}

/** True if users worked on the new version, and it is the version that is deployed. */
async function isOnNew({ services, run }: StepContext, { passed }: SwitchState): Promise<boolean> {
  // In place the setting may stay the same.
  if ('setting-changed' in passed) return false;
  return wasOpened(run) && (await services.setting.read()) === liveCollectionOf(run);
}

async function stay(context: StepContext, state: SwitchState): Promise<Outcome> {
  const { run, save } = context;
  await takeStages(context, stagesOfStaying(state), { from: state, save });
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A switch that had not come to its end continues.
  const phase = wentLive(run) ? 'live' : 'switching';
  const { name = 'RefusedNothingToReturnTo', why = '', data = {} } = state.refused ?? {};
  return { phase, refusal: new Refusal(name, why, { data }) };
}

async function conclude(context: StepContext, state: SwitchState): Promise<Outcome> {
  const { run } = context;
  const { to } = state;
  const { points: _, ...found } = collectFacts(state);
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
  const until = keptUntil(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(run, state, isServed);
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
function keptUntil({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.window?.retainUntil ?? 0);
}

/** The next copy would remove from the new collection what only it has; undefined where there is nothing. */
function whyNoWindow(
  run: Run,
  { to, plan, passed, unproved }: SwitchState,
  isServed: boolean,
): string | undefined {
  if (unproved !== undefined) return `nothing proves that ${to} holds users' memories`;
  const live = liveCollectionOf(run);
  if (to !== run.plan.sourceCollection) return `users are on ${to}`;
  if (live !== to && wasOpened(run) && plan?.way !== 'carry')
    return `${live} has writes that were left behind`;
  if (collectFacts({ passed }).comparedByHand) return `${live} has writes that did not come along`;
  // The next window would upload the collection again, and remove what users worked on.
  if (isServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}
