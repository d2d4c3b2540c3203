// The short step: the setting, the new version, the smoke test, the counts; then writes are opened.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import { Refusal } from '../refusals.ts';
import { liveCollectionOf, liveCollectionsOf } from '../runs/run-names.ts';
import { type Step, type StepContext, type Turn, waiting } from '../runs/step.ts';
import { isDoneOutside } from './ask-outside.ts';
import { proveEmbeddings } from './embedding-probe.ts';
import { goLive } from './go-live.ts';
import { removeWarmUp } from './rebuild.ts';
import { assertCountsEqual, scanCollection } from './recorded-counts.ts';
import { smokeTest } from './smoke-test.ts';
import { assertNamesFree, type Uploads, uploadSwap, uploadsSchema } from './upload-swap.ts';
import { verifiedFingerprint } from './verify-step.ts';
import { hasWayBack } from './way-back.ts';

const stateSchema = v.object({
  uploads: v.optional(uploadsSchema, {}),
  isDeployed: v.optional(v.boolean(), false),
  isProved: v.optional(v.boolean(), false),
});

type State = v.InferOutput<typeof stateSchema>;

export const cutover: Step = {
  command: 'cutover',
  forecast: async (context) => {
    await assertReady(context);
    const { sourceCollection, targetCollection } = context.run.plan;
    const live = liveCollectionOf(context.run);
    return {
      ...(live === targetCollection ? {} : { uploads: { from: targetCollection, to: live } }),
      setting: { from: sourceCollection, to: live },
    };
  },
  guard: assertReady,
  onEntering: ({ services }) => ({ switchedAt: services.clock().getTime() }),
  mayBeLate,
  work: async (turn) => {
    const { services, run, checkpoint, save, renew, note } = turn;
    const live = liveCollectionOf(run);
    let state = v.parse(stateSchema, checkpoint?.state ?? {});
    const keep = async (reached: Partial<State>) => {
      state = { ...state, ...reached };
      await save(state);
    };
    const uploads = { from: state.uploads, save: (uploads: Uploads) => keep({ uploads }) };
    const waitSeconds = await uploadSwap(turn, uploads);
    if (waitSeconds !== undefined) return waiting(waitSeconds);
    await renew();
    await services.setting.change({ from: run.plan.sourceCollection, to: live });
    if (!state.isDeployed) {
      if (!(await isDoneOutside(turn, 'deploy-new', live))) return waiting();
      await keep({ isDeployed: true });
    }
    if (!state.isProved) {
      await prove(turn);
      await keep({ isProved: true });
    }
    await note({ openedAt: run.openedAt ?? services.clock().getTime() });
    if (!(await isDoneOutside(turn, 'open-writes', live))) return waiting();
    return await goLive(turn);
  },
};

async function prove(turn: Turn): Promise<void> {
  const { services, run, renew } = turn;
  const collections = liveCollectionsOf(run);
  const [live] = collections;
  await removeWarmUp(turn, collections);
  await proveEmbeddings(turn, { backend: services.backend, known: live, collection: live });
  await removeWarmUp(turn, collections);
  await smokeTest(services, run, renew);
  await removeWarmUp(turn, collections);
  await assertCountsEqual(services, run, await scanCollection(services, run, live));
}

// By itself the window is gone back from. Where that would cost users their writes, or leads nowhere, a person may
// finish what has begun: a service that stands still has to have an exit.
async function mayBeLate({ services, run, input }: StepContext): Promise<boolean> {
  if (input.actor !== 'operator' || run.phase !== 'switching') return false;
  return run.openedAt !== undefined || !(await hasWayBack(services, run));
}

/** Plan, report, backup and counts are of one and the same state, and it is that of now. @throws Refusal */
async function assertReady({ services, run }: StepContext): Promise<void> {
  const active = await services.setting.read();
  if (active !== run.plan.sourceCollection) throw changedSetting(active);
  const verified = verifiedFingerprint(run);
  const source = await scanCollection(services, run, run.plan.sourceCollection);
  if (source.contents.digest !== verified) {
    const why = `${run.plan.sourceCollection} is not what was verified.`;
    throw new Refusal('RefusedSourceChanged', why);
  }
  if (run.evidence['backup-manifest']?.facts.fingerprint !== verified) {
    throw new Refusal('RefusedSourceChanged', 'The backup is not of what was verified.');
  }
  const { targetCollection } = run.plan;
  const target = await scanCollection(services, run, targetCollection);
  await assertCountsEqual(services, run, target);
  if (target.contents.digest !== verified) {
    const why = `${targetCollection} is not what was verified any more.`;
    throw new Refusal('RefusedVerification', why);
  }
  await assertNamesFree({ services, run });
}
