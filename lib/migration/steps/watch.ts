// Does the work that a timer starts: rolls back a window after its deadline, even if the state machine failed, and ends rollback
// periods.
import * as v from 'valibot';
import type { LogEntry } from '../../shared/log.ts';
import { type DueWork, findDueWork } from '../next.ts';
import { isLockHeld, isRefusal } from '../refusals.ts';
import { advance } from '../runs/advance.ts';
import { translateFailure } from '../runs/failures.ts';
import { parseStepCall } from '../runs/input.ts';
import { phaseSince, type Run } from '../runs/run.ts';
import { type Invocation, type StepResult, toResult } from '../runs/run-step.ts';
import type { Step } from '../runs/step.ts';
import { retentionOf } from '../runs/times.ts';
import type { Services } from '../services.ts';
import { removeAborted } from './abort.ts';
import { isReminderDue, remind, retention } from './retention.ts';
import { rollback } from './rollback.ts';

/** True if the payload names a run, as the payload of a person does and that of a timer does not */
export function namesRun(payload: unknown): boolean {
  return v.is(v.looseObject({ runId: v.unknown() }), payload);
}

/**
 * @param timeLeftMs time left to the invoked function; unlimited by default
 * @returns undefined if no run has work due
 * @throws Refusal, RetryableUnavailable: the next watch tries again
 */
export async function keepWatch(
  services: Services,
  timeLeftMs = () => Number.POSITIVE_INFINITY,
): Promise<StepResult | undefined> {
  const { runs, clock } = services;
  let lastResult: StepResult | undefined;
  let firstFailure: { readonly failure: unknown } | undefined;
  const attempt = async (runId: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const failure = translateFailure(error);
      logUnfinishedWatch(services, { runId, failure, level: 'ERROR' });
      firstFailure ??= { failure };
    }
  };
  await attempt('unknown', async () => {
    for (const runId of await listRuns(services)) {
      await attempt(runId, async () => {
        const run = await runs.read(runId);
        const now = clock();
        const due = findDueWork(run, now);
        if (!due || (due.isDaily && !(await isReminderDue(services, run)))) return;
        try {
          if (due.work === 'remove') await removeAborted(services, run);
          if (due.work === 'remind') await remind(services, run, retentionOf(run, now));
          const step = STEPS[due.work];
          if (step) lastResult = await advance(step, services, { runId, timeLeftMs });
        } catch (failure) {
          if (!canWait(run, failure, clock())) throw failure;
          logUnfinishedWatch(services, { runId, failure, level: 'WARN' });
        }
      });
    }
  });
  if (firstFailure) throw firstFailure.failure;
  return lastResult;
}

/**
 * Ends the retention of the named run for an operator, who may also give the number of memories that users deleted.
 * @throws Refusal, RetryableFailure
 */
export async function endRetention(
  services: Services,
  { payload, ...invocation }: Invocation & { readonly payload: unknown },
): Promise<StepResult> {
  try {
    const call = parseStepCall('retention', payload);
    const run = await services.runs.read(call.runId);
    if (run.phase !== 'aborted' || call.isDryRun) {
      return await advance(retention, services, { ...call, ...invocation });
    }
    await removeAborted(services, run, call.intent);
    return toResult(run);
  } catch (error) {
    throw translateFailure(error);
  }
}

const STEPS: { readonly [Work in DueWork['work']]?: Step } = { rollback, retention };

// While users wait, no step takes longer than this. A lock held for longer means that a step hangs, or that a clock is fast.
const MAX_LATE_MS = 20 * 60_000;

/** True if another step or run has the lock, and that is no failure yet: a rollback may take longer than the watch's interval. */
function canWait(run: Run, failure: unknown, now: Date): boolean {
  const { phase, window } = run;
  const noUserWaits = phase === 'live' || phase === 'aborted';
  if (noUserWaits) return isLockHeld(failure) || isRefusal(failure, 'RefusedOtherRun');
  const since = phase === 'switching-back' ? phaseSince(run) : (window?.deadlineAt ?? 0);
  return isLockHeld(failure) && now.getTime() - since < MAX_LATE_MS;
}

// The run in progress comes first: users may be waiting for it.
async function listRuns({ lock }: Services): Promise<string[]> {
  const activeRun = await lock.activeRun();
  const retainedRuns = await lock.retainedRuns();
  return [...new Set([...(activeRun === undefined ? [] : [activeRun]), ...retainedRuns])];
}

interface UnfinishedWatch extends Pick<LogEntry, 'runId' | 'level'> {
  readonly failure: unknown;
}

// A timer ignores the result of an invocation.
function logUnfinishedWatch({ log }: Services, { runId, level, failure }: UnfinishedWatch): void {
  const { name, message: why } = failure instanceof Error ? failure : new Error(String(failure));
  const message =
    level === 'WARN'
      ? 'Another step or run has the lock; the next watch tries again'
      : 'The watch failed; the next one tries again';
  log({ level, message, runId, failure: name, why });
}
