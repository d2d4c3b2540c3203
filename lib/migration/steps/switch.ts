// The switch: users move from the collection that they are on, home, to the idle one. Forward it is the cutover, backward the
// rollback. Both take the same stages in the same order, each those that its direction and its purpose need.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import type { Strays } from '../reconcile.ts';
import { Refusal } from '../refusals.ts';
import { type Run, refusedSchema } from '../runs/run.ts';
import { liveCollectionOf, liveCollectionsOf, ofTestUser } from '../runs/run-names.ts';
import { isWaiting, type Keep, MORE_TIME, passing, type Stage } from '../runs/stages.ts';
import { type StepContext, type Waiting, waiting } from '../runs/step.ts';
import type { Services } from '../services.ts';
import { restoreSnapshot, restoringSchema } from '../snapshots.ts';
import { removeTestWrites, removeWarmUp } from './clean-up.ts';
import {
  carryOver,
  countChanges,
  isAsBase,
  isLaterChange,
  makeEqual,
  type Walks,
  walksSchema,
} from './equality.ts';
import { isDoneOutside, suspecting } from './external-action.ts';
import { assertOpen, lookSchema, proveFrozen } from './freeze.ts';
import { assertAsFrozen } from './in-place.ts';
import { proveEmbeddings, smokeTest } from './new-version.ts';
import { proveOldVersion } from './old-version.ts';
import { assertCountsEqual, scanCollection } from './recorded-counts.ts';
import {
  assertRestored,
  assertStillThere,
  leftBehindBy,
  readabilityOf,
  returnSchema,
} from './return-target.ts';
import { uploadSwap, uploadsSchema } from './upload-swap.ts';

export const switchSchema = v.object({
  /** That users move to. */
  to: v.string(),
  /** Names of the stages that are behind it. */
  passed: v.array(v.string()),
  /** Of a rollback: which way. */
  plan: v.optional(returnSchema),
  restoring: v.optional(restoringSchema),
  uploads: v.optional(uploadsSchema),
  look: v.optional(lookSchema),
  walks: v.optional(walksSchema),
  /** The backend does not answer, or does not say which version it is. */
  unansweredSince: v.optional(v.number()),
  /** For the report of its end. */
  facts: v.optional(v.record(v.string(), v.union([v.string(), v.number()]))),
  /** Users stay on the new version. */
  refused: v.optional(refusedSchema),
});

export type SwitchState = v.InferOutput<typeof switchSchema>;

type Advance = Stage<SwitchState>['advance'];

const RESTORE_CHECKED = 'restore-checked';
export const FREEZING = 'freezing';
const DEPLOYED = 'deployed';

/** Writes may have been opened already, and are frozen again: what comes after the restored snapshot is due again. */
export function afterRestore({ to, passed, plan, restoring }: SwitchState): SwitchState {
  const stays = [RESTORE_CHECKED, FREEZING];
  const again = { to, passed: passed.filter((stage) => stays.includes(stage)) };
  return { ...again, ...(plan && { plan }), ...(restoring && { restoring }) };
}

/** From the collection that users are on to the new one, while nobody writes. */
export function stagesForward(): readonly Stage<SwitchState>[] {
  return [
    passing('uploaded', upload),
    passing('setting-changed', changeToNew),
    passing(DEPLOYED, deploy('deploy-new')),
    passing('proved', proveNew),
    passing('home-noted', noteNewHome),
  ];
}

/** Back to the old one. Where users were never let into the new one, nobody has to be kept out, and nothing comes along. */
export function stagesBackward(run: Run, { to, plan }: SwitchState): readonly Stage<SwitchState>[] {
  const wasOpened = run.openedAt !== undefined;
  const when = (isNeeded: boolean, ...stages: Stage<SwitchState>[]) => (isNeeded ? stages : []);
  return [
    ...when(plan?.restores !== undefined, RESTORED, passing(RESTORE_CHECKED, checkRestored)),
    ...when(
      plan !== undefined,
      passing(FREEZING, async () => ({})),
    ),
    ...when(plan !== undefined, passing('frozen', freezeNew)),
    ...when(plan?.way === 'carry', passing('equal', makeOldEqual)),
    ...when(
      wasOpened && plan?.way !== 'carry' && to !== liveCollectionOf(run),
      passing('counted', countLeftBehind),
    ),
    ...when(plan !== undefined, passing('setting-changed', changeToOld)),
    ...when(plan !== undefined, passing(DEPLOYED, deploy('deploy-old'))),
    ...when(plan !== undefined, passing('proved', proveOld)),
    passing('opened', openOld),
    ...when(plan?.way === 'carry' || plan?.mayHaveLeaked === true, passing('carried', carryBack)),
  ];
}

/** Of a rollback that is refused before the setting changes. */
export function stagesOfStaying({ passed }: SwitchState): readonly Stage<SwitchState>[] {
  return passed.includes(FREEZING) ? [passing('opened-again', openAgain)] : [];
}

const upload: Advance = async (context, { uploads: from = {} }, keep) => {
  const save = async (uploads: SwitchState['uploads']) => void (await keep({ uploads }));
  return (await uploadSwap(context, { from, save })) ?? {};
};

const RESTORED: Stage<SwitchState> = {
  isDone: ({ restoring }) => restoring?.restored !== undefined,
  advance: async (context, state, keep) => {
    const { to, plan, restoring = {} } = state;
    const inner = async () => ({ ...restoring, ...(await keep({})).restoring });
    const next = await restoreSnapshot(to, () => plan?.restores).advance(context, restoring, inner);
    if (typeof next === 'number' || isWaiting(next)) return next;
    return { restoring: { ...restoring, ...next } };
  },
};

// Refused while nobody is kept from writing yet; what is written until then counts again once writes are frozen.
const checkRestored: Advance = async (context, state, keep) => {
  const { services, run } = context;
  await assertStillThere(context, state.to);
  await assertRestored(services, run, state.to);
  return state.plan?.way === 'to-snapshot' ? await countLeftBehind(context, state, keep) : {};
};

// docs/decisions/migration/0005-automatic-rollback.md: only where users were let in, somebody has to be kept out.
const freezeNew: Advance = async (context, { look }, keep) => {
  const collections = liveCollectionsOf(context.run);
  if (!(await isDoneOutside(context, 'freeze', collections[0]))) return waiting('the webhook');
  if (context.run.openedAt === undefined) return {};
  const remember = async (look: SwitchState['look']) => void (await keep({ look }));
  const proof = await proveFrozen(context, { collections, look, remember });
  return 'done' in proof ? proof : {};
};

// From here on nobody writes. Nobody decides on the rollback of a window, and so it never has to refuse.
const makeOldEqual: Advance = async (context, state, keep) => {
  const { to, plan, walks: reached = {} } = state;
  await assertStillThere(context, to, 0);
  const { run, input } = context;
  const report = await makeEqual(context, {
    from: liveCollectionOf(run),
    to,
    deletes: input.deletes ?? plan?.deletes,
    mayInsertOnly: run.liveAt === undefined,
    usesBase: plan?.restores === undefined,
    reached,
    save: savingWalks(keep),
  });
  if (!report) return MORE_TIME;
  const { points, digest } = report.to;
  const isBehind = report.from.digest !== digest;
  const left = isBehind ? { comparedByHand: liveCollectionOf(run) } : {};
  return { walks: {}, facts: { points, ...left, ...strayFacts('lateWrites', report.strays) } };
};

function savingWalks(keep: Keep<SwitchState>) {
  return (walks: Walks, progress: Parameters<typeof keep>[1]) => keep({ walks }, progress);
}

function strayFacts(name: string, { writes, overruled, withheld }: Strays) {
  if (writes === 0) return {};
  const facts = { [name]: writes, [`${name}Overruled`]: overruled };
  return withheld > 0 ? { ...facts, [`${name}Withheld`]: withheld } : facts;
}

const countLeftBehind: Advance = async (context, { to, plan, facts }) => {
  const { services, run, input } = context;
  const isUnreadable = (await readabilityOf(services, run)) !== undefined;
  if (plan?.way !== 'to-snapshot') {
    if (isUnreadable) return { facts: { ...facts, leftBehind: 'unknown' } };
    return { facts: { ...facts, ...(await leftBehindBy(context)) } };
  }
  const names = { from: liveCollectionOf(run), to };
  const { adds, changes, removes } = isUnreadable
    ? { adds: 0, changes: 0, removes: 0 }
    : await countChanges(context, names, false);
  const leftBehind = adds + changes + removes;
  const limit = input.acknowledgedLoss ?? plan.acknowledged;
  if (leftBehind <= limit) return { facts: { ...facts, leftBehind } };
  const writes = `${leftBehind} ${leftBehind === 1 ? 'write' : 'writes'}`;
  const why = `This rollback loses ${writes}; acknowledged: ${limit}.`;
  throw new Refusal('RefusedLossNotAcknowledged', why, { data: { loss: leftBehind } });
};

const changeToNew: Advance = async (context, { to }) => {
  const { services, run, renew } = context;
  if ((await services.setting.read()) !== to) await assertComplete(context);
  await renew();
  await services.setting.change({ from: run.plan.sourceCollection, to });
  return {};
};

/** Once the new version is deployed, a memory that is missing may be one that a user has deleted. @throws Refusal */
async function assertComplete({ services: { vectors }, run }: StepContext): Promise<void> {
  const live = liveCollectionOf(run);
  const points = (await vectors.count(live)) - (await vectors.count(live, ofTestUser(run)));
  const verified = run.evidence['verification-report']?.facts.points;
  if (points === verified) return;
  const why = `${live} has ${points} points where ${verified} were verified.`;
  throw new Refusal('RefusedVerification', why);
}

const changeToOld: Advance = async (context, { to, facts }) => {
  const { services, run, renew } = context;
  const { setting, log } = services;
  await removeTestWrites(context, [to]);
  await assertStillThere(context, to, pointsOf(facts));
  await renew();
  const present = await setting.read();
  // Nobody writes anywhere, and users wait: it is replaced, whatever it says.
  if (!isKnown(run, present) && present !== to) {
    const message = 'Somebody else changed the collection-name setting; rollback replaces it';
    log({ level: 'WARN', message, runId: run.runId, replaced: present, by: to });
  }
  await setting.change({ from: present, to });
  return {};
};

/** Before anything is frozen, a setting that somebody else changed is a reason to stop: users may write there. */
export async function assertSettingKnown({ setting }: Services, run: Run): Promise<void> {
  const present = await setting.read();
  if (isKnown(run, present)) return;
  throw changedSetting(present, liveCollectionOf(run));
}

function isKnown(run: Run, collection: string): boolean {
  return [liveCollectionOf(run), run.plan.sourceCollection].includes(collection);
}

/** That the collection was left with; undefined where it was left as it was. */
function pointsOf(facts: SwitchState['facts']): number | undefined {
  return facts?.points === undefined ? undefined : Number(facts.points);
}

function deploy(action: 'deploy-new' | 'deploy-old'): Advance {
  return async (context, { to }) =>
    (await isDoneOutside(context, action, to)) ? {} : waiting('the webhook');
}

const proveNew: Advance = async (context, { to }) => {
  const collections = liveCollectionsOf(context.run);
  const { backend } = context.services;
  try {
    await removeWarmUp(context, collections);
    await proveEmbeddings(context, { backend, known: to, collection: to });
    await removeWarmUp(context, collections);
    await smokeTest(context);
    await removeWarmUp(context, collections);
    return {};
  } catch (failure) {
    throw suspecting('deploy-new', to, failure);
  }
};

const proveOld: Advance = async (context, { to, passed, unansweredSince, facts }, keep) => {
  const save = async (unansweredSince: number) => void (await keep({ unansweredSince }));
  const proving = proveOldVersion(context, { collection: to, unansweredSince, save });
  const isProved = await proving.catch(async (error: unknown) => {
    // What was said to be done is asked for once more.
    await keep({ passed: passed.filter((stage) => stage !== DEPLOYED) });
    throw error;
  });
  return isProved ? {} : { facts: { ...facts, oldVersion: 'unproved' } };
};

// The last look: both collections are what was compared, each time that the stage is taken. A write that came late to the old
// one is not lost: users return to it. Noted before anybody is let in: from then on users may have written.
const noteNewHome: Advance = async (context, { to }) => {
  if (context.run.plan.inPlace) await assertAsFrozen(context);
  else await assertUnchanged(context, to);
  await context.note({ openedAt: context.services.clock().getTime() });
  return {};
};

async function assertUnchanged({ services, run }: StepContext, to: string): Promise<void> {
  const { sourceCollection } = run.plan;
  const live = await scanCollection(services, run, to);
  if (live.contents.digest !== run.base?.digest) {
    throw new Refusal('RefusedVerification', `${to} is no longer what was verified.`);
  }
  await assertCountsEqual(services, run, live);
  const isOldThere = await services.vectors.collectionExists(sourceCollection);
  if (!isOldThere || (await isAsBase(services, run, sourceCollection))) return;
  const why = `${sourceCollection} was written to after it was verified.`;
  throw new Refusal('RefusedSourceChanged', why);
}

/**
 * The end of the way forward. No stage: once users are let in, nothing that is to be saved stands between them and the end.
 * @returns what is waited for, or the facts that are known by then
 */
export async function letIn(
  context: StepContext,
  state: SwitchState,
): Promise<SwitchState['facts'] | Waiting> {
  const { services, run, renew, save } = context;
  // Somebody may have changed it since: the next start of the backend would make another collection.
  await services.setting.change({ from: run.plan.sourceCollection, to: state.to });
  // A rollback may have begun in the meantime: it must not find writes opened.
  await renew();
  if (!(await isDoneOutside(context, 'open-writes', state.to))) return waiting('the webhook');
  const keep: Keep<SwitchState> = async (reached, progress) => {
    const next = { ...state, ...reached };
    await save(next, progress);
    return next;
  };
  const carried = await carryBack(context, state, keep);
  if (typeof carried === 'number' || isWaiting(carried)) return MORE_TIME;
  return carried.facts ?? {};
}

// The new collection may be the only copy left: a write would create an empty one in the place of the old.
const openOld: Advance = async (context, { to, facts }) => {
  const expected = pointsOf(facts);
  await assertStillThere(context, to, expected);
  if (!(await isDoneOutside(context, 'open-writes', to))) return waiting('the webhook');
  await assertStillThere(context, to, expected);
  await assertOpen(context, [to]);
  return {};
};

const openAgain: Advance = async (context) => {
  const collections = liveCollectionsOf(context.run);
  if (!(await isDoneOutside(context, 'open-writes', collections[0]))) {
    return waiting('the webhook');
  }
  await assertOpen(context, collections);
  return {};
};

// Users are in already. Where they never were in the new version, a change there that no version has made is damage.
const carryBack: Advance = async (context, { to, facts = {}, walks: reached = {} }, keep) => {
  const { run } = context;
  const live = liveCollectionOf(run);
  const isForward = to === live;
  const strays = await carryOver(context, {
    from: to,
    to: isForward ? run.plan.sourceCollection : live,
    ...(run.openedAt === undefined && { isOfUser: isLaterChange }),
    reached,
    save: savingWalks(keep),
  });
  if (!strays) return MORE_TIME;
  const isLeft = !isForward && strays.overruled + strays.withheld > 0;
  const name = isForward ? 'lateWrites' : 'leakedWrites';
  const left = isLeft ? { comparedByHand: live } : {};
  return { facts: { ...facts, ...strayFacts(name, strays), ...left } };
};
