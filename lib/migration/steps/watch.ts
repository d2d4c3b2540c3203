// What has to happen though nobody asks for it: a window that has closed is gone back from, whatever became of
// the state machine; and the days of the way back are counted.
import * as v from 'valibot';
import { IN_WINDOW, type Phase } from '../phases.ts';
import type { Run } from '../runs/run.ts';
import { type Step, type StepResult, takeStep } from '../runs/step.ts';
import { translateFailure } from '../runs/translate-failure.ts';
import type { Services } from '../services.ts';
import { isReminderDue } from './reminder.ts';
import { retention } from './retention.ts';
import { retentionOf } from './retention-days.ts';
import { rollback } from './rollback.ts';

/** A person names a run; a timer does not. */
export function namesARun(payload: unknown): boolean {
  return v.is(v.looseObject({ runId: v.unknown() }), payload);
}

/**
 * @param timeLeftMs of the function that is invoked; whoever is no function has time
 * @returns undefined when there is nothing to be done
 * @throws Refusal, RetryableFailure: the next watch tries again
 */
export async function keepWatch(
  services: Services,
  timeLeftMs = () => Number.POSITIVE_INFINITY,
): Promise<StepResult | undefined> {
  let runId: string | undefined;
  try {
    runId = await services.lock.activeRun();
    if (runId === undefined) return undefined;
    const step = dueStep(await services.runs.read(runId), services.clock());
    if (!step) return undefined;
    const payload = { runId, execute: true, actor: 'machine' };
    return await takeStep(step, services, { payload, timeLeftMs });
  } catch (error) {
    const failure = translateFailure(error);
    logFailedWatch(services, runId, failure);
    throw failure;
  }
}

// Nobody looks at what a timer gets for an answer.
function logFailedWatch({ log }: Services, runId: string | undefined, error: unknown): void {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  log({
    level: 'ERROR',
    message: 'The watch failed; the next one tries again',
    ...{ runId: runId ?? 'unknown', failure: name, why: message },
  });
}

function dueStep(run: Run, now: Date): Step | undefined {
  const { phase, deadlineAt } = run;
  const mayBeFrozen: readonly Phase[] = [...IN_WINDOW, 'returning'];
  const isClosed = deadlineAt !== undefined && now.getTime() >= deadlineAt;
  if (mayBeFrozen.includes(phase) && isClosed) return rollback;
  return isRetentionDue(run, now) ? retention : undefined;
}

function isRetentionDue(run: Run, now: Date): boolean {
  if (run.phase === 'irreversible') return isReminderDue(run, now);
  if (run.phase !== 'live') return false;
  const { isOver, isEnding } = retentionOf(run, now);
  return isOver || (isEnding && isReminderDue(run, now));
}
