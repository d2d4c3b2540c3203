// Lets a run advance by a step. All drivers call it: functions, the watch and the rehearsal. They have the intent of a person, or none:
// then the run takes the step only where no person has to decide. A step that fails while users wait begins the rollback.
import { MOVES } from '../moves.ts';
import { decideNext, moveFor } from '../next.ts';
import { type Command, PHASES } from '../phases.ts';
import { isRefusal, Refusal, RetryableFailure } from '../refusals.ts';
import type { Services } from '../services.ts';
import { rateLimited, realTime } from '../throttle.ts';
import { translateFailure } from './failures.ts';
import type { Order } from './input.ts';
import type { Run } from './run.ts';
import { type Invocation, runStep, type StepResult, toResult } from './run-step.ts';
import type { Step } from './step.ts';
import { isOpened } from './times.ts';

type Advancing = Order & Invocation;

/**
 * @throws Refusal with its reason: the run stays where it is, and before the step has begun nothing is changed;
 *   RetryableFailure, and the step goes on from there
 */
export async function advance(
  step: Step,
  services: Services,
  order: Advancing,
): Promise<StepResult> {
  try {
    const run = await services.runs.read(order.runId);
    const asking = { isWanted: order.intent !== undefined, now: services.clock() };
    if (!asking.isWanted && isBehind(step.command, run, asking.now)) return toResult(run);
    if (order.isDryRun) {
      moveFor(step.command, run, asking);
      return await forecast(step, services, { ...order, run });
    }
    await limitRate(step.command, services, { ...order, run });
    try {
      moveFor(step.command, run, asking);
      return await runStep(step, services, order);
    } catch (error) {
      return await beginRollback(step, services, { ...order, failure: translateFailure(error) });
    }
  } catch (error) {
    throw translateFailure(error);
  }
}

// A machine asks again when an answer was lost; what it asked for may have been done.
function isBehind(command: Command, run: Run, now: Date): boolean {
  const moves = MOVES.filter((move) => move.command === command);
  const leadsOn = moves.some(({ from, to }) => from.includes(run.phase) && to !== run.phase);
  const isReached = moves.some(({ to }) => PHASES.indexOf(run.phase) >= PHASES.indexOf(to));
  return isReached && !leadsOn && decideNext(run, now).command !== command;
}

type WithRun = Advancing & { readonly run: Run };

async function forecast(
  step: Step,
  services: Services,
  { intent: input = {}, run, interruption, time }: WithRun,
): Promise<StepResult> {
  const { runId } = run;
  await services.lock.assertCanTake(runId);
  const limited = rateLimited(
    services,
    { ...input, runId },
    time ?? (interruption && realTime(interruption)),
  );
  const found = (await step.forecast?.({ services: limited, input, run })) ?? {};
  return { runId, dryRun: true, forecast: found };
}

/** Before the lock, because the rate holds for a step that is at work already. A refused command changes no rate. */
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
 * Users wait, so a failure inside the window starts the step that leads back, and the record keeps the reason. Once users
 * may be on the new version, the step is repeated until the deadline instead; so are failures that may pass.
 * If the process is killed before the rollback starts, the step fails again, and then rolls back.
 * @throws the failure if another caller has to handle it; Refusal if the run has nothing to return to
 */
async function beginRollback(
  { rollsBackBy }: Step,
  services: Services,
  { failure, runId, intent: _, ...invocation }: Advancing & { readonly failure: unknown },
): Promise<StepResult> {
  const mayPass = failure instanceof RetryableFailure || isRefusal(failure, 'RefusedLockLost');
  if (!rollsBackBy || mayPass || invocation.interruption?.aborted) throw failure;
  const run = await services.runs.read(runId);
  if (run.phase !== 'switching' || isOpened(run, services.clock())) throw failure;
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const isRefused = error instanceof Refusal;
  const message = 'The switch failed: the run rolls back';
  const why = isRefused ? error.message : (error.stack ?? error.message);
  services.log({ level: 'WARN', message, runId, failure: error.name, why });
  const failed = isRefused ? error : new Refusal('RefusedDefect', `${error.name}: see the log.`);
  return await runStep(rollsBackBy, services, { ...invocation, runId, failed });
}
