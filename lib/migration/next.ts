// Decides what a run needs now, without any call. The command line and the state machine take the decision from the status, and the
// watch does what is due.
import { findMoves, type Move, nextMove } from './moves.ts';
import type { Command } from './phases.ts';
import { type Run, wasOpened, wentLive } from './runs/run.ts';
import { isOverdue, isPastDeadline, retentionOf } from './runs/times.ts';

export interface Next {
  /** The command that advances the run; null if it has ended, or can only be aborted */
  readonly command: Command | null;
  /** Every move that it accepts */
  readonly moves: readonly Move[];
  /** True if the watch gives the command by itself: users wait, or the rollback period has ended. */
  readonly isDue: boolean;
}

export function decideNext(run: Run, now: Date): Next {
  if (isOverdue(run, now)) return { command: 'rollback', moves: findLateMoves(run), isDue: true };
  const isReturning = run.phase === 'switching-back' && isPastDeadline(run, now);
  const isOver = run.phase === 'live' && wentLive(run) && retentionOf(run, now).isOver;
  const command = nextMove(run)?.command ?? null;
  return { command, moves: findMoves(run), isDue: isReturning || isOver };
}

/**
 * Moves that the run accepts after the deadline of its window: the rollback and, if traffic was opened or users cannot return,
 * an operator's cutover.
 */
function findLateMoves(run: Run): readonly Move[] {
  const mayFinish = wasOpened(run) || run.refused?.name === 'RefusedNothingToReturnTo';
  return findMoves(run).flatMap((move) => {
    if (move.command === 'rollback') return [move];
    return move.command === 'cutover' && mayFinish ? [{ ...move, by: ['operator'] }] : [];
  });
}
