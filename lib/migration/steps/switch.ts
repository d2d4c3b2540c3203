// The runbook of the switch, in both directions: each line is a stage, in the order of execution. A stage that has passed is not
// repeated, whatever ends the invocation. Writes are frozen from `frozen` on, until `openNew` or `openOld` opens them. The
// stages that both directions share follow below.
import { readChangeTime } from '../json/memory-payload.ts';
import type { ScrolledPoint } from '../ports/vector-store.ts';
import { Refusal } from '../refusals.ts';
import type { Facts } from '../runs/journal.ts';
import { wasOpened } from '../runs/run.ts';
import { liveCollectionOf } from '../runs/run-names.ts';
import type { StepContext } from '../runs/step.ts';
import { haveSameMemories, whyUnreadable } from './comparison.ts';
import { moveEntities, movesEntities } from './entities.ts';
import { describeLateWrites, equalise } from './equalise.ts';
import {
  askAgainIfRefused,
  type End,
  endRefused,
  FREEZING,
  readEnd,
  readPlan,
  recordEnd,
  type Stayed,
} from './return-end.ts';
import type { ReturnPlan } from './return-target.ts';
import {
  changeToOld,
  countLeftBehind,
  deployAgain,
  deployBack,
  freezeNew,
  makeOldEqual,
  openAgain,
  openOld,
  openWithoutProof,
  restoreOld,
  restoreSetting,
} from './switch-back.ts';
import {
  backUp,
  changeToNew,
  deployNew,
  freezeOld,
  makeNewEqual,
  openNew,
  prepareSwitch,
  proveNew,
  runFinalCheck,
} from './switch-forward.ts';
import { uploadSwap } from './upload-swap.ts';

/**
 * Moves users from the old collection to the new one. A stage that is refused begins the rollback (runs/advance.ts).
 * @returns facts of the last stage
 */
export async function switchForward(context: StepContext): Promise<Facts> {
  const { run, stages } = context;
  const to = liveCollectionOf(run);
  await stages.once('frozen', freezeOld);
  await stages.once('backed-up', backUp);
  await stages.once('equal', makeNewEqual);
  if (movesEntities(run)) {
    await stages.once('entities-equal', (context) => moveSwitchedEntities(context, to));
  }
  await stages.once('prepared', prepareSwitch);
  await stages.once('uploaded', uploadSwap);
  await stages.once('setting-changed', (context) => changeToNew(context, to));
  await stages.once('deployed', (context) => deployNew(context, to));
  await stages.once('proved', (context) => proveNew(context, to));
  // The journal stores the names of stages: a run that an update meets later must not repeat this one.
  await stages.once('last-look', (context) => runFinalCheck(context, to));
  // Once traffic is open, the switch continues to its end, whatever the deadline.
  await openNew(context, to);
  return await stages.runLast('carried', (context) => carryLateWrites(context, to));
}

/**
 * Moves users back, and records how that ends: after a refusal, they may stay on the new version (return-end.ts).
 * @throws Refusal while its cause can be repaired
 */
export async function switchBack(context: StepContext): Promise<End> {
  const end = readEnd(context) ?? (await recordEnd(context, await tryReturn(context)));
  await askAgainIfRefused(context, async () => {
    if ('refused' in end) return await stayOnNew(context, end);
    const { to, unproved: why } = end;
    if (why === undefined) return;
    await context.stages.once('opened', (context) => openWithoutProof(context, { to, why }));
  });
  return end;
}

async function tryReturn(context: StepContext): Promise<End> {
  const plan = readPlan(context);
  try {
    await returnUsers(context, plan);
    return { to: plan.returnTo };
  } catch (error) {
    if (!(error instanceof Refusal) || context.signal.aborted) throw error;
    return await endRefused(context, error, plan);
  }
}

/**
 * The switch in reverse. If traffic was never opened, users find all of their memories in the old collection: only early writes are
 * carried over, once writes are open.
 */
async function returnUsers(context: StepContext, plan: ReturnPlan): Promise<void> {
  const { run, stages } = context;
  const to = plan.returnTo;
  if (plan.way === 'never-left') {
    return await stages.once('opened', (context) => openOld(context, { to }));
  }
  const carries = plan.way === 'carry';
  const leavesBehind = wasOpened(run) && !carries && to !== liveCollectionOf(run);
  if (plan.restores) await stages.once('restored', (context) => restoreOld(context, plan));
  await stages.once(FREEZING, async () => {});
  await stages.once('frozen', freezeNew);
  let points: number | undefined;
  if (carries) {
    ({ points } = await stages.once('equal', (context) => makeOldEqual(context, plan)));
  }
  if (carries && movesEntities(run)) {
    await stages.once('entities-equal', (context) => moveSwitchedEntities(context, to));
  }
  if (leavesBehind) await stages.once('counted', (context) => countLeftBehind(context, plan));
  await stages.once('setting-changed', (context) => changeToOld(context, { to, points }));
  await stages.once('deployed', (context) => deployBack(context, to));
  await stages.once('opened', (context) => openOld(context, { to, points }));
  if (carries || plan.mayHaveLeaked) {
    await stages.once('carried', (context) => carryLateWrites(context, to));
  }
}

/** Keeps users on the new version after a refused rollback, and opens writes there if they may be frozen. */
async function stayOnNew(context: StepContext, { leftFor }: Stayed): Promise<void> {
  const { stages } = context;
  if (leftFor !== undefined) {
    await stages.once('setting-restored', restoreSetting);
    await stages.once('deployed-again', (context) => deployAgain(context, leftFor));
  } else if (!(FREEZING in stages.recorded.passed)) return;
  await stages.once('opened-again', openAgain);
}

/** Called when the memories of both collections are equal. @param to collection that users move to */
async function moveSwitchedEntities(context: StepContext, to: string) {
  const { plan } = context.run;
  const live = liveCollectionOf(context.run);
  const isForward = to === live;
  // Even if the built collection is uploaded under another name later, the entities move to the built one.
  const names = isForward
    ? { from: plan.sourceCollection, to: plan.targetCollection }
    : { from: live, to };
  return await moveEntities(context, { ...names, mayLack: !isForward });
}

/**
 * Called once writes are open. Carries over writes that a program made to the collection that users have left. If the new version
 * never took traffic, a change of its collection that neither version made is corruption.
 */
async function carryLateWrites(context: StepContext, to: string): Promise<Facts> {
  const { run, services } = context;
  const live = liveCollectionOf(run);
  const isForward = to === live;
  const { vectors } = services;
  const problem = isForward ? undefined : await whyUnreadable(services, run);
  // The rollback has already carried over everything that could be read.
  if (problem !== undefined && (await vectors.collectionExists(live)))
    return { comparedByHand: live };
  const standby = isForward ? run.plan.sourceCollection : live;
  const canCompare = run.base !== undefined && (await vectors.collectionExists(standby));
  const hasBegun = context.cursor !== undefined;
  if (!canCompare || (!hasBegun && (await haveSameMemories(context, standby, { base: run.base }))))
    return {};
  const result = await equalise(context, {
    active: to,
    standby,
    walk: 'carried',
    base: 'continued',
    isUserChange: wasOpened(run) ? undefined : isLaterChange,
    users: 'writing',
    onExcess: 'write',
    mode: 'carry',
  });
  const { strays: lateWrites } = result.report;
  const needsPerson = !isForward && lateWrites.overruled + lateWrites.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  return { ...describeLateWrites(name, lateWrites), ...(needsPerson && { comparedByHand: live }) };
}

/** Compares the times that mem0 keeps in the payload. */
function isLaterChange(before: ScrolledPoint, after: ScrolledPoint): boolean {
  return readChangeTime(after.payload) > readChangeTime(before.payload);
}
