// Whether a command may be given to a run now, and what may be done instead.
import { MOVES, type Move } from './moves.ts';
import {
  type Actor,
  type Command,
  ENDED,
  type Evidence,
  PAST_RETENTION,
  PHASES,
  type Phase,
  WAYS_OUT,
} from './phases.ts';
import { Refusal, type RefusalName } from './refusals.ts';

/** What the decision rests on; taken from the run's record. */
export interface Standing {
  readonly phase: Phase;
  /** Evidence that the record holds. */
  readonly evidence: ReadonlySet<Evidence>;
  /** Until then rollback is possible. */
  readonly retainUntil?: number | undefined;
}

/** @throws Refusal naming the reason: unknown, too early, too late, ended, irreversible, wrong actor, no evidence */
export function moveFor(command: Command, standing: Standing, actor: Actor): Move {
  const { phase, evidence } = standing;
  const move = MOVES.find((move) => move.command === command && includes(move.from, phase));
  if (!move) throw new Refusal(misplaced(command, phase), whyMisplaced(command, standing));
  if (!includes(move.by, actor)) {
    throw new Refusal('RefusedNotNow', `The ${actor} may not ${command} a run that is ${phase}.`);
  }
  const missing = move.needs.find((need) => !evidence.has(need));
  if (missing) {
    throw new Refusal('RefusedNotNow', `To ${command}, the run needs its ${missing}.`);
  }
  return move;
}

/** Every move that the run could make now, in the order of the runbook. */
export function movesFrom(phase: Phase): readonly Move[] {
  return MOVES.filter(({ from }) => includes(from, phase));
}

/**
 * What is left of a run in a window that is over: going back; and, where users were let in, a person may finish.
 * Everything else is refused.
 */
export function lateMovesFrom(phase: Phase, wasOpened: boolean): readonly Move[] {
  return movesFrom(phase).flatMap((move) => {
    if (move.command === 'rollback') return [move];
    return move.command === 'cutover' && wasOpened ? [{ ...move, by: ['operator'] }] : [];
  });
}

/** The move that brings the run on; undefined when it has ended. */
export function nextMove(phase: Phase): Move | undefined {
  const moves = movesFrom(phase);
  return moves.find(({ to }) => isBefore(phase, to) && !includes(WAYS_OUT, to)) ?? moves[0];
}

function misplaced(command: Command, phase: Phase): RefusalName {
  if (phase === 'absent') return 'RefusedUnknownRun';
  if (command === 'rollback' && includes(PAST_RETENTION, phase)) return 'RefusedIrreversible';
  return includes(ENDED, phase) ? 'RefusedRunEnded' : 'RefusedNotNow';
}

function whyMisplaced(command: Command, { phase, retainUntil }: Standing): string {
  if (phase === 'absent') return `There is no run by that id to ${command}.`;
  if (misplaced(command, phase) === 'RefusedIrreversible') return rollbackEnded(retainUntil);
  const next = nextMove(phase);
  const instead = next ? `; its next step is ${next.command}` : '';
  return `No ${command} in a run that is ${phase}${instead}.`;
}

export function rollbackEnded(retainUntil: number | undefined): string {
  const day = retainUntil === undefined ? 'some time ago' : new Date(retainUntil).toISOString();
  return `The rollback period ended ${day}.`;
}

function isBefore(phase: Phase, other: Phase): boolean {
  return PHASES.indexOf(phase) < PHASES.indexOf(other);
}

function includes<Value>(values: readonly Value[], value: Value): boolean {
  return values.includes(value);
}
