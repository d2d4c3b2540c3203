// Decides which moves a run accepts now, and which command it needs next. Calls no service.
import { MOVES, type Move } from './moves.ts';
import { APPROVED_EVIDENCE, type Command, isBeforeWindow, PHASES, type Phase } from './phases.ts';
import { notNow, type Refusal } from './refusals.ts';
import { findFailure, type Run, toStoredRefusal, wasOpened, wentLive } from './runs/run.ts';
import {
  describeClosing,
  isOpenBeforeDeadline,
  isPastDeadline,
  retentionOf,
} from './runs/times.ts';

export interface Next {
  /** The command that advances the run; null if the run has ended, or can only be aborted */
  readonly command: Command | null;
  /** Every move that the run accepts now */
  readonly moves: readonly Move[];
  /** True if the watch runs the command by itself: users wait, or the rollback period has ended. */
  readonly isDue: boolean;
}

/** Work that a timer begins: a due command, a reminder, or the removal of what an aborted run left on the services */
export interface DueWork {
  readonly work: 'rollback' | 'retention' | 'remind' | 'remove';
  /** True if the work is done at most once a day */
  readonly isDaily: boolean;
}

type RunState = Pick<Run, 'phase' | 'evidence' | 'window' | 'takesNoWindow' | 'refused'>;

interface MoveRequest {
  /** True if a person asks for the move; false if a machine makes it */
  readonly isByPerson: boolean;
  readonly now: Date;
}

export function decideNext(run: RunState, now: Date): Next {
  const moves = findMoves(run, now);
  if (mustReturn(run, now)) return { command: 'rollback', moves, isDue: true };
  const isReturning = run.phase === 'switching-back' && isPastDeadline(run, now);
  const isRollbackOver = run.phase === 'live' && isRetentionOver(run, now);
  const command = findNextCommand(run, moves);
  return { command, moves, isDue: command !== null && (isReturning || isRollbackOver) };
}

/** @returns undefined if nothing is due */
export function findDueWork(run: Run, now: Date): DueWork | undefined {
  if (run.phase === 'aborted') return { work: 'remove', isDaily: true };
  const { command, isDue } = decideNext(run, now);
  if (isDue && command === 'rollback') return { work: command, isDaily: false };
  if (run.phase !== 'live') return undefined;
  if (isDue) return { work: 'retention', isDaily: run.window?.overAt !== undefined };
  return retentionOf(run, now).isEnding ? { work: 'remind', isDaily: true } : undefined;
}

/** True if a failed step must be repeated until the window ends, because users may be on the new version. */
export function isRepeated(run: Pick<Run, 'phase' | 'window'>, now: Date): boolean {
  return run.phase === 'switching' && isOpenBeforeDeadline(run, now);
}

/** True if users are back on the old version, and the next window has not been prepared. */
export function hasReturned({ phase, evidence }: Pick<Run, 'phase' | 'evidence'>): boolean {
  return phase === 'copied' && !evidence[APPROVED_EVIDENCE];
}

/** True if the window must be rolled back. */
export function mustReturn(run: RunState, now: Date): boolean {
  return whyMustReturn(run, now) !== undefined;
}

/** Says why the window must be rolled back: it has failed, or has passed its deadline. */
function whyMustReturn(run: RunState, now: Date): Run['refused'] {
  if (run.phase !== 'switching') return undefined;
  const refusalAfterDeadline = isPastDeadline(run, now)
    ? toStoredRefusal(notNow(describeClosing(run)))
    : undefined;
  return findFailure(run) ?? refusalAfterDeadline;
}

/** A move that the run accepts now, and the reason if its window must be rolled back */
export type AcceptedMove = Move & { readonly because: Run['refused'] };

/** @throws Refusal naming the reason: too early, too late, ended, reserved for a person, or evidence missing */
export function chooseMove(command: Command, run: RunState, request: MoveRequest): AcceptedMove {
  const move = MOVES.find((move) => move.command === command && move.from.includes(run.phase));
  if (!move) throw refuseMove(command, run, request.now);
  const why = whyRefused(move, run, request);
  if (why !== undefined) throw notNow(why);
  const missingEvidence = move.needs.find((need) => !run.evidence[need]);
  if (missingEvidence) throw notNow(`To ${command}, the run needs its ${missingEvidence}.`);
  return { ...move, because: whyMustReturn(run, request.now) };
}

/** Finds the moves that the run accepts, in the order of the runbook. */
function findMoves(run: RunState, now: Date): readonly Move[] {
  const isRefused = (move: Move, isByPerson: boolean) =>
    whyRefused(move, run, { isByPerson, now }) !== undefined;
  return MOVES.filter((move) => move.from.includes(run.phase) && !isRefused(move, true)).map(
    (move) => (isRefused(move, false) ? { ...move, needsPerson: true } : move),
  );
}

/** Finds the command that advances the run, or the one that renews missing evidence. */
function findNextCommand(
  { phase, evidence }: RunState,
  acceptedMoves: readonly Move[],
): Command | null {
  const moves = acceptedMoves.filter(({ to }) => to !== 'aborted');
  const next = moves.find(({ to }) => isBefore(phase, to)) ?? moves[0];
  const missingEvidence = next?.needs.find((need) => !evidence[need]);
  const renewal = moves.find(
    ({ yields }) => missingEvidence !== undefined && yields === missingEvidence,
  );
  return (renewal ?? next)?.command ?? null;
}

/** Why a move from the run's phase cannot be made now; undefined if it can. */
function whyRefused(
  { command, needsPerson }: Move,
  run: RunState,
  request: MoveRequest,
): string | undefined {
  const { phase, takesNoWindow, window } = run;
  if (takesNoWindow !== undefined && command !== 'abort') return `No ${command}: ${takesNoWindow}.`;
  if (needsPerson && !request.isByPerson) {
    return `No ${command} in a run that is ${phase}, unless a person asks for it.`;
  }
  // A rollback that has begun is finished even after the rollback period.
  if (phase === 'live' && command === 'rollback' && isRetentionOver(run, request.now)) {
    return describeEnd(window?.retainUntil);
  }
  if (phase !== 'switching') return undefined;
  if (command === 'cutover') return whyCutoverRefused(run, request);
  return request.isByPerson ? undefined : whyRollbackRefused(run, request.now);
}

// Refused in a window that must be rolled back. But if a rollback would lose users' writes, or has nothing to return to, a
// person may finish the cutover: otherwise the service would stay frozen.
function whyCutoverRefused(run: RunState, { isByPerson, now }: MoveRequest): string | undefined {
  const canStay = wasOpened(run) || run.refused?.name === 'RefusedNothingToReturnTo';
  if (!mustReturn(run, now) || (isByPerson && canStay)) return undefined;
  const failed = findFailure(run);
  return failed ? `The window failed with ${failed.name}: ${failed.why}` : describeClosing(run);
}

/** Why only a person can take users off the new version; undefined if no person is needed */
function whyRollbackRefused(run: RunState, now: Date): string | undefined {
  if (run.window?.stays) {
    return 'Users stay on the new version, as no rollback was proved in time. Find out what it was refused for, then roll back by hand.';
  }
  if (!isOpenBeforeDeadline(run, now)) return undefined;
  return 'Users may be on the new version: the cutover is repeated until the window ends.';
}

function refuseMove(command: Command, run: RunState, now: Date): Refusal {
  const { phase, window } = run;
  if (command === 'rollback' && phase === 'closed') return notNow(describeEnd(window?.retainUntil));
  if (command === 'rollback' && isBeforeWindow(phase)) {
    const why = `No rollback in a run that is ${phase}: users are on the old version. "abort --execute" ends the run.`;
    return notNow(why);
  }
  if (command === 'abort' && phase === 'live') {
    const why = 'No abort in a run that is live: "rollback --execute" returns to the old version.';
    return notNow(why);
  }
  const { command: next } = decideNext(run, now);
  const hint = next ? `; its next step is ${next}` : '';
  return notNow(`No ${command} in a run that is ${phase}${hint}.`);
}

function isRetentionOver(run: RunState, now: Date): boolean {
  return wentLive(run) && retentionOf(run, now).isOver;
}

function describeEnd(retainUntil: number | undefined): string {
  const time =
    retainUntil === undefined ? 'some time ago' : `at ${new Date(retainUntil).toISOString()}`;
  return `The rollback period ended ${time}.`;
}

function isBefore(first: Phase, second: Phase): boolean {
  return PHASES.indexOf(first) < PHASES.indexOf(second);
}
