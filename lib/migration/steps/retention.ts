// Counts the days in which a rollback is possible, and warns once a day in the last week. When they are over, removes what
// the plan removes, and closes the run; never a day earlier.
import { changedSetting } from '../ports/collection-setting.ts';
import { testUserOf } from '../ports/memory-backend.ts';
import { Refusal } from '../refusals.ts';
import { translateFailure } from '../runs/failures.ts';
import type { Run } from '../runs/run.ts';
import { backupsOf, liveCollectionOf, restoredCollectionOf } from '../runs/run-names.ts';
import type { Outcome, Step, StepContext } from '../runs/step.ts';
import { DAY_MS, type Retention, retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeCollections } from './clean-up.ts';

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
    if (found.isOver) return await close(context);
    if (found.isEnding && isReminderDue(run, now)) await remind(context, found);
    return { done: false, waitSeconds: DAY_MS / 1_000 };
  },
};

// Recorded before anything is removed: from then on a rollback is refused, whatever another machine's clock says.
async function close(context: StepContext): Promise<Outcome> {
  const { services, run, note } = context;
  const now = services.clock().getTime();
  if (run.overAt === undefined) await note({ overAt: now, remindedAt: undefined });
  try {
    await removeWhatIsOver(context);
    return { done: true };
  } catch (error) {
    const failure = translateFailure(error);
    // Known by now: the watch need not find it out again every few minutes.
    if (failure instanceof Refusal) await note({ remindedAt: now });
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

// And what a rollback that was refused or called off has restored of it.
async function removeOld(context: StepContext): Promise<void> {
  const { services, run } = context;
  const active = await services.setting.read();
  const old = [run.plan.sourceCollection, restoredCollectionOf(run)];
  if (old.includes(active)) throw changedSetting(active, liveCollectionOf(run));
  await removeCollections(context, old, { keepsOld: false });
}

/** A day after the last one, however often it is called. */
export function isReminderDue({ remindedAt }: Run, now: Date): boolean {
  return remindedAt === undefined || now.getTime() - remindedAt >= DAY_MS;
}

type Reminding = Pick<StepContext, 'services' | 'run' | 'note'>;

/** While another run has the lock: people are reminded all the same, and nothing else is done. */
export async function remindBeside(services: Services, runId: string): Promise<void> {
  const { runs, clock } = services;
  const run = await runs.read(runId);
  const found = retentionOf(run, clock());
  if (!found.isEnding || !isReminderDue(run, clock())) return;
  await remind({ services, run, note: (changes) => runs.noteBeside(runId, changes) }, found);
}

// Noted last: killed in between, it tells twice rather than never.
async function remind(context: Reminding, retention: Retention): Promise<void> {
  const { services, run, note } = context;
  const { until, daysLeft } = retention;
  const { removesWhenOver: removesOldCollection, removesArtifactsWhenOver: removesBackups } =
    run.plan;
  services.log({
    level: 'WARN',
    message: 'Rollback will soon be impossible: roll back before then, or not at all',
    runId: run.runId,
    ...{ until, daysLeft, removesOldCollection, removesBackups },
  });
  await tellOutside(context, retention);
  await note({ remindedAt: services.clock().getTime() });
}

// A webhook that knows no such action, or is away, must not keep the days from being counted.
async function tellOutside({ services, run }: Reminding, { daysLeft }: Retention): Promise<void> {
  const { runId, plan, retainUntil } = run;
  try {
    await services.hooks.ask({
      action: 'warn-of-end',
      ...{ runId, testUser: testUserOf(runId), deadlineAt: retainUntil },
      collection: plan.sourceCollection,
      occasion: `days-left-${daysLeft}`,
    });
  } catch (error) {
    const { name, message } = error as Error;
    services.log({
      level: 'WARN',
      message: 'The webhook was not warned that rollback will soon be impossible',
      ...{ runId, failure: name, why: message },
    });
  }
}
