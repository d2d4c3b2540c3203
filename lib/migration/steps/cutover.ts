// The short step: the setting, the new version, the smoke test, the counts; then writes are opened.
import * as v from 'valibot';
import { changedSetting } from '../ports/collection-setting.ts';
import { fingerprintOf } from '../proof/fingerprint.ts';
import { assertCountsEqual } from '../proof/user-comparison.ts';
import { Refusal } from '../refusals.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { isDoneOutside } from './ask-outside.ts';
import { goLive } from './go-live.ts';
import { removeWarmUp } from './rebuild.ts';
import { smokeTest } from './smoke-test.ts';
import { verifiedFingerprint } from './verify-step.ts';
import { hasWayBack } from './way-back.ts';

const stateSchema = v.object({
  isDeployed: v.optional(v.boolean(), false),
  isProved: v.optional(v.boolean(), false),
});

const POLL_SECONDS = 5;

export const cutover: Step = {
  command: 'cutover',
  forecast: async (context) => {
    await assertReady(context);
    const { sourceCollection, targetCollection } = context.run.plan;
    return { setting: { from: sourceCollection, to: targetCollection } };
  },
  guard: assertReady,
  onEntering: ({ services }) => ({ switchedAt: services.clock().getTime() }),
  mayBeLate,
  work: async (turn) => {
    const { services, run, checkpoint, save, renew, note } = turn;
    const { sourceCollection, targetCollection } = run.plan;
    const state = v.parse(stateSchema, checkpoint?.state ?? {});
    await renew();
    await services.setting.change({ from: sourceCollection, to: targetCollection });
    if (!state.isDeployed) {
      if (!(await isDoneOutside(turn, 'deploy-new', targetCollection))) return waiting();
      await save({ isDeployed: true });
    }
    if (!state.isProved) {
      await removeWarmUp(services, run, renew);
      await smokeTest(services, run, renew);
      await removeWarmUp(services, run, renew);
      await assertCountsEqual(services, run);
      await save({ isDeployed: true, isProved: true });
    }
    await note({ openedAt: run.openedAt ?? services.clock().getTime() });
    if (!(await isDoneOutside(turn, 'open-writes', targetCollection))) return waiting();
    return await goLive(turn);
  },
};

// By itself the window is gone back from. Where that would cost users their writes, or leads nowhere, a person may
// finish what has begun: a service that stands still has to have an exit.
async function mayBeLate({ services, run, input }: StepContext): Promise<boolean> {
  if (input.actor !== 'operator' || run.phase !== 'switching') return false;
  return run.openedAt !== undefined || !(await hasWayBack(services, run));
}

function waiting(): Outcome {
  return { done: false, waitSeconds: POLL_SECONDS };
}

/** Plan, report, backup and counts are of one and the same state, and it is that of now. @throws Refusal */
async function assertReady({ services, run }: StepContext): Promise<void> {
  const active = await services.setting.read();
  if (active !== run.plan.sourceCollection) throw changedSetting(active);
  const verified = verifiedFingerprint(run);
  const { digest } = await fingerprintOf(services.vectors, run.plan.sourceCollection);
  if (digest !== verified) {
    const why = `${run.plan.sourceCollection} is not what was verified.`;
    throw new Refusal('RefusedSourceChanged', why);
  }
  if (run.evidence['backup-manifest']?.facts.fingerprint !== verified) {
    throw new Refusal('RefusedSourceChanged', 'The backup is not of what was verified.');
  }
  await assertCountsEqual(services, run);
}
