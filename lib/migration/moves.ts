// A migration as data: the phases that each command leads from and to, who may give it and the evidence it needs. Decides
// whether a run accepts a command now, and which one it accepts instead.
import {
  type Actor,
  APPROVED_EVIDENCE,
  BEFORE_WINDOW,
  type Command,
  type Evidence,
  isBeforeWindow,
  PHASES,
  type Phase,
} from './phases.ts';
import { Refusal } from './refusals.ts';
import type { Run } from './runs/run.ts';

export interface Move {
  readonly command: Command;
  readonly from: readonly Phase[];
  /** Entered before the first change, so that a killed step is seen to have begun. */
  readonly through?: Phase;
  readonly to: Phase;
  readonly by: readonly Actor[];
  readonly needs: readonly Evidence[];
  readonly yields?: Evidence;
  /** The operator approves this evidence by naming its digest. */
  readonly approves?: Evidence;
}

const EITHER = ['operator', 'machine'] as const;
const OPERATOR = ['operator'] as const;

type Rest = Partial<Omit<Move, 'command' | 'from' | 'to'>>;

function move(command: Command, from: readonly Phase[], to: Phase, rest: Rest = {}): Move {
  return { command, from, to, by: EITHER, needs: [], ...rest };
}

// A step can be repeated in the phase it leads to: this resumes a killed step, or renews its evidence. Later steps that used
// the old evidence are then due again.
export const MOVES: readonly Move[] = [
  move('backup', ['checked', 'backed-up'], 'backed-up', {
    needs: ['preflight-report'],
    yields: 'backup-manifest',
  }),
  move('rebuild', ['backed-up', 'rebuilt'], 'rebuilt', {
    needs: ['backup-manifest'],
    yields: 'rebuild-proof',
  }),
  move('copy', ['rebuilt', 'copied'], 'copied', {
    needs: ['backup-manifest', 'rebuild-proof'],
    yields: 'verification-report',
  }),
  move('cutover', ['copied'], 'live', {
    through: 'switching',
    by: OPERATOR,
    needs: ['backup-manifest', 'verification-report'],
    yields: 'cutover-report',
    approves: APPROVED_EVIDENCE,
  }),
  move('cutover', ['switching'], 'live', { yields: 'cutover-report' }),
  move('rollback', ['switching'], 'copied', {
    through: 'switching-back',
    yields: 'rollback-report',
  }),
  // Taking users off the new version is a person's decision.
  move('rollback', ['live'], 'copied', {
    through: 'switching-back',
    by: OPERATOR,
    needs: ['backup-manifest'],
    yields: 'rollback-report',
  }),
  // A rollback that has begun is finished by either.
  move('rollback', ['switching-back'], 'copied', { yields: 'rollback-report' }),
  move('abort', BEFORE_WINDOW, 'aborted', { by: OPERATOR }),
  move('retention', ['live'], 'closed', { needs: ['cutover-report'] }),
];

type Standing = Pick<Run, 'phase' | 'evidence' | 'window' | 'takesNoWindow'>;

/** @throws Refusal naming the reason: too early, too late, ended, wrong actor, no evidence */
export function moveFor(command: Command, standing: Standing, actor: Actor): Move {
  const { phase, evidence, takesNoWindow } = standing;
  const move = MOVES.find((move) => move.command === command && move.from.includes(phase));
  if (!move) throw refuseMove(command, standing);
  if (takesNoWindow !== undefined && !findMoves(standing).includes(move)) {
    throw notNow(`No ${command}: ${takesNoWindow}.`);
  }
  if (!move.by.includes(actor)) {
    throw notNow(`The ${actor} may not ${command} a run that is ${phase}.`);
  }
  const missing = move.needs.find((need) => !evidence[need]);
  if (missing) {
    throw notNow(`To ${command}, the run needs its ${missing}.`);
  }
  return move;
}

/** Moves that the run accepts now, in the order of the runbook */
export function findMoves({
  phase,
  takesNoWindow,
}: Pick<Standing, 'phase' | 'takesNoWindow'>): readonly Move[] {
  const moves = MOVES.filter(({ from }) => from.includes(phase));
  return takesNoWindow === undefined ? moves : moves.filter(({ command }) => command === 'abort');
}

/**
 * The move that advances the run, or renews the evidence that this needs; undefined if the run has ended or can only be
 * aborted.
 */
export function nextMove(standing: Omit<Standing, 'window'>): Move | undefined {
  const { phase, evidence, takesNoWindow } = standing;
  if (takesNoWindow !== undefined) return undefined;
  const moves = findMoves(standing);
  const next = moves.find(({ to }) => isBefore(phase, to) && to !== 'aborted') ?? moves[0];
  const missing = next?.needs.find((need) => !evidence[need]);
  return moves.find(({ yields }) => missing !== undefined && yields === missing) ?? next;
}

function refuseMove(command: Command, standing: Standing): Refusal {
  const { phase, window } = standing;
  if (command === 'rollback' && phase === 'closed') return rollbackEnded(window?.retainUntil);
  if (command === 'rollback' && isBeforeWindow(phase)) {
    const why = `No rollback in a run that is ${phase}: users are on the old version. "abort --execute" ends the run.`;
    return notNow(why);
  }
  if (command === 'abort' && phase === 'live') {
    const why = 'No abort in a run that is live: "rollback --execute" returns to the old version.';
    return notNow(why);
  }
  const next = nextMove(standing);
  const instead = next ? `; its next step is ${next.command}` : '';
  return notNow(`No ${command} in a run that is ${phase}${instead}.`);
}

export function notNow(why: string): Refusal {
  return new Refusal('RefusedNotNow', why);
}

export function rollbackEnded(retainUntil: number | undefined): Refusal {
  const day =
    retainUntil === undefined ? 'some time ago' : `at ${new Date(retainUntil).toISOString()}`;
  return notNow(`The rollback period ended ${day}.`);
}

function isBefore(phase: Phase, other: Phase): boolean {
  return PHASES.indexOf(phase) < PHASES.indexOf(other);
}
