// Decides what a run accepts and what it needs now, without any call. Steps, status, command line, state machine and watch ask here.
import { MOVES, type Move } from './moves.ts';
import { type Command, isBeforeWindow, PHASES, type Phase } from './phases.ts';
import { notNow, type Refusal } from './refusals.ts';
import { type Run, toRefused, wasOpened, wentLive } from './runs/run.ts';
import { closingText, isOpened, isPastDeadline, retentionOf } from './runs/times.ts';

export interface Next {
  /** The command that advances the run; null if it has ended, or can only be aborted */
  readonly command: Command | null;
  /** Every move that it accepts now */
  readonly moves: readonly Move[];
  /** True if the watch gives the command by itself: users wait, or the rollback period has ended. */
  readonly isDue: boolean;
}

type Standing = Pick<Run, 'phase' | 'evidence' | 'window' | 'takesNoWindow' | 'refused'>;

interface Asking {
  /** A person wants it. Otherwise a machine lets the run advance. */
  readonly isWanted: boolean;
  readonly now: Date;
}

export function decideNext(run: Standing, now: Date): Next {
  const moves = findMoves(run, now);
  if (mustReturn(run, now)) return { command: 'rollback', moves, isDue: true };
  const isReturning = run.phase === 'switching-back' && isPastDeadline(run, now);
  const isOver = run.phase === 'live' && isRetentionOver(run, now);
  return { command: findNextCommand(run, moves), moves, isDue: isReturning || isOver };
}

/** True if the run has to leave its window. */
export function mustReturn(run: Standing, now: Date): boolean {
  return whyReturn(run, now) !== undefined;
}

/** Why the run has to leave its window: it has failed, or its time is up. */
export function whyReturn(run: Standing, now: Date): Run['refused'] {
  if (run.phase !== 'switching') return undefined;
  const closed = isPastDeadline(run, now) ? toRefused(notNow(closingText(run))) : undefined;
  return findFailure(run) ?? closed;
}

/** Why the window failed. Once users may be on the new version, a failed step is repeated instead. */
export function findFailure(run: Pick<Run, 'phase' | 'window'>): Run['refused'] {
  return run.phase === 'switching' && !wasOpened(run) ? run.window?.failed : undefined;
}

/** @throws Refusal naming the reason: too early, too late, ended, a person's decision, no evidence */
export function moveFor(command: Command, run: Standing, asking: Asking): Move {
  const move = MOVES.find((move) => move.command === command && move.from.includes(run.phase));
  if (!move) throw refuseMove(command, run, asking.now);
  const why = whyNot(move, run, asking);
  if (why !== undefined) throw notNow(why);
  const missing = move.needs.find((need) => !run.evidence[need]);
  if (missing) throw notNow(`To ${command}, the run needs its ${missing}.`);
  return move;
}

/** In the order of the runbook */
function findMoves(run: Standing, now: Date): readonly Move[] {
  const isRefused = (move: Move, isWanted: boolean) =>
    whyNot(move, run, { isWanted, now }) !== undefined;
  return MOVES.filter((move) => move.from.includes(run.phase) && !isRefused(move, true)).map(
    (move) => (isRefused(move, false) ? { ...move, isAPersons: true } : move),
  );
}

/** The move that advances the run, or renews the evidence that this needs */
function findNextCommand({ phase, evidence }: Standing, accepted: readonly Move[]): Command | null {
  const moves = accepted.filter(({ to }) => to !== 'aborted');
  const next = moves.find(({ to }) => isBefore(phase, to)) ?? moves[0];
  const missing = next?.needs.find((need) => !evidence[need]);
  const renewing = moves.find(({ yields }) => missing !== undefined && yields === missing);
  return (renewing ?? next)?.command ?? null;
}

/** Why a move that leads on from the run's phase cannot be made now; undefined if it can. */
function whyNot({ command, isAPersons }: Move, run: Standing, asking: Asking): string | undefined {
  const { phase, takesNoWindow, window } = run;
  if (takesNoWindow !== undefined && command !== 'abort') return `No ${command}: ${takesNoWindow}.`;
  if (isAPersons && !asking.isWanted) {
    return `No ${command} in a run that is ${phase}, unless a person wants it.`;
  }
  // A rollback that has begun is finished after its period, too.
  if (phase === 'live' && command === 'rollback' && isRetentionOver(run, asking.now)) {
    return endText(window?.retainUntil);
  }
  if (phase !== 'switching') return undefined;
  if (command === 'cutover') return whyNotFinished(run, asking);
  return asking.isWanted ? undefined : whyKept(run, asking.now);
}

// A window that must be left rolls back by itself. If that would cost users their writes, or leads nowhere, a person may finish what
// has begun: a service that stands still has to have an exit.
function whyNotFinished(run: Standing, { isWanted, now }: Asking): string | undefined {
  const canStay = wasOpened(run) || run.refused?.name === 'RefusedNothingToReturnTo';
  if (!mustReturn(run, now) || (isWanted && canStay)) return undefined;
  const failed = findFailure(run);
  return failed ? `The window failed with ${failed.name}: ${failed.why}` : closingText(run);
}

/** Why users are not taken off the new version unless a person says so */
function whyKept(run: Standing, now: Date): string | undefined {
  if (run.window?.stays) {
    return 'Users stay on the new version, as no rollback was proved in time. Find out what it was refused for, then roll back by hand.';
  }
  if (!isOpened(run, now)) return undefined;
  return 'Users may be on the new version: the cutover is repeated until the window ends.';
}

function refuseMove(command: Command, run: Standing, now: Date): Refusal {
  const { phase, window } = run;
  if (command === 'rollback' && phase === 'closed') return notNow(endText(window?.retainUntil));
  if (command === 'rollback' && isBeforeWindow(phase)) {
    const why = `No rollback in a run that is ${phase}: users are on the old version. "abort --execute" ends the run.`;
    return notNow(why);
  }
  if (command === 'abort' && phase === 'live') {
    const why = 'No abort in a run that is live: "rollback --execute" returns to the old version.';
    return notNow(why);
  }
  const { command: next } = decideNext(run, now);
  const instead = next ? `; its next step is ${next}` : '';
  return notNow(`No ${command} in a run that is ${phase}${instead}.`);
}

function isRetentionOver(run: Standing, now: Date): boolean {
  return wentLive(run) && retentionOf(run, now).isOver;
}

function endText(retainUntil: number | undefined): string {
  const day =
    retainUntil === undefined ? 'some time ago' : `at ${new Date(retainUntil).toISOString()}`;
  return `The rollback period ended ${day}.`;
}

function isBefore(phase: Phase, other: Phase): boolean {
  return PHASES.indexOf(phase) < PHASES.indexOf(other);
}
