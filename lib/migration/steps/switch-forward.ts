// The switch to the new collection: a cutover's stages, and how users are let in at its end.
import { Refusal } from '../refusals.ts';
import { liveCollectionOf, liveCollectionsOf, ofTestUser } from '../runs/run-names.ts';
import { isWaiting, type Keep, MORE_TIME, passing, type Stage } from '../runs/stages.ts';
import { type StepContext, type Waiting, waiting } from '../runs/step.ts';
import { removeWarmUp } from './clean-up.ts';
import { isAsBase } from './equality.ts';
import { isDoneOutside, suspecting } from './external-action.ts';
import { assertAsFrozen } from './in-place.ts';
import { proveEmbeddings, smokeTest } from './new-version.ts';
import { assertCountsEqual, scanCollection } from './recorded-counts.ts';
import { type Advance, carryBack, DEPLOYED, deploy, type SwitchState } from './switch.ts';
import { uploadSwap } from './upload-swap.ts';

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

const upload: Advance = async (context, { uploads: from = {} }, keep) => {
  const save = async (uploads: SwitchState['uploads']) => void (await keep({ uploads }));
  return (await uploadSwap(context, { from, save })) ?? {};
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
