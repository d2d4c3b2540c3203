// The moves of a migration as data: the phases that each command leads from and to, and the evidence that it needs. next.ts
// decides which moves a run accepts now.
import {
  APPROVED_EVIDENCE,
  BEFORE_WINDOW,
  type Command,
  type Evidence,
  type Phase,
} from './phases.ts';

export interface Move {
  readonly command: Command;
  readonly from: readonly Phase[];
  /** Phase entered before the first change; after a kill, it shows that the step had begun. */
  readonly through?: Phase;
  readonly to: Phase;
  /** True if only a person can begin the move */
  readonly needsPerson?: true;
  readonly needs: readonly Evidence[];
  readonly yields?: Evidence;
  /** The operator approves this evidence by naming its digest. */
  readonly approves?: Evidence;
}

type MoveDetails = Partial<Omit<Move, 'command' | 'from' | 'to'>>;

function defineMove(
  command: Command,
  from: readonly Phase[],
  to: Phase,
  details: MoveDetails = {},
): Move {
  return { command, from, to, needs: [], ...details };
}

// A step can be repeated in the phase it leads to. This resumes a killed step, or renews its evidence; later steps that used the
// old evidence must then be repeated.
export const MOVES: readonly Move[] = [
  defineMove('backup', ['checked', 'backed-up'], 'backed-up', {
    needs: ['preflight-report'],
    yields: 'backup-manifest',
  }),
  defineMove('rebuild', ['backed-up', 'rebuilt'], 'rebuilt', {
    needs: ['backup-manifest'],
    yields: 'rebuild-proof',
  }),
  defineMove('copy', ['rebuilt', 'copied'], 'copied', {
    needs: ['backup-manifest', 'rebuild-proof'],
    yields: 'verification-report',
  }),
  defineMove('cutover', ['copied'], 'live', {
    through: 'switching',
    needsPerson: true,
    needs: ['backup-manifest', 'verification-report'],
    yields: 'cutover-report',
    approves: APPROVED_EVIDENCE,
  }),
  defineMove('cutover', ['switching'], 'live', { yields: 'cutover-report' }),
  defineMove('rollback', ['switching'], 'copied', {
    through: 'switching-back',
    yields: 'rollback-report',
  }),
  // Taking users off the new version is a person's decision.
  defineMove('rollback', ['live'], 'copied', {
    through: 'switching-back',
    needsPerson: true,
    needs: ['backup-manifest'],
    yields: 'rollback-report',
  }),
  // A rollback that has begun is finished without a person.
  defineMove('rollback', ['switching-back'], 'copied', { yields: 'rollback-report' }),
  defineMove('abort', BEFORE_WINDOW, 'aborted', { needsPerson: true }),
  defineMove('retention', ['live'], 'closed', { needs: ['cutover-report'] }),
];
