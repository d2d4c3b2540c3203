// `migrate run`: drives a migration from its plan to the new version, or continues it from its current phase.
import { assertFits } from '../../../lib/migration/forecast.ts';
import { isSwitching, type Phase } from '../../../lib/migration/phases.ts';
import {
  messageWithoutData,
  notNow,
  Refusal,
  RetryableFailure,
} from '../../../lib/migration/refusals.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import { POLL_SECONDS } from '../../../lib/migration/runs/times.ts';
import { assertSamePlan, type PreflightResult } from '../../../lib/migration/steps/preflight.ts';
import { assertMet } from '../../../lib/migration/steps/prerequisites.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { type Ask, confirmRun } from '../../prompt.ts';
import { buildApprovalRows } from './approval-text.ts';
import type { FunctionName } from './commands.ts';
import { createVersionError, FunctionFailedError, type Payload } from './invoker.ts';
import { DIGEST_DIGITS, describeUsers, formatNextSteps, listNextSteps } from './next-steps.ts';
import { EXIT, type ExitCode } from './output.ts';
import { findPendingAction } from './pending-action.ts';
import { formatChecklist, formatPlan, formatRollback } from './plan-text.ts';
import {
  capitalise,
  findRun,
  readStatus,
  reportStep,
  retryWhileFrozen,
  runStep,
  type Session,
} from './run-step.ts';
import { formatLeftBehind } from './status-text.ts';
import { formatConfirmation, formatCount, formatDuration, formatTime } from './text.ts';

export interface DriveOptions {
  readonly session: Session;
  readonly ask: Ask;
  /** The plan of a new run; for an existing run, its id and the options that can still change. */
  readonly payload: Payload;
  /** True if the window needs no further confirmation (`--yes`). */
  readonly isConfirmed: boolean;
  /** Name of the person who approves and confirms. */
  readonly person: string;
  /** Digest of the only report that may be approved, as the operator typed it. */
  readonly report?: string | undefined;
}

const FINAL_PHASES: readonly Phase[] = ['live', 'closed', 'aborted'];

const PROMPT_POLL_MS = 1_000;

/** Drives the run to its end. @throws Refusal, RetryableFailure or FunctionFailedError; the same command continues the run */
export async function drive(options: DriveOptions): Promise<ExitCode> {
  return await driveFrom(options, await findOrBegin(options));
}

/** Drives only the window. @throws Refusal if the run is not ready for the window; otherwise like `drive` */
export async function driveWindow(options: DriveOptions): Promise<ExitCode> {
  const { session, payload } = options;
  const status = await readCurrentStatus(session, String(payload.runId));
  const { phase, isLate, next } = status;
  if (phase !== 'copied' && phase !== 'switching') {
    throw notNow(`No cutover in a run that is ${phase}.`);
  }
  // After the deadline, a rollback is next, but the operator asked for the cutover: it finishes the window, or is refused.
  return await driveFrom(options, status, isLate ? 'cutover' : next);
}

/** @param firstStep the first step to take; by default, the one that the run needs */
async function driveFrom(
  options: DriveOptions,
  startStatus: Status,
  firstStep = startStatus.next,
): Promise<ExitCode> {
  const { session } = options;
  const { phase, takesNoWindow } = startStatus;
  if (phase === 'copied' && takesNoWindow) {
    throw notNow(`Cutover blocked: ${takesNoWindow}. "abort --execute" ends the run.`);
  }
  let status = startStatus;
  let step = firstStep;
  let hasReturned = false;
  while (!FINAL_PHASES.includes(status.phase) && step !== null && !hasReturned) {
    const oldStatus = status;
    status = await takeStep(options, oldStatus, step);
    // Ends after a rollback: another window is a new decision.
    hasReturned = status.hasReturned && !oldStatus.hasReturned;
    step = status.next;
  }
  if (FINAL_PHASES.includes(status.phase)) status = await runDueWork(options, status);
  reportEnd(session, status);
  return hasReturned ? EXIT.failed : EXIT.done;
}

/**
 * Does the work of the watch for every run: reminders, the end of the rollback period, removal after an abort. Then tries the
 * removal of this run again, because the watch retries a refused removal only once a day. Accepted deletions apply to this run
 * alone.
 */
async function runDueWork(
  { session, payload: { deletes } }: DriveOptions,
  oldStatus: Status,
): Promise<Status> {
  const { runId } = oldStatus;
  if (deletes === undefined || !mayHaveExpired(oldStatus)) await runStep(session, 'retention', {});
  const status = await readCurrentStatus(session, runId);
  if (!mayHaveExpired(status)) return status;
  const acceptedDeletes = deletes === undefined ? {} : { deletes };
  await runStep(session, 'retention', { runId, execute: true, ...acceptedDeletes });
  return await readCurrentStatus(session, runId);
}

/** True if the run may still have data whose retention period is over */
function mayHaveExpired({ phase, retention }: Status): boolean {
  return phase === 'aborted' || (phase === 'live' && retention?.isOver === true);
}

async function findOrBegin({ session, payload }: DriveOptions): Promise<Status> {
  const { invoker, output } = session;
  const { runId, status } = await findRun(session, payload);
  if (status) {
    assertSamePlan(status, payload);
    if (!FINAL_PHASES.includes(status.phase)) reportPlan(session, status);
    return status;
  }
  output.line(`Run ${runId}, ${invoker.where}`, { event: 'checking', runId });
  // `deletes` belongs to the steps, not to the plan.
  const { deletes: _, ...plan } = payload;
  await checkPrerequisites(session, { ...plan, runId, execute: true });
  const newStatus = await readCurrentStatus(session, runId);
  reportPlan(session, newStatus);
  return newStatus;
}

/**
 * Shows the checklist with all problems together, and begins the run if the payload says to execute.
 * @throws Refusal unless every prerequisite is met
 */
export async function checkPrerequisites(
  session: Session,
  payload: Payload,
): Promise<PreflightResult> {
  const { output, invoker, signal } = session;
  const result = (await runStep(session, 'preflight', payload)) as PreflightResult;
  // After Ctrl-C, the problems found may only be requests that were cut short.
  signal.throwIfAborted();
  const { prerequisites } = result;
  if (!Array.isArray(prerequisites)) throw createVersionError(invoker);
  const lines = ['Prerequisites:', ...formatChecklist(prerequisites, output)];
  output.line(lines.join('\n'), { event: 'prerequisites', prerequisites });
  assertMet(prerequisites);
  return result;
}

/** Fails if a step reports success but leaves the run in the same state: otherwise the step would be repeated forever. */
function assertProgress({ phase }: Status, step: FunctionName, newStatus: Status): void {
  // A copy after a window leaves the phase "copied", but changes `next`.
  if (newStatus.phase !== phase || newStatus.next !== step) return;
  throw new FunctionFailedError(
    `${capitalise(step)} reports that it is done, but the run is still ${phase}: this is a defect, or the functions and this command line are of different versions.`,
  );
}

async function takeStep(
  options: DriveOptions,
  status: Status,
  step: FunctionName,
): Promise<Status> {
  const { session } = options;
  const { now } = session;
  const { runId } = status;
  const approval = step === 'cutover' ? await approve(options, status) : {};
  const startedAt = now();
  try {
    const input = { ...buildInput(step, options, runId), ...approval };
    await runStep(session, step, input, (waitingStatus) => confirmAction(options, waitingStatus));
  } catch (error) {
    if (error instanceof RollbackRequested) {
      return await takeStep(options, await readCurrentStatus(session, runId), 'rollback');
    }
    if (!isStepFailure(error)) throw error;
    const newStatus = await readCurrentStatus(session, runId);
    if (error.name === 'RefusedNotNow' && isTakenOver(status, newStatus)) {
      reportTakenOver(session, newStatus, step);
      return newStatus;
    }
    if (newStatus.isRepeated && newStatus.next === step) {
      return await waitToRepeat(session, newStatus, { step, error });
    }
    if (step === 'rollback' || !isSwitching(newStatus.phase) || newStatus.next === step)
      throw error;
    reportFailure(session, newStatus, { step, error });
    return newStatus;
  }
  const newStatus = await readCurrentStatus(session, runId);
  assertProgress(status, step, newStatus);
  if (step === 'cutover' && newStatus.refused) {
    const { name, why } = newStatus.refused;
    reportFailure(session, newStatus, { step, error: new Refusal(name, why) });
    return newStatus;
  }
  const text = `done in ${formatDuration(now() - startedAt)}`;
  const details = { phase: newStatus.phase, seconds: (now() - startedAt) / 1_000 };
  reportStep(session, newStatus, { mark: 'done', step, text, event: 'step', details });
  return newStatus;
}

/**
 * Waits before a failed step is repeated, until the deadline, because traffic may already be open. The same failure is shown
 * only once.
 */
async function waitToRepeat(
  session: Session,
  newStatus: Status,
  { step, error }: { readonly step: FunctionName; readonly error: Error },
): Promise<Status> {
  const { signal, sleep, lastSeen } = session;
  signal.throwIfAborted();
  const { name } = error;
  const message = messageWithoutData(error);
  if (message !== lastSeen.failure) {
    const text = `${name}: ${message} Trying again every ${POLL_SECONDS}s until the deadline.`;
    const details = { error: { name, message } };
    reportStep(session, newStatus, { mark: 'warning', step, text, event: 'retry', details });
  }
  lastSeen.failure = message;
  await sleep(POLL_SECONDS * 1_000);
  return await readCurrentStatus(session, newStatus.runId);
}

/** True if the state machine or another operator has continued the run. */
function isTakenOver(oldStatus: Status, newStatus: Status): boolean {
  return newStatus.phase !== oldStatus.phase || (newStatus.hasReturned && !oldStatus.hasReturned);
}

function reportTakenOver(session: Session, newStatus: Status, step: FunctionName): void {
  const { phase, hasReturned } = newStatus;
  const outcome = hasReturned
    ? 'has rolled the run back'
    : phase === 'switching-back'
      ? 'is rolling the run back'
      : `has taken over: the run is ${phase}`;
  const text = `another command ${outcome}.`;
  const details = { phase };
  reportStep(session, newStatus, { mark: 'warning', step, text, event: 'taken-over', details });
}

/** Reports a failure after which the run continues with a rollback. */
function reportFailure(
  session: Session,
  newStatus: Status,
  { step, error }: { readonly step: FunctionName; readonly error: Error },
): void {
  const { name } = error;
  const message = messageWithoutData(error);
  const details = { error: { name, message } };
  const text = `${name}: ${message}`;
  reportStep(session, newStatus, { mark: 'failed', step, text, event: 'failed', details });
}

function buildInput(step: FunctionName, { payload }: DriveOptions, runId: string): Payload {
  const { accepts, deletes, maxRate } = payload;
  const removesPoints = step === 'rebuild' || step === 'copy' || step === 'cutover';
  return {
    ...(step === 'copy' && accepts !== undefined && { accepts }),
    ...(removesPoints && deletes !== undefined && { deletes }),
    ...(maxRate !== undefined && { maxRate }),
    runId,
    execute: true,
  };
}

/** True for a failure of the step; false for an interruption, and for a defect of this program */
function isStepFailure(error: unknown): error is Error {
  return [Refusal, RetryableFailure, FunctionFailedError].some(
    (errorClass) => error instanceof errorClass,
  );
}

/**
 * Asks a question. The question is withdrawn at the deadline of the window, or when it is obsolete.
 * @param whyObsolete returns why the question is obsolete; undefined as long as the question still applies
 * @returns the answer; undefined if no person can be asked, or if the question was withdrawn
 */
async function askInWindow(
  { session, ask }: DriveOptions,
  status: Status,
  question: string,
  whyObsolete: () => Promise<string | undefined> = async () => undefined,
): Promise<string | undefined> {
  const { output, invoker, now, nextPoll } = session;
  const { phase, deadlineAt } = status;
  const windowEndsAt = deadlineAt && phase === 'switching' ? deadlineAt : undefined;
  const isPastDeadline = () => windowEndsAt !== undefined && now() >= Date.parse(windowEndsAt);
  const questionCancelled = new AbortController();
  const questionEnded = new AbortController();
  let endReason: string | undefined;
  const withdrawWhenObsolete = async () => {
    while (endReason === undefined && (await nextPoll(PROMPT_POLL_MS, questionEnded.signal))) {
      endReason = isPastDeadline()
        ? 'The deadline has passed: the rollback begins.'
        : await whyObsolete();
    }
    questionCancelled.abort();
  };
  const polling = withdrawWhenObsolete();
  try {
    const rollbackHint = windowEndsAt ? ` (automatic rollback at ${formatTime(windowEndsAt)})` : '';
    return await ask(`${question}${rollbackHint}: `, questionCancelled.signal);
  } finally {
    questionEnded.abort();
    await polling;
    if (endReason !== undefined)
      output.line(
        endReason,
        { event: 'settled', why: endReason },
        listNextSteps(status, invoker.stage),
      );
  }
}

/**
 * Shows the report and asks for approval, unless the window is open already.
 * @returns the approval as input for the step that opens the window
 * @throws Refusal if the operator named another report
 */
async function approve(options: DriveOptions, status: Status): Promise<Payload> {
  const { session, ask, isConfirmed, person, report, payload } = options;
  if (!status.approval) {
    assertSameWindow(status, options);
    return {};
  }
  const { digest, forecast } = status.approval;
  const shortDigest = digest?.slice(0, DIGEST_DIGITS);
  if (report !== undefined && !digest?.startsWith(report)) {
    throw new Refusal(
      'RefusedNotApproved',
      `The report to approve is ${shortDigest}, not ${report}.`,
    );
  }
  const { windowMinutes = status.plan.windowMinutes } = payload as { windowMinutes?: number };
  const minutes = formatCount(windowMinutes, 'minute');
  const rows = buildApprovalRows(status, windowMinutes);
  const lines = rows.map(([name, text]) => `  ${name.padEnd(12)} ${text}`);
  session.output.line(lines.join('\n'), { event: 'approval', report: shortDigest, forecast });
  if (forecast) assertFits(forecast, windowMinutes);
  const action = `Stop writes for up to ${minutes} and switch to ${liveCollectionOf(status)} (report ${shortDigest})`;
  if (!isConfirmed) await confirmRun(ask, { runId: status.runId, action });
  const approver = `${person}${isConfirmed ? ' with --yes' : ''}`;
  session.output.line(formatConfirmation(approver, action), {
    event: 'approved',
    by: person,
    report: shortDigest,
  });
  const approvedDigest = report ?? digest;
  return {
    approvedBy: person,
    ...(approvedDigest ? { approvedDigest } : {}),
    ...(payload.windowMinutes !== undefined && { windowMinutes }),
  };
}

/** @throws Refusal if the operator gave a report or a length that differs from that of the open window */
function assertSameWindow(status: Status, { report, payload }: DriveOptions): void {
  const { approvedReport: approved, deadlineAt, plan } = status;
  // A window that an earlier release opened has no recorded report.
  if (report !== undefined && approved && !approved.startsWith(report)) {
    const why = `The window was opened with the report ${approved.slice(0, DIGEST_DIGITS)}, not ${report}.`;
    throw new Refusal('RefusedNotApproved', why);
  }
  const { windowMinutes = plan.windowMinutes } = payload;
  if (deadlineAt === null || windowMinutes === plan.windowMinutes) return;
  const why = `The window is open until ${formatTime(deadlineAt)}, and its length can no longer change: leave out --window-minutes.`;
  throw new Refusal('RefusedSetting', why);
}

/** Thrown when a person who is asked to confirm an action answers "rollback" instead */
class RollbackRequested extends Error {
  override readonly name = 'RollbackRequested';
}

async function confirmAction(options: DriveOptions, status: Status): Promise<void> {
  const { session, person } = options;
  const { runId } = status;
  const pending = findPendingAction(status);
  if (!pending) return;
  const whyObsolete = async () => {
    const current = await readStatus(session, runId).catch(() => undefined);
    if (!current || findPendingAction(current)?.since === pending.since) return undefined;
    const by = current.pendingAction?.confirmedBy;
    return by ? `Confirmed by ${by}.` : `Nothing is left to do: the run is ${current.phase}.`;
  };
  const canRollBack = status.phase === 'switching';
  const question = `Press Enter when this is done${canRollBack ? ', or type "rollback"' : ''}`;
  for (;;) {
    const answer = await askInWindow(options, status, question, whyObsolete);
    if (answer === undefined) return;
    if (answer === 'rollback' && canRollBack) throw new RollbackRequested();
    if (answer === '') break;
  }
  const { action } = pending;
  const confirmation = { runId, action, confirmedBy: person };
  await retryWhileFrozen(session, { name: 'confirm', runId }, () =>
    session.invoker.invoke('confirm', confirmation),
  );
  const text = formatConfirmation(person, `"${action}" of run ${runId} is done`);
  session.output.line(text, { event: 'confirmed', ...confirmation });
}

async function readCurrentStatus(session: Session, runId: string): Promise<Status> {
  return await retryWhileFrozen(session, { name: 'status', runId }, () =>
    readStatus(session, runId),
  );
}

function reportPlan({ output, invoker }: Session, status: Status): void {
  const { runId, plan, phase, next } = status;
  const lines =
    next === 'rollback'
      ? [`Rollback of run ${runId} (${phase}), ${invoker.where}:`, ...formatRollback(plan)]
      : [`Plan of run ${runId} (${phase}), ${invoker.where}:`, ...formatPlan(plan)];
  output.line(
    lines.join('\n'),
    { event: 'plan', runId, phase, plan },
    listNextSteps(status, invoker.stage),
  );
}

function reportEnd({ output, invoker }: Session, status: Status): void {
  const { runId, phase, plan, retention } = status;
  const next = listNextSteps(status, invoker.stage);
  const isLive = phase === 'live';
  const text = [
    output.bold(`The run is ${phase}. ${describeUsers(status)}`),
    ...(isLive ? ['Check that a real user can write: only the test user was tried.'] : []),
    ...(retention && !retention.isOver && !status.endedAt
      ? [`Kept until ${retention.until}: collection ${plan.sourceCollection} and the backups.`]
      : []),
    ...formatLeftBehind(status),
    ...formatNextSteps(next),
  ].join('\n');
  output.line(text, { event: 'end', runId, phase, retention }, next);
}
