// Warns once a day that a rollback will soon be impossible: in the log, and to the webhook where there is one.

import { testUserOf } from '../ports/memory-backend.ts';
import { DAY_MS } from '../runs/durations.ts';
import type { Run } from '../runs/run.ts';
import type { StepContext } from '../runs/step.ts';
import type { Retention } from './retention-days.ts';

/** A day after the last one, however often it is called. */
export function isReminderDue({ remindedAt }: Run, now: Date): boolean {
  return remindedAt === undefined || now.getTime() - remindedAt >= DAY_MS;
}

// Noted last: killed in between, it tells twice rather than never.
export async function remind(context: StepContext, retention: Retention): Promise<void> {
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
async function tellOutside({ services, run }: StepContext, { daysLeft }: Retention): Promise<void> {
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
