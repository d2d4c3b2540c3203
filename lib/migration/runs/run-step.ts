// Runs a step under the lock of its run: checks that the step is allowed, resumes it from its checkpoint, and records its result.
import { isDeepStrictEqual } from 'node:util';
import { MOVES, type Move } from '../moves.ts';
import { type AcceptedMove, chooseMove, hasReturned, isRepeated } from '../next.ts';
import { type Command, type Evidence, isBeforeWindow, isSwitching } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import {
  createBucket,
  createRealTime,
  createSlowdown,
  type Time,
  throttleStore,
} from '../throttle.ts';
import { translateFailure } from './failures.ts';
import type { Intent, StepCall } from './input.ts';
import { outOfTime, Paused, type Resumed, resume, type Waiting } from './journal.ts';
import {
  acceptLosses,
  enterPhase,
  findFailure,
  type Run,
  retainedAs,
  toStoredRefusal,
  windowOf,
} from './run.ts';
import type { Lease } from './run-lock.ts';
import type { Forecast, Outcome, Step, StepRequest, WorkContext } from './step.ts';
import { assertNotClosing, createSpeedMeter, createStopwatch } from './times.ts';

export type StepResult =
  | { readonly runId: string; readonly dryRun: true; readonly forecast: Forecast }
  | {
      readonly runId: string;
      readonly dryRun: false;
      readonly phase: Run['phase'];
      readonly done: boolean;
      readonly waitSeconds: number;
      readonly waitsFor?: string;
      /** True if the step waits for a person to carry out an action */
      readonly needsPerson: boolean;
      /** True if users are back on the old version */
      readonly hasReturned: boolean;
      /** Why the run rolls back */
      readonly refused?: Run['refused'];
    };

/** An invocation of a Lambda function, or of a step in the operator's process */
export interface Invocation {
  readonly timeLeftMs: () => number;
  /** Stops the step before its next change, and releases its lock immediately. */
  readonly interruption?: AbortSignal | undefined;
  /** Clock for the read limit; the real clock by default */
  readonly time?: Time | undefined;
}

interface StepOptions extends Invocation, Pick<StepCall, 'runId' | 'intent'> {
  /** Why the window failed; if present, the rollback step only begins, and the next invocation continues it. */
  readonly failed?: Refusal | undefined;
}

/** Runs the step as far as possible in this invocation. @throws Refusal, RetryableFailure */
export async function runStep(
  step: Step,
  services: Services,
  options: StepOptions,
): Promise<StepResult> {
  const { runId, intent, timeLeftMs, interruption, failed } = options;
  const { lock } = services;
  const lease = await lock.take(runId);
  const invocationEnd = new AbortController();
  try {
    // The run may have advanced before this invocation got the lock.
    const storedRun = await services.runs.read(runId);
    const isByPerson = intent !== undefined;
    const context = { services, input: intent ?? {}, run: storedRun };
    const assertInTime = step.endsWithWindow
      ? assertNotClosing(storedRun, services.clock)
      : () => {};
    return await lock.keepLease(lease, assertInTime, (leaseSignal) => {
      const signal = interruption ? AbortSignal.any([leaseSignal, interruption]) : leaseSignal;
      // Also ends the pauses of reads whose results are no longer needed.
      const { time = createRealTime(AbortSignal.any([signal, invocationEnd.signal])) } = options;
      return runLocked(
        step,
        { ...context, lease, signal },
        { isByPerson, timeLeftMs, time, failed },
      );
    });
  } finally {
    invocationEnd.abort();
    await releaseLock(services, lease);
  }
}

// A failure to release the lock must not hide the step's result: the lock expires by itself.
async function releaseLock({ runs, lock, log }: Services, lease: Lease): Promise<void> {
  try {
    await lock.release(lease, retainedAs(await runs.read(lease.runId)));
  } catch (error) {
    const message = 'The lock could not be released: it expires by itself';
    log({ level: 'WARN', message, runId: lease.runId, why: String(error) });
  }
}

interface LockedOptions extends Pick<StepOptions, 'timeLeftMs' | 'failed'> {
  readonly isByPerson: boolean;
  readonly time: Time;
}

async function runLocked(
  step: Step,
  context: StepRequest & Pick<WorkContext, 'lease' | 'signal'>,
  { isByPerson, timeLeftMs, time, failed }: LockedOptions,
): Promise<StepResult> {
  const { services, input, run: storedRun, lease, signal } = context;
  const { runs, lock } = services;
  const move = chooseMove(step.command, storedRun, { isByPerson, now: services.clock() });
  if (move.approves) assertApproved(storedRun, move.approves, input);
  // The evidence does not change until the step has finished.
  const inputs = listInputArtifacts(step.command, storedRun);
  const addSpeed = createSpeedMeter(services.clock);
  const stopwatch = createStopwatch(services.clock);
  const bucket = createBucket(() => runs.maxRate(storedRun.runId), time);
  const saveCursor: Resumed['saveCursor'] = async (state, progress) => {
    signal.throwIfAborted();
    const workedMs = stopwatch.milliseconds();
    const checkpoint = { state, inputs, workedMs, ...addSpeed(progress) };
    await runs.saveCheckpoint(lease, step.command, checkpoint);
  };
  const refused = failed && (findFailure(storedRun) ?? toStoredRefusal(failed));
  let run = refused
    ? recordFailure(storedRun, refused)
    : recordIntent(storedRun, { move, input, isByPerson });
  if (!isDeepStrictEqual(run, storedRun)) await runs.write(lease, run);
  const hasBegun = () => move.through === undefined || run.phase === move.through;
  // Another invocation may have begun the rollback.
  if (refused && hasBegun()) return toResult(run, { refused });
  const savedCheckpoint = await runs.readCheckpoint(run.runId, step.command);
  const checkpoint = isDeepStrictEqual(savedCheckpoint?.inputs, inputs)
    ? savedCheckpoint
    : undefined;
  if (checkpoint) stopwatch.resume(checkpoint);
  const updateRun: WorkContext['updateRun'] = async (changes) => {
    signal.throwIfAborted();
    run = { ...run, ...changes };
    await runs.write(lease, run);
  };
  const afterResponse = createCopySlowdown(step.command, { run, updateRun }, time);
  const vectors = throttleStore(services.vectors, bucket, { now: time.now, afterResponse });
  const workContext: WorkContext = {
    ...context,
    services: { ...services, vectors },
    renewLease: async () => {
      signal.throwIfAborted();
      await lock.renew(lease);
    },
    begin: async (prepare) => {
      if (hasBegun()) return;
      const prepared = await prepare();
      signal.throwIfAborted();
      // Drops what applied only to the previous phase, such as accepted losses.
      run = { ...enterNextPhase(run, { move, input, now: services.clock() }), ...prepared };
      await runs.write(lease, run);
      // The rollback of a failed window only begins here: the next invocation has its own time and permissions.
      if (refused) throw outOfTime();
    },
    // Returns the current record, including the latest updates.
    get run() {
      return run;
    },
    // Until the phase begins, the accepted losses in the record are those of the previous phase.
    get input() {
      return hasBegun() ? { ...run.accepted, ...input } : input;
    },
    updateRun,
    workedMs: stopwatch.milliseconds,
    hasTime: () => {
      signal.throwIfAborted();
      return timeLeftMs() > SAVING_TIME_MS;
    },
  };
  const work = step.work(resume(workContext, { cursor: checkpoint?.state, saveCursor }));
  const outcome = await work.catch(async (cause: unknown) => {
    if (cause instanceof Paused) return cause;
    const failure = hasBegun() ? translateFailure(cause) : explainFailure(cause, findFailure(run));
    // Without a rollback, nothing else records the reason.
    const mustRecordRefusal = !hasBegun() || isRepeated(run, services.clock());
    if (failure instanceof Refusal && !signal.aborted) {
      if (mustRecordRefusal) await updateRun({ refused: toStoredRefusal(failure) });
      if (run.accepted && isBeforeWindow(run.phase)) await updateRun({ accepted: undefined });
    }
    throw failure;
  });
  if (outcome instanceof Paused)
    return refused ? toResult(run, { refused }) : toResult(run, outcome.waiting);
  const took = { ...run.took, ...outcome.took, [step.command]: stopwatch.milliseconds() / 1_000 };
  const finished = finishRun({ ...run, took }, move, outcome, services.clock());
  await runs.finish(lease, finished, step.command);
  if (outcome.refusal) throw outcome.refusal;
  return toResult(finished);
}

/** Only a copy pauses when the store is slow: in a switch, users wait. */
function createCopySlowdown(
  command: Command,
  { run, updateRun }: Pick<WorkContext, 'run' | 'updateRun'>,
  time: Time,
) {
  if (command !== 'copy') return undefined;
  const onBaseline = (answerMs: number) => updateRun({ answerMs });
  return createSlowdown({ baselineMs: run.answerMs, onBaseline }, time);
}

// Lists the artifacts that the step builds on. If one of them is renewed, an unfinished step starts again: its work so far may be
// for another collection. For a switch the list is empty: the switch records its beginning as a phase, and renews evidence itself.
function listInputArtifacts(command: Command, { evidence }: Run): string[] {
  const needs = new Set(
    MOVES.filter((move) => move.command === command && !move.through).flatMap(({ needs }) => needs),
  );
  return [...needs].flatMap((need) => evidence[need]?.artifact ?? []);
}

// Time left for finishing a batch and saving a checkpoint before the function's own limit
const SAVING_TIME_MS = 60_000;

/** @throws Refusal unless the operator has approved the current report */
function assertApproved({ evidence }: Run, kind: Evidence, { approvedDigest }: Intent): void {
  const report = evidence[kind];
  if (approvedDigest !== undefined && report?.digest.startsWith(approvedDigest)) return;
  const mismatch = approvedDigest === undefined ? 'no digest was given' : `not ${approvedDigest}`;
  const why = `The ${kind} to approve has the digest ${report?.digest.slice(0, 12)}: ${mismatch}.`;
  throw new Refusal('RefusedNotApproved', why);
}

/**
 * Records what the operator decided. Accepted findings and the length of the window go into the plan. Losses accepted for a step
 * under way are kept beside the plan, because the state machine may continue the step. Before a window they apply until the step is
 * done or refused, or until an operator calls a step.
 */
function recordIntent(
  storedRun: Run,
  {
    move,
    input,
    isByPerson,
  }: { readonly move: Move; readonly input: Intent; readonly isByPerson: boolean },
): Run {
  const { phase } = storedRun;
  const { accepted: _, ...unaccepted } = storedRun;
  const run = isByPerson && isBeforeWindow(phase) ? unaccepted : storedRun;
  const accepts = [...new Set([...run.plan.accepts, ...(input.accepts ?? [])])];
  const { windowMinutes = run.plan.windowMinutes } = input;
  const planned = { ...run, plan: { ...run.plan, accepts, windowMinutes } };
  const continues = move.through === undefined && (isBeforeWindow(phase) || isSwitching(phase));
  return continues ? acceptLosses(planned, input) : planned;
}

/** Records that the window failed, before its rollback begins: if the rollback is refused or killed, the record says why. */
function recordFailure(run: Run, refused: NonNullable<Run['refused']>): Run {
  // If the failure is recorded already, the repeated step only failed because of that record.
  if (run.phase !== 'switching' || findFailure(run)) return run;
  return { ...run, refused, window: { ...windowOf(run), failed: refused } };
}

function enterNextPhase(
  run: Run,
  { move, input, now }: { readonly move: AcceptedMove; readonly input: Intent; readonly now: Date },
): Run {
  const refused = run.refused ?? move.because;
  const entered = enterPhase(
    { ...run, ...(refused && { refused }) },
    move.through ?? run.phase,
    now,
  );
  return acceptLosses(entered, input);
}

/** Adds the failure that caused the rollback to a refusal of the rollback itself: the operator needs both reasons. */
function explainFailure(cause: unknown, failed: Run['refused']): unknown {
  const failure = translateFailure(cause);
  if (!failed || !(failure instanceof Refusal)) return failure;
  const { name, why, data } = failure;
  const bothReasons = `${why} The run was rolling back after ${failed.name}: ${failed.why}`;
  return new Refusal(name, bothReasons, { data, cause: failure });
}

function finishRun(run: Run, move: Move, outcome: Outcome, now: Date): Run {
  const { evidence, changes, phase = move.to } = outcome;
  const entered = enterPhase(run, phase, now);
  const added = move.yields && evidence ? { [move.yields]: evidence } : {};
  return {
    ...entered,
    ...changes,
    ...(outcome.refusal && { refused: toStoredRefusal(outcome.refusal) }),
    evidence: { ...entered.evidence, ...added },
  };
}

/** @param details how long to wait if the step is not done, or why the run rolls back */
export function toResult(
  run: Run,
  details: Waiting | { readonly refused?: Run['refused'] } = {},
): StepResult {
  const { runId, phase } = run;
  const done = !('waitSeconds' in details);
  return {
    ...{ runId, dryRun: false, phase, done, waitSeconds: 0, needsPerson: false },
    hasReturned: done && hasReturned(run),
    ...details,
  };
}
