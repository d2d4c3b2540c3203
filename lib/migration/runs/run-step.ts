// How a step runs under the lock of its run: is it allowed now, how far has it come; then its work, then its record.
import { isDeepStrictEqual } from 'node:util';
import { MOVES, type Move } from '../moves.ts';
import { findFailure, moveFor, whyReturn } from '../next.ts';
import type { Command, Evidence } from '../phases.ts';
import { Refusal } from '../refusals.ts';
import type { Services } from '../services.ts';
import { createBucket, createSlowdown, realTime, type Time, throttled } from '../throttle.ts';
import { translateFailure } from './failures.ts';
import type { Intent, Order } from './input.ts';
import { Paused, resume, type Waiting } from './journal.ts';
import { enterPhase, type Run, retainedAs, toRefused, windowOf } from './run.ts';
import type { Lease } from './run-lock.ts';
import type { Approach, Forecast, Outcome, Step, StepRequest, Working } from './step.ts';
import { assertNotClosing, createRating, createStopwatch, isOpened } from './times.ts';

export type StepResult =
  | { readonly runId: string; readonly dryRun: true; readonly forecast: Forecast }
  | {
      readonly runId: string;
      readonly dryRun: false;
      readonly phase: Run['phase'];
      readonly done: boolean;
      readonly waitSeconds: number;
      readonly waitsFor?: string;
      /** Why the run rolls back. */
      readonly refused?: Run['refused'];
    };

/** An invocation of a function, or of a step in a process of its own */
export interface Invocation {
  readonly timeLeftMs: () => number;
  /** Stops the step before its next change, and releases its lock at once. */
  readonly interruption?: AbortSignal | undefined;
  /** In which points are read; real by default. */
  readonly time?: Time | undefined;
}

interface StepOptions extends Invocation, Pick<Order, 'runId' | 'intent'> {
  /** Why the window fails: the step that leads back only begins. */
  readonly failed?: Refusal | undefined;
}

/** Takes the step as far as it comes, or begins it, under the lock of the run. @throws Refusal, RetryableFailure */
export async function runStep(
  step: Step,
  services: Services,
  options: StepOptions,
): Promise<StepResult> {
  const { runId, intent, timeLeftMs, interruption, failed } = options;
  const { lock } = services;
  const lease = await lock.take(runId);
  const ended = new AbortController();
  try {
    // The run may have moved on before its lock was ours.
    const found = await services.runs.read(runId);
    const isWanted = intent !== undefined;
    const context = { services, input: intent ?? {}, run: found };
    const assertMayGoOn = step.endsWithWindow ? assertNotClosing(found, services.clock) : () => {};
    return await lock.keep(lease, assertMayGoOn, (overdue) => {
      const signal = interruption ? AbortSignal.any([overdue, interruption]) : overdue;
      // Aborts reads whose results are no longer needed.
      const { time = realTime(AbortSignal.any([signal, ended.signal])) } = options;
      return runLocked(step, { ...context, lease, signal }, { isWanted, timeLeftMs, time, failed });
    });
  } finally {
    ended.abort();
    await releaseLock(services, lease);
  }
}

// The result of the step counts, also where its lock cannot be released: the lock expires by itself.
async function releaseLock({ runs, lock, log }: Services, lease: Lease): Promise<void> {
  try {
    await lock.release(lease, retainedAs(await runs.read(lease.runId)));
  } catch (error) {
    const message = 'The lock could not be released: it expires by itself';
    log({ level: 'WARN', message, runId: lease.runId, why: String(error) });
  }
}

interface LockedOptions extends Pick<StepOptions, 'timeLeftMs' | 'failed'> {
  readonly isWanted: boolean;
  readonly time: Time;
}

async function runLocked(
  step: Step,
  context: StepRequest & Pick<Working, 'lease' | 'signal'>,
  { isWanted, timeLeftMs, time, failed }: LockedOptions,
): Promise<StepResult> {
  const { services, input, run: found, lease, signal } = context;
  const { runs, lock } = services;
  const move = moveFor(step.command, found, { isWanted, now: services.clock() });
  if (move.approves) assertApproved(found, move.approves, input);
  // Evidence stays what it is until the step has finished.
  const inputs = findBasis(step.command, found);
  const rated = createRating(services.clock);
  const stopwatch = createStopwatch(services.clock);
  const bucket = createBucket(() => runs.maxRate(found.runId), time);
  const throttledServices = (afterAnswer?: (milliseconds: number) => Promise<void>) => {
    const vectors = throttled(services.vectors, bucket, { now: time.now, afterAnswer });
    return { ...services, vectors };
  };
  const approach: Approach = {
    ...context,
    services: throttledServices(),
    renew: async () => {
      signal.throwIfAborted();
      await lock.renew(lease);
    },
    keep: async (state, progress) => {
      signal.throwIfAborted();
      const workedMs = stopwatch.milliseconds();
      await runs.saveCheckpoint(lease, step.command, {
        state,
        inputs,
        workedMs,
        ...rated(progress),
      });
    },
  };
  if (failed) return await fail(step, approach, { move, failed });
  let run = await enter(step, { ...approach, run: await acceptMore(approach) }, move);
  const saved = await runs.readCheckpoint(run.runId, step.command);
  const checkpoint = isDeepStrictEqual(saved?.inputs, inputs) ? saved : undefined;
  if (checkpoint) stopwatch.goOn(checkpoint);
  const note: Working['note'] = async (changes) => {
    signal.throwIfAborted();
    run = { ...run, ...changes };
    await runs.write(lease, run);
  };
  const working: Working = {
    ...approach,
    services: throttledServices(describeSlowdown(step.command, { run, note }, time)),
    // Returns the present record, including the latest notes.
    get run() {
      return run;
    },
    note,
    workedMs: stopwatch.milliseconds,
    hasTime: () => !signal.aborted && timeLeftMs() > SAVING_TIME_MS,
  };
  const { keep } = approach;
  const work = step.work(resume(working, { cursor: checkpoint?.state, keep }));
  const outcome = await work.catch(async (cause: unknown) => {
    if (cause instanceof Paused) return cause;
    const failure = translateFailure(cause);
    // No rollback begins that would tell why.
    const isRepeated = run.phase === 'switching' && isOpened(run, services.clock());
    if (isRepeated && failure instanceof Refusal && !signal.aborted)
      await note({ refused: toRefused(failure) });
    throw failure;
  });
  if (outcome instanceof Paused) return toResult(run, outcome.waiting);
  const took = { ...run.took, ...outcome.took, [step.command]: stopwatch.milliseconds() / 1_000 };
  const finished = finishRun({ ...run, took }, move, outcome, services.clock());
  await runs.finish(lease, finished, step.command);
  if (outcome.refusal) throw outcome.refusal;
  return toResult(finished);
}

/** The switch does not pause by itself: that would cost the users' time. */
function describeSlowdown(
  command: Command,
  { run, note }: Pick<Working, 'run' | 'note'>,
  time: Time,
) {
  if (command !== 'copy') return undefined;
  const onBeginning = (answerMs: number) => note({ answerMs });
  return createSlowdown({ beginning: run.answerMs, onBeginning }, time);
}

// If one of these inputs was renewed, a step that had begun starts again: half of its work is for another collection.
// A switch begins with its phase, and renews evidence itself.
function findBasis(command: Command, { evidence }: Run): string[] {
  const needs = new Set(
    MOVES.filter((move) => move.command === command && !move.through).flatMap(({ needs }) => needs),
  );
  return [...needs].flatMap((need) => evidence[need]?.artifact ?? []);
}

// Time to end a batch and write a checkpoint before the function's own limit.
const SAVING_TIME_MS = 60_000;

/** The operator has seen the present report. */
function assertApproved({ evidence }: Run, kind: Evidence, { approvedDigest }: Intent): void {
  const report = evidence[kind];
  if (approvedDigest !== undefined && report?.digest.startsWith(approvedDigest)) return;
  const given = approvedDigest === undefined ? 'no digest was given' : `not ${approvedDigest}`;
  const why = `The ${kind} to approve has the digest ${report?.digest.slice(0, 12)}: ${given}.`;
  throw new Refusal('RefusedNotApproved', why);
}

async function acceptMore({ services, run, input, lease }: Approach): Promise<Run> {
  const accepts = [...new Set([...run.plan.accepts, ...(input.accepts ?? [])])];
  const { windowMinutes = run.plan.windowMinutes } = input;
  const plan = { ...run.plan, accepts, windowMinutes };
  if (isDeepStrictEqual(plan, run.plan)) return run;
  const accepting = { ...run, plan };
  await services.runs.write(lease, accepting);
  return accepting;
}

async function enter(step: Step, approach: Approach, move: Move): Promise<Run> {
  const { services, run, lease } = approach;
  if (move.through === undefined || run.phase === move.through) return run;
  await step.guard?.(approach).catch(async (error: unknown) => {
    if (!(error instanceof Refusal)) throw error;
    const refusal = explainFailure(error, findFailure(run));
    await services.runs.write(lease, { ...run, refused: toRefused(refusal) });
    throw refusal;
  });
  const now = services.clock();
  const refused = run.refused ?? whyReturn(run, now);
  const begun = enterPhase({ ...run, ...(refused && { refused }) }, move.through, now);
  const entered = { ...begun, ...step.onEntering?.(approach) };
  await services.runs.write(lease, entered);
  return entered;
}

/** Records that the window failed, and begins its rollback. If that is refused or killed, the record says what is to be done. */
async function fail(
  step: Step,
  approach: Approach,
  { move, failed }: { readonly move: Move; readonly failed: Refusal },
): Promise<StepResult> {
  const { services, run, lease } = approach;
  // A repeated step fails only for what the record says already.
  const known = findFailure(run);
  const note = { refused: known ?? toRefused(failed) };
  // Another invocation may have begun it.
  if (run.phase !== 'switching') return { ...toResult(run), ...note };
  const window = { ...windowOf(run), failed: note.refused };
  const failing = known ? run : { ...run, ...note, window };
  if (!known) await services.runs.write(lease, failing);
  return { ...toResult(await enter(step, { ...approach, run: failing }, move)), ...note };
}

/** If the run can return nowhere, its operator needs both causes. */
function explainFailure(refusal: Refusal, failed: Run['refused']): Refusal {
  if (!failed) return refusal;
  const { name, why, data } = refusal;
  const both = `${why} The rollback was to follow ${failed.name}: ${failed.why}`;
  return new Refusal(name, both, { data, cause: refusal });
}

function finishRun(run: Run, move: Move, outcome: Outcome, now: Date): Run {
  const { evidence, changes, phase = move.to } = outcome;
  const entered = enterPhase(run, phase, now);
  const more = move.yields && evidence ? { [move.yields]: evidence } : {};
  return {
    ...entered,
    ...changes,
    ...(outcome.refusal && { refused: toRefused(outcome.refusal) }),
    evidence: { ...entered.evidence, ...more },
  };
}

/** @param waiting undefined if the step is done */
export function toResult({ runId, phase }: Run, waiting?: Waiting): StepResult {
  const done = waiting === undefined;
  return { runId, dryRun: false, phase, done, ...(waiting ?? { waitSeconds: 0 }) };
}
