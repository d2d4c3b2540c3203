// Goes back to the old version. What users wrote since the switch comes along, unless the operator leaves it behind. Until
// the setting changes, users stay on the new version: a rollback that is refused opens writes there again.
import * as v from 'valibot';
import { rollbackEnded } from '../moves.ts';
import { changedSetting } from '../ports/collection-setting.ts';
import { isRefusal, Refusal, type RefusalName } from '../refusals.ts';
import { storeReport } from '../runs/reports.ts';
import { type Progress, type Run, withServed } from '../runs/run.ts';
import {
  builtCollectionsOf,
  liveCollectionOf,
  liveCollectionsOf,
  restoredCollectionOf,
} from '../runs/run-names.ts';
import { type Keep, MORE_TIME, passing, type Stage, takeStages } from '../runs/stages.ts';
import { type Outcome, type Step, type StepContext, waiting } from '../runs/step.ts';
import { DAY_MS } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { restoreSnapshot, restoringEntries } from '../snapshots.ts';
import {
  carryingSchema,
  carryOverLateWrites,
  carryOverLeaks,
  isLeftBehind,
  knownFingerprint,
  lateWriteFacts,
  leakFacts,
} from './carry-over.ts';
import { removeCollections, removeOwn, removeTestWrites, tidyUp } from './clean-up.ts';
import { verifiedFingerprint } from './copy.ts';
import { countChanges, type EqualizeOptions, equalize, equalizingSchema } from './equalize.ts';
import { askAgain, isDoneOutside } from './external-action.ts';
import { assertOpen, lookSchema, proveFrozen } from './freeze.ts';
import { oldVersionEntries, proveOldVersion } from './old-version.ts';
import { scanCollection } from './recorded-counts.ts';
import {
  assertRestored,
  assertStillThere,
  forecastReturn,
  planReturn,
  readabilityOf,
  returnSchema,
} from './rollback-source.ts';

const stateSchema = v.object({
  ...returnSchema.entries,
  passed: v.array(v.string()),
  ...restoringEntries,
  look: v.optional(lookSchema),
  /** What was written to the old collection after users had left it, or to the new one before they came. */
  carried: v.optional(carryingSchema, {}),
  equalizing: v.optional(equalizingSchema, {}),
  ...oldVersionEntries,
  /** Writes that do not come along. */
  leftBehind: v.optional(v.union([v.number(), v.string()])),
  /** How often late writes were carried over once more. */
  again: v.optional(v.number()),
  /** What the walk of the last look may do. */
  lastLook: v.optional(v.picklist(['nothing-new', 'repair', 'insert'])),
  /** Refused: users stay on the new version. */
  refused: v.optional(v.object({ name: v.custom<RefusalName>(() => true), why: v.string() })),
});

type State = v.InferOutput<typeof stateSchema>;

export const rollback: Step = {
  command: 'rollback',
  forecast: async (request) => {
    assertRetained(request.services, request.run);
    return await forecastReturn(request);
  },
  guard: async (approach) => {
    const { services, run, save } = approach;
    assertRetained(services, run);
    // The old collection was never left.
    if (run.switchedAt === undefined) return;
    if (run.phase === 'live') await assertSettingKnown(services, run);
    const begun = { ...(await planReturn(approach)), passed: [], carried: {}, equalizing: {} };
    await save(begun satisfies State);
  },
  onEntering: ({ services }) => ({ rollbackStartedAt: services.clock().getTime() }),
  mayBeLate: 'always',
  work: async (context) => {
    const { run, checkpoint, save } = context;
    let state: State =
      run.switchedAt === undefined
        ? { ...NEVER_LEFT, returnTo: run.plan.sourceCollection }
        : v.parse(stateSchema, checkpoint?.state);
    const keep = async (reached: State, progress?: Progress) => {
      state = reached;
      await save(state, progress);
    };
    try {
      if (state.refused) return await stayOnNew(context, state);
      const stages = run.switchedAt === undefined ? [OPENED] : stagesOf(run, state);
      const end = await takeStages(context, stages, { from: state, save: keep });
      return end.isComplete ? await conclude(context, end.state) : end.wait;
    } catch (error) {
      if (isRefusal(error, 'RefusedNothingToReturnTo')) {
        // Once it is restored, what users wrote since its snapshot has to come along again.
        await keep({ ...state, ...UNSETTLED, passed: state.passed.filter(isOfRestore) });
        await askAgain(context);
      }
      if (!(error instanceof Refusal) || !(await isOnNew(context, state))) throw error;
      const { name, why } = error;
      await keep({ ...state, refused: { name, why } });
      return await stayOnNew(context, state);
    }
  },
};

const NEVER_LEFT: Omit<State, 'returnTo'> = {
  way: 'as-it-was',
  acknowledged: 0,
  mayHaveLeaked: false,
  passed: [],
  carried: {},
  equalizing: {},
};

/** Writes may have been opened already, and are frozen again. */
const UNSETTLED: Partial<State> = {
  look: undefined,
  carried: {},
  equalizing: {},
  leftBehind: undefined,
  lastLook: undefined,
  again: undefined,
  oldVersion: undefined,
  unansweredSince: undefined,
};

const RESTORE_CHECKED = 'restore-checked';
const FREEZING = 'freezing';
const LATE_WRITES_CARRIED = 'late-writes-carried';

function isOfRestore(stage: string): boolean {
  return stage === RESTORE_CHECKED || stage === FREEZING;
}

function assertRetained(
  { clock }: Services,
  { retainUntil = Number.POSITIVE_INFINITY, overAt }: Run,
): void {
  if (clock().getTime() < retainUntil && overAt === undefined) return;
  throw rollbackEnded(retainUntil);
}

function stagesOf(run: Run, { way, restores, returnTo, mayHaveLeaked }: State): Stage<State>[] {
  const wasOpened = run.openedAt !== undefined;
  const when = (isNeeded: boolean, ...stages: Stage<State>[]) => (isNeeded ? stages : []);
  return [
    ...when(
      restores !== undefined,
      restoreSnapshot<State>(returnTo, ({ restores }) => restores),
      passing(RESTORE_CHECKED, checkRestored),
    ),
    passing(FREEZING, async () => ({})),
    passing('frozen', awaitFreeze),
    ...when(
      way === 'carry',
      passing(LATE_WRITES_CARRIED, carryLateWrites),
      passing('equal', makeEqual),
    ),
    ...when(
      wasOpened && way !== 'carry' && returnTo !== liveCollectionOf(run),
      passing('counted', countLeftBehind),
    ),
    passing('deployed', deployOld),
    ...when(way === 'carry', passing('last-look-taken', lookAgain)),
    OPENED,
    ...when(mayHaveLeaked, passing('leaks-carried', carryLeaks)),
  ];
}

type Advance = Stage<State>['advance'];

// Refused while nobody is kept from writing yet; what is written until then counts again once writes are frozen.
const checkRestored: Advance = async (context, state, keep) => {
  const { services, run } = context;
  await assertStillThere(context, state);
  await assertRestored(services, run, state.returnTo);
  return state.way === 'to-snapshot' ? await countLeftBehind(context, state, keep) : {};
};

// docs/decisions/migration/0005-automatic-rollback.md: only where users were let in, somebody has to be kept out.
const awaitFreeze: Advance = async (context, { look }, keep) => {
  const collections = liveCollectionsOf(context.run);
  if (!(await isDoneOutside(context, 'freeze', collections[0]))) return waiting('the webhook');
  if (context.run.openedAt === undefined) return {};
  const remember = async (look: State['look']) => void (await keep({ look }));
  const proof = await proveFrozen(context, { collections, look, remember });
  return 'done' in proof ? proof : {};
};

const carryLateWrites: Advance = async (context, { carried: from, restores }, keep) => {
  const save = async (carried: State['carried']) => void (await keep({ carried }));
  try {
    const late = await carryOverLateWrites(context, { from, save });
    return late.isComplete ? { carried: late.state } : late.wait;
  } catch (error) {
    if (!restores || !(error instanceof Refusal)) throw error;
    // The old collection is damaged: that is why its snapshot takes its place.
    const { services, run } = context;
    const message = 'What was written to the damaged old collection cannot be carried over';
    services.log({ level: 'WARN', message, runId: run.runId, why: error.why });
    return {};
  }
};

// From here on nobody writes.
const makeEqual: Advance = async (context, state, keep) => {
  await assertStillThere(context, state, 0);
  // Nobody decides on the rollback of a window, and so it never has to refuse.
  const policy = context.run.liveAt === undefined ? 'insert-if-excessive' : 'refuse';
  // Once more than a few times: a program writes there without end, and what it wrote is not taken back.
  const isSteady = (state.again ?? 0) < MOST_AGAIN;
  const expected = isSteady ? fingerprintOfOld(context.run, state) : undefined;
  const result = await carryWritesBack(context, state, keep, {
    policy: isSteady ? policy : 'insert',
    expected,
  });
  if (result !== 'changed') return result ? {} : MORE_TIME;
  // Something was written to the old collection since late writes were carried over: so are these.
  await keep({
    carried: {},
    equalizing: {},
    again: (state.again ?? 0) + 1,
    passed: state.passed.filter((stage) => stage !== LATE_WRITES_CARRIED),
  });
  return MORE_TIME;
};

const countLeftBehind: Advance = async (context, { way, returnTo, acknowledged }) => {
  const { services, run, input } = context;
  const isUnreadable = (await readabilityOf(services, run)) !== undefined;
  if (isUnreadable && way === 'as-it-was') return { leftBehind: 'unknown' };
  const collections = { from: liveCollectionOf(run), to: returnTo };
  const { adds, changes, removes } = isUnreadable
    ? { adds: 0, changes: 0, removes: 0 }
    : await countChanges(context, collections);
  const leftBehind = adds + changes + removes;
  const limit = input.acknowledgedLoss ?? acknowledged;
  if (way === 'as-it-was' || leftBehind <= limit) return { leftBehind };
  const writes = `${leftBehind} ${leftBehind === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${limit}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why, { data: { loss: leftBehind } });
};

const deployOld: Advance = async (context, state, keep) => {
  const { returnTo } = state;
  await removeTestWrites(context, [returnTo]);
  await assertStillThere(context, state, expectedPoints(state));
  await context.renew();
  await changeSetting(context, returnTo);
  if (!(await isDoneOutside(context, 'deploy-old', returnTo))) return waiting('the webhook');
  const proving = { collection: returnTo, from: state, save: keep };
  return { oldVersion: await proveOldVersion(context, proving) };
};

/**
 * What was written to the new collection until the old version was deployed. Once only: a program that writes without end
 * would keep users from writing. Where the old version has taken writes as well, those of the new one are only added.
 */
const lookAgain: Advance = async (context, begun, keep) => {
  const isLost = (await readabilityOf(context.services, context.run)) !== undefined;
  if (isLost || begun.lastLook === 'nothing-new') return {};
  let state = begun;
  if (state.lastLook === undefined) {
    const lastLook = await planLastLook(context, state);
    if (lastLook === 'nothing-new') return { lastLook };
    state = await keep({ lastLook, equalizing: {} });
  }
  const policy = state.lastLook === 'repair' ? 'insert-if-excessive' : 'insert';
  return (await carryWritesBack(context, state, keep, { policy })) ? {} : MORE_TIME;
};

async function planLastLook(context: StepContext, state: State): Promise<State['lastLook']> {
  const { services, run } = context;
  const report = reportOf(state);
  const digestOf = async (name: string) =>
    (await scanCollection(services, run, name)).contents.digest;
  if ((await digestOf(liveCollectionOf(run))) === report?.from.digest) return 'nothing-new';
  return (await digestOf(state.returnTo)) === report?.to.digest ? 'repair' : 'insert';
}

function reportOf({ equalizing: { compared, written } }: State) {
  return (written ?? compared)?.report;
}

/** Late writes are in the new collection, too; a snapshot has none. */
function fingerprintOfOld(run: Run, { restores, carried }: State): string {
  return restores ? verifiedFingerprint(run) : (carried.found ?? knownFingerprint(run));
}

const MOST_AGAIN = 3;

async function carryWritesBack(
  context: StepContext,
  { returnTo: to, equalizing: reached, deletes: begun }: State,
  keep: Keep<State>,
  options: Pick<EqualizeOptions, 'policy' | 'expected'>,
) {
  return await equalize(context, {
    from: liveCollectionOf(context.run),
    to,
    reached,
    ...options,
    deletes: context.input.deletes ?? begun,
    save: (equalizing, progress) => keep({ equalizing }, progress),
  });
}

/**
 * Before anything is frozen, a setting that somebody else changed is a reason to stop: users may write there.
 * Once writes are frozen it is replaced, whatever it says: nobody writes anywhere, and users wait.
 */
async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (isKnown(run, present)) return;
  throw changedSetting(present, liveCollectionOf(run));
}

async function changeSetting({ services, run }: StepContext, to: string): Promise<void> {
  const { setting, log } = services;
  const present = await setting.read();
  if (!isKnown(run, present) && present !== to) {
    const message = 'Somebody else changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: to });
  }
  await setting.change({ from: present, to });
}

function isKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}

/** Whether users were let into the new version, and it is the one that is deployed. */
async function isOnNew({ services, run }: StepContext, { passed }: State): Promise<boolean> {
  // In place the setting never changes, and nothing is refused between the freeze and the deployment.
  if (run.plan.inPlace && passed.includes('frozen')) return false;
  return run.openedAt !== undefined && (await services.setting.read()) === liveCollectionOf(run);
}

async function stayOnNew(context: StepContext, { refused, passed }: State): Promise<Outcome> {
  const { run } = context;
  if (passed.includes(FREEZING)) {
    if (!(await isDoneOutside(context, 'open-writes', liveCollectionOf(run))))
      return waiting('the webhook');
    await assertOpen(context, liveCollectionsOf(run));
  }
  const message = `What was restored as ${restoredCollectionOf(run)} is to be removed by hand`;
  await tidyUp(context, message, () => removeCollections(context, [restoredCollectionOf(run)]));
  // A cutover that had not come to its end continues.
  const phase = run.liveAt === undefined ? 'switching' : 'live';
  const { name = 'RefusedNothingToReturnTo', why = '' } = refused ?? {};
  return { done: true, phase, refusal: new Refusal(name, why) };
}

const OPENED = passing<State>('opened', async (context, state) => {
  const { returnTo } = state;
  const expected = expectedPoints(state);
  await assertStillThere(context, state, expected);
  if (!(await isDoneOutside(context, 'open-writes', returnTo))) return waiting('the webhook');
  // The new collection may be the only copy left: a write would create an empty one in the place of the old.
  await assertStillThere(context, state, expected);
  await assertOpen(context, [returnTo]);
  return {};
});

/** That the collection was left with; undefined where it was left as it was. */
function expectedPoints(state: State): number | undefined {
  return state.way === 'carry' ? reportOf(state)?.to.points : undefined;
}

// Users are back already.
const carryLeaks: Advance = async (context, { returnTo, carried: from }, keep) => {
  const save = async (carried: State['carried']) => void (await keep({ carried }));
  const leaks = await carryOverLeaks(context, returnTo, { from, save });
  return leaks.isComplete ? { carried: leaks.state } : leaks.wait;
};

async function conclude(context: StepContext, state: State): Promise<Outcome> {
  const { run } = context;
  const { way, returnTo, carried, oldVersion, leftBehind = 0 } = state;
  const wasOpened = run.openedAt !== undefined;
  const holdsMore =
    way === 'carry' ? await hasMore(context, state) : !wasOpened && isLeftBehind(carried);
  const served = wasOpened || carried.found ? liveCollectionsOf(run) : [];
  const message = 'What the run has left on the store is to be removed by hand';
  await tidyUp(context, message, () => removeOwn(context, [...served, ...builtCollectionsOf(run)]));
  const facts = {
    returnedTo: returnTo,
    leftBehind,
    ...(await fingerprintOfNew(context)),
    ...(wasOpened ? lateWriteFacts(carried) : leakFacts(carried)),
    ...(holdsMore && { comparedByHand: liveCollectionOf(run) }),
    ...(oldVersion === 'unproved' ? { oldVersion } : {}),
  };
  const evidence = await storeReport(context, 'rollback-report', { facts });
  const until = keptUntil(context);
  await context.services.artifacts.retain(evidence.artifact, new Date(until));
  const takesNoWindow = whyNoWindow(run, state, { wasServed: served.length > 0, holdsMore });
  const changes = {
    ...(served.length > 0 && { served: withServed(run, served, until) }),
    ...(takesNoWindow !== undefined && { takesNoWindow }),
  };
  return { done: true, evidence, changes };
}

/** As long as the other artifacts of the run, and no shorter than anything is kept from today on. */
function keptUntil({ services, run }: StepContext): number {
  const until = services.clock().getTime() + run.plan.retentionDays * DAY_MS;
  return Math.max(until, run.retainUntil ?? 0);
}

/** As users left it: what is written to it from now on is nowhere else. */
async function fingerprintOfNew({ services, run }: StepContext) {
  const { targetCollection } = run.plan;
  if (run.switchedAt === undefined || (await readabilityOf(services, run)) !== undefined) return {};
  if (liveCollectionOf(run) !== targetCollection) return {};
  const { contents } = await scanCollection(services, run, targetCollection);
  return { newFingerprint: contents.digest };
}

/** The next copy would remove from the new collection what only it has; undefined where there is nothing. */
function whyNoWindow(
  run: Run,
  { way, returnTo }: State,
  { wasServed, holdsMore }: { readonly wasServed: boolean; readonly holdsMore: boolean },
): string | undefined {
  const live = liveCollectionOf(run);
  if (returnTo !== run.plan.sourceCollection) return `users are on ${returnTo}`;
  if (live !== returnTo && run.openedAt !== undefined && way !== 'carry')
    return `${live} has writes that were left behind`;
  if (holdsMore) return `${live} has writes that did not come along`;
  // What was uploaded is uploaded anew for a window: that would remove what users worked on.
  if (wasServed && run.plan.uploadAs !== undefined) return `users worked on ${live}`;
  return undefined;
}

/** Whether the new collection has what did not come along: only a person can compare it now. */
async function hasMore(context: StepContext, state: State): Promise<boolean> {
  const { services, run } = context;
  const report = reportOf(state);
  if (report && report.from.digest !== report.to.digest) return true;
  if ((await readabilityOf(services, run)) !== undefined) return false;
  const { contents } = await scanCollection(services, run, liveCollectionOf(run));
  return contents.digest !== report?.from.digest;
}
