// Advances a run by one step. Everything that drives a run calls this: the functions, the watch and the rehearsal. A caller that
// acts for a person passes on the person's intent. Without an intent, the step runs only if no person has to decide. A step that
// fails while users wait begins the rollback.
import { MOVES } from '../moves.ts';
import { chooseMove, decideNext, isRepeated } from '../next.ts';
import { type Command, PHASES } from '../phases.ts';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import type { Services } from '../services.ts';
import { createRealTime, limitReads } from '../throttle.ts';
import { translateFailure } from './failures.ts';
import type { StepCall } from './input.ts';
import type { Run } from './run.ts';
import { type Invocation, runStep, type StepResult, toResult } from './run-step.ts';
import type { Step } from './step.ts';

type AdvanceCall = StepCall & Invocation;

/**
 * @throws Refusal if the run cannot take the step; a refusal before the step has begun changes nothing
 * @throws RetryableFailure if another call can continue the step from where it stopped
 */
export async function advance(
  step: Step,
  services: Services,
  call: AdvanceCall,
): Promise<StepResult> {
  try {
    const run = await services.runs.read(call.runId);
    const request = { isByPerson: call.intent !== undefined, now: services.clock() };
    if (!request.isByPerson && isAlreadyDone(step.command, run, request.now)) return toResult(run);
    if (call.isDryRun) {
      chooseMove(step.command, run, request);
      return await forecast(step, services, { ...call, run });
    }
    await limitRate(step.command, services, { ...call, run });
    try {
      chooseMove(step.command, run, request);
      return await runStep(step, services, call);
    } catch (error) {
      return await beginRollback(step, services, { ...call, failure: translateFailure(error) });
    }
  } catch (error) {
    throw translateFailure(error);
  }
}

// A machine repeats a call whose response was lost: the step may already be done.
function isAlreadyDone(command: Command, run: Run, now: Date): boolean {
  const moves = MOVES.filter((move) => move.command === command);
  const canAdvance = moves.some(({ from, to }) => from.includes(run.phase) && to !== run.phase);
  const hasReachedTarget = moves.some(({ to }) => PHASES.indexOf(run.phase) >= PHASES.indexOf(to));
  return hasReachedTarget && !canAdvance && decideNext(run, now).command !== command;
}

type WithRun = AdvanceCall & { readonly run: Run };

async function forecast(
  step: Step,
  services: Services,
  { intent: input = {}, run, interruption, time }: WithRun,
): Promise<StepResult> {
  const { runId } = run;
  await services.lock.assertCanTake(runId);
  const limitedServices = limitReads(
    services,
    { ...input, runId },
    time ?? (interruption && createRealTime(interruption)),
  );
  const accepted = { ...run.accepted, ...input };
  const result = (await step.forecast?.({ services: limitedServices, input: accepted, run })) ?? {};
  return { runId, dryRun: true, forecast: result };
}

/** Called before the lock is taken, because the rate also applies to a step in progress. A refused command does not change it. */
async function limitRate(
  command: Command,
  { runs, clock }: Services,
  { intent, run }: WithRun,
): Promise<void> {
  if (intent?.maxRate === undefined) return;
  const isAccepted = decideNext(run, clock()).moves.some((move) => move.command === command);
  if (isAccepted) await runs.limitRate(run.runId, intent.maxRate);
}

/**
 * Begins the rollback after a failure inside the window, because users wait; the run's record keeps the reason. After a
 * transient failure, or once users may be on the new version, the step is repeated until the deadline instead.
 * If the process is killed before the rollback begins, the repeated step fails again and then begins it.
 * @throws the failure itself if it begins no rollback; Refusal if the run has nothing to return to
 */
async function beginRollback(
  { rollbackStep }: Step,
  services: Services,
  { failure, runId, intent: _, ...invocation }: AdvanceCall & { readonly failure: unknown },
): Promise<StepResult> {
  const isTransient = failure instanceof RetryableFailure || isRefusal(failure, 'RefusedLockLost');
  if (!rollbackStep || isTransient || invocation.interruption?.aborted) throw failure;
  const run = await services.runs.read(runId);
  if (run.phase !== 'switching' || isRepeated(run, services.clock())) throw failure;
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const isRefused = error instanceof Refusal;
  const message = 'The switch failed: the run rolls back';
  const why = isRefused ? error.message : (error.stack ?? error.message);
  services.log({ level: 'WARN', message, runId, failure: error.name, why });
  const failed = isRefused ? error : new Refusal('RefusedDefect', `${error.name}: see the log.`);
  return await runStep(rollbackStep, services, { ...invocation, runId, failed });
}
