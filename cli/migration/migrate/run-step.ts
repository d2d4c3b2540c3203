// Repeats one step of a migration until it is done. Waits for the lock, for services and for people, and shows the progress.
import { setTimeout } from 'node:timers/promises';
import * as v from 'valibot';
import {
  isLockHeld,
  isRefusal,
  isRetryableFailure,
  recoverWith,
} from '../../../lib/migration/refusals.ts';
import { FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS } from '../../../lib/migration/runs/times.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { firstLine } from '../../../lib/shared/user-error.ts';
import type { FunctionName } from './commands.ts';
import { fetchStatus, type Invoker, type Payload, UNKNOWN_RUN } from './invoker.ts';
import { listNextSteps } from './next-steps.ts';
import type { Output } from './output.ts';
import { findPendingAction } from './pending-action.ts';
import { formatDuration, formatProgress, formatTimeLeft } from './text.ts';

export interface Session {
  readonly invoker: Invoker;
  readonly output: Output;
  /** Aborted by Ctrl-C */
  readonly signal: AbortSignal;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Waits until the next poll is due. @returns false if `ended` aborts first: then there is no next poll */
  readonly nextPoll: (milliseconds: number, ended: AbortSignal) => Promise<boolean>;
  /** The run's id and last known status, in case the table stops responding, and the failure that was shown last */
  readonly lastSeen: { runId?: string; status?: Status | undefined; failure?: string };
}

/** The command ends instead of waiting longer: such a wait is for a date, not for a service. */
const MAX_WAIT_SECONDS = 60;
/** Longer than the lease of a lock that a crashed step still holds */
const LOCK_TIMEOUT_MS = 130_000;
const LOCK_RETRY_MS = 5_000;
const LIVE_POLL_MS = 1_000;
const LOG_POLL_MS = 10_000;

const waitingSchema = v.object({
  done: v.literal(false),
  waitSeconds: v.number(),
  waitsFor: v.optional(v.string(), 'a service'),
  /** Time left until the wait ends, if known */
  leftSeconds: v.optional(v.number()),
});

export function createSession(parts: Pick<Session, 'invoker' | 'output' | 'signal'>): Session {
  return {
    ...parts,
    now: Date.now,
    sleep: (milliseconds) => setTimeout(milliseconds, undefined, { signal: parts.signal }),
    nextPoll: (milliseconds, signal) =>
      setTimeout(milliseconds, true, { signal, ref: false }).catch(() => false),
    lastSeen: {},
  };
}

/** Reads the named run, or the current one. @throws the error of the function */
export async function readStatus({ invoker, lastSeen }: Session, runId?: string): Promise<Status> {
  const status = await fetchStatus(invoker, runId);
  lastSeen.status = status;
  return status;
}

/**
 * Finds the named run, or the current one. If a source is given, and the current run has ended or does not exist, returns the id
 * of a new run, named after the date, without a status.
 * @throws Refusal if there is no such run
 */
export async function findRun(
  session: Session,
  { runId, sourceCollection }: Payload,
  mayBeMissing = sourceCollection !== undefined,
): Promise<{ readonly runId: string; readonly status?: Status }> {
  const requestedId = runId === undefined ? undefined : String(runId);
  const isExpected = (error: unknown) => mayBeMissing && isRefusal(error, UNKNOWN_RUN);
  const status = await readStatus(session, requestedId).catch(recoverWith(undefined, isExpected));
  const beginsNewRun =
    sourceCollection !== undefined && requestedId === undefined && status?.endedAt !== null;
  const currentStatus = beginsNewRun ? undefined : status;
  const id =
    currentStatus?.runId ?? requestedId ?? new Date(session.now()).toISOString().slice(0, 10);
  session.lastSeen.runId = id;
  return currentStatus ? { runId: id, status: currentStatus } : { runId: id };
}

/**
 * Invokes a step until it is done or waits for a date.
 * @param onWaiting further work while the step waits, such as asking a person
 * @returns the last result of the step
 * @throws the error of the step
 */
export async function runStep(
  session: Session,
  name: FunctionName,
  payload: Payload,
  onWaiting: (status: Status) => Promise<void> = async () => {},
): Promise<unknown> {
  const { invoker, output, signal } = session;
  let shownAction: string | undefined;
  const showWait = createWaitOutput(session, name);
  const showStages = createStageOutput(session, name);
  for (;;) {
    const result = await retryWhileFrozen(session, { name, runId: payload.runId }, () =>
      retryWhileLocked(session, showWait, () =>
        withProgress(session, { name, payload, showStages }, () =>
          invoker.invoke(name, payload, signal),
        ),
      ),
    );
    const wait = v.safeParse(waitingSchema, result);
    if (!wait.success || wait.output.waitSeconds > MAX_WAIT_SECONDS) return result;
    const { waitSeconds, waitsFor, leftSeconds } = wait.output;
    const status = await tryReadStatus(session, payload);
    if (status) showStages(status);
    const pending = status && findPendingAction(status);
    if (status && pending && pending.toDo !== shownAction) {
      shownAction = pending.toDo;
      const next = listNextSteps(status, invoker.stage);
      const confirm = next.find(({ name }) => name === 'confirm');
      const text = `${formatWindowTime(session, status)}To do by hand: ${pending.toDo}\n  To confirm it from another terminal: ${confirm?.command}`;
      output.line(text, { event: 'action', step: name, ...pending }, next);
    }
    if (status) await onWaiting(status);
    if (waitSeconds === 0) continue;
    const awaited = pending ? 'the action above' : waitsFor;
    for (let elapsedSeconds = 0; elapsedSeconds < waitSeconds; elapsedSeconds += 1) {
      const remainingText =
        leftSeconds === undefined
          ? `checking again in ${waitSeconds - elapsedSeconds}s`
          : `${leftSeconds - elapsedSeconds}s left`;
      showWait(awaited, `for ${awaited}, ${remainingText}`, status);
      await session.sleep(Math.min(1, waitSeconds - elapsedSeconds) * 1_000);
    }
  }
}

type WaitOutput = (awaited: string, text: string, status?: Status) => void;

/** Shows a wait: in place at a terminal, otherwise as a line at the start and another every ten seconds. */
function createWaitOutput(session: Session, step: FunctionName): WaitOutput {
  const { output, now, invoker, lastSeen } = session;
  let lastWait = { kind: '', at: 0 };
  return (awaited, text, status = lastSeen.status) => {
    const line = `${formatWindowTime(session, status)}${capitalise(step)}: waiting ${text}`;
    if (output.isLive) return output.show(line);
    // A text that differs only in its numbers belongs to the same wait.
    const kind = awaited.replace(/[\d,]+/g, '');
    if (kind === lastWait.kind && now() - lastWait.at < LOG_POLL_MS) return;
    lastWait = { kind, at: now() };
    const next = status ? listNextSteps(status, invoker.stage) : [];
    output.line(line, { event: 'waiting', step, for: awaited }, next);
  };
}

/** Prints a line for each passed stage of a switch. */
function createStageOutput(session: Session, step: FunctionName): (status: Status) => void {
  const printedStages = new Set<string>();
  return (status) => {
    for (const stage of status.stages) {
      if (printedStages.has(stage)) continue;
      printedStages.add(stage);
      const text = stage.replaceAll('-', ' ');
      reportStep(session, status, { mark: 'done', step, text, event: 'stage', details: { stage } });
    }
  };
}

export function capitalise(name: string): string {
  return `${name[0]?.toUpperCase()}${name.slice(1)}`;
}

interface StepReport {
  readonly mark: Parameters<Session['output']['mark']>[0];
  readonly step: string;
  readonly text: string;
  /** Name of the event in the output for machines, and its fields beside the step */
  readonly event: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Prints a line about a step, with the time left in the window. */
export function reportStep(
  session: Session,
  status: Status,
  { mark, step, text, event, details }: StepReport,
): void {
  const { output, invoker } = session;
  output.line(
    `${formatWindowTime(session, status)}${output.mark(mark)} ${capitalise(step)}: ${text}`,
    { event, step, ...details },
    listNextSteps(status, invoker.stage),
  );
}

/** Formats the time left in the window, such as `[18:03 left] `. Empty for a rollback, which has no deadline. */
export function formatWindowTime(
  { now }: Pick<Session, 'now'>,
  status: Status | undefined,
): string {
  if (!status?.deadlineAt || status.endedAt || status.retention) return '';
  if (status.phase === 'switching-back') return '';
  return `[${formatTimeLeft(Date.parse(status.deadlineAt) - now())} left] `;
}

/**
 * Retries a transient failure while writes are frozen: in the window until its deadline, and in a rollback without a limit.
 * @throws the error of the work
 */
export async function retryWhileFrozen<Result>(
  session: Session,
  { name, runId }: { readonly name: string; readonly runId: unknown },
  work: () => Promise<Result>,
): Promise<Result> {
  const { signal, sleep, lastSeen } = session;
  for (
    let pauseSeconds = FIRST_RETRY_SECONDS;
    ;
    pauseSeconds = Math.min(MAX_RETRY_SECONDS, pauseSeconds * 2)
  ) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryableFailure(error)) throw error;
      signal.throwIfAborted();
      const status = (await tryReadStatus(session, { runId })) ?? lastSeen.status;
      const retryTime = status ? measureRetryTime(session, status) : 0;
      if (!status || retryTime <= 0) throw error;
      const milliseconds = Math.min(pauseSeconds * 1_000, retryTime);
      const { name: errorName, message } = error;
      const text = `${errorName}: ${message} Trying again in ${formatDuration(milliseconds)}.`;
      const details = { error: { name: errorName, message } };
      reportStep(session, status, { mark: 'warning', step: name, text, event: 'retry', details });
      await sleep(milliseconds);
    }
  }
}

function measureRetryTime({ now }: Session, { phase, deadlineAt }: Status): number {
  if (phase === 'switching-back') return Number.POSITIVE_INFINITY;
  if (!deadlineAt || phase !== 'switching') return 0;
  return Date.parse(deadlineAt) - now();
}

async function retryWhileLocked<Result>(
  { now, sleep }: Session,
  showWait: WaitOutput,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockHeld(error) || now() + LOCK_RETRY_MS > deadline) throw error;
      const text = `up to ${formatDuration(deadline - now())}: ${firstLine(error)}`;
      showWait('the lock', text);
      await sleep(LOCK_RETRY_MS);
    }
  }
}

/** Shows the progress that the status reports until the work has ended. */
async function withProgress<Result>(
  session: Session,
  {
    name,
    payload,
    showStages,
  }: {
    readonly name: FunctionName;
    readonly payload: Payload;
    readonly showStages: (status: Status) => void;
  },
  work: () => Promise<Result>,
): Promise<Result> {
  const workEnded = new AbortController();
  const pollMs = session.output.isLive ? LIVE_POLL_MS : LOG_POLL_MS;
  const pollProgress = async () => {
    while (await session.nextPoll(pollMs, workEnded.signal)) {
      const status = await tryReadStatus(session, payload);
      if (!status || workEnded.signal.aborted) continue;
      showStages(status);
      const { progress } = status;
      // Another step's progress is out of date.
      if (progress?.step !== name) continue;
      reportProgress(session, status, `${capitalise(name)}: ${formatProgress(name, progress)}`);
    }
  };
  const polling = payload.runId === undefined || name === 'status' ? undefined : pollProgress();
  try {
    return await work();
  } finally {
    workEnded.abort();
    await polling;
    session.output.clear();
  }
}

function reportProgress(session: Session, status: Status, text: string): void {
  const { output, invoker } = session;
  const line = `${formatWindowTime(session, status)}${text}`;
  if (output.isLive) output.show(line);
  else
    output.line(
      line,
      { event: 'progress', ...status.progress },
      listNextSteps(status, invoker.stage),
    );
}

// Ignores a failure to read the status: the step itself reports what is wrong with the services.
async function tryReadStatus(session: Session, { runId }: Payload) {
  return await readStatus(session, runId === undefined ? undefined : String(runId)).catch(
    () => undefined,
  );
}
