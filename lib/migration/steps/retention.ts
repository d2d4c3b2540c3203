// Counts the days in which a rollback is possible. When they are over the run says so; never a day earlier.

import { Refusal } from '../refusals.ts';
import { DAY_MS } from '../runs/durations.ts';
import { backupsOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import { isReminderDue, remind } from './reminder.ts';
import { retentionOf } from './retention-days.ts';

export const retention: Step = {
  command: 'retention',
  mayBeLate: 'always',
  forecast: async ({ services, run }) => ({
    ...retentionOf(run, services.clock()),
    removes: run.plan.removesWhenOver ? run.plan.sourceCollection : null,
    removesBackups: run.plan.removesArtifactsWhenOver,
  }),
  work: async (context) => {
    const { services, run } = context;
    const now = services.clock();
    const found = retentionOf(run, now);
    if (found.isOver) {
      return run.phase === 'live'
        ? { done: true, changes: { remindedAt: undefined } }
        : await close(context);
    }
    if (found.isEnding && isReminderDue(run, now)) await remind(context, found);
    return { done: false, waitSeconds: DAY_MS / 1_000 };
  },
};

// Marked as irreversible by then: nobody relies on what is removed here.
async function close(context: StepContext): Promise<Outcome> {
  try {
    await removeWhatIsOver(context);
    return { done: true };
  } catch (error) {
    const failure = translateFailure(error);
    // Known by now: the watch need not find it out again every few minutes.
    if (failure instanceof Refusal)
      await context.note({ remindedAt: context.services.clock().getTime() });
    throw failure;
  }
}

// The backups go first: where one of them has to be kept for longer, the old collection stays as well.
async function removeWhatIsOver(context: StepContext): Promise<void> {
  const { services, run, renew } = context;
  const { removesWhenOver, removesArtifactsWhenOver } = run.plan;
  for (const prefix of removesArtifactsWhenOver ? backupsOf(run) : []) {
    await renew();
    await services.artifacts.deleteAll(prefix);
  }
  if (removesWhenOver) await removeOld(context);
}

// And what a return that was refused or called off has restored of it.
async function removeOld({ services, run, renew }: StepContext): Promise<void> {
  const active = await services.setting.read();
  const old = [run.plan.sourceCollection, restoredCollectionOf(run)];
  if (old.includes(active)) {
    throw new Refusal('RefusedSettingChanged', `The setting says ${active}, the old collection.`);
  }
  for (const name of old) {
    await renew();
    await services.vectors.deleteCollection(name);
  }
}
