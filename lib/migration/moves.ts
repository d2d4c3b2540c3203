// A migration as data: which command may be given in which phase, by whom, what it needs and where it leads.
import {
  type Actor,
  APPROVED_EVIDENCE,
  BEFORE_WINDOW,
  type Command,
  type Evidence,
  IN_WINDOW,
  type Phase,
} from './phases.ts';

export interface Move {
  readonly command: Command;
  readonly from: readonly Phase[];
  /** Entered before the first change, so that a killed step is seen to have begun. */
  readonly through?: Phase;
  readonly to: Phase;
  readonly by: readonly Actor[];
  readonly needs: readonly Evidence[];
  readonly yields?: Evidence;
  /** The operator names the digest of this evidence, and thereby approves it. */
  readonly approves?: Evidence;
  /** Changes more than the run's own record: a dry run unless `execute` is given. */
  readonly mutates: boolean;
}

const EITHER = ['operator', 'machine'] as const;
const OPERATOR = ['operator'] as const;

// A step may be invoked again in the phase it leads to: that is how a killed one is resumed, and
// how evidence is renewed. Whatever a later step built on the old evidence is then due again.
export const MOVES: readonly Move[] = [
  { command: 'start', from: ['absent'], to: 'started', by: OPERATOR, needs: [], mutates: true },
  {
    command: 'preflight',
    from: ['started', 'checked'],
    to: 'checked',
    by: EITHER,
    needs: [],
    yields: 'preflight-report',
    mutates: true,
  },
  {
    command: 'backup',
    from: ['checked', 'backed-up'],
    to: 'backed-up',
    by: EITHER,
    needs: ['preflight-report'],
    yields: 'backup-manifest',
    mutates: true,
  },
  {
    command: 'rebuild',
    from: ['backed-up', 'rebuilt'],
    to: 'rebuilt',
    by: EITHER,
    needs: ['backup-manifest'],
    yields: 'rebuild-proof',
    mutates: true,
  },
  {
    command: 'copy',
    from: ['rebuilt', 'copied', 'verified'],
    to: 'copied',
    by: EITHER,
    needs: ['backup-manifest', 'rebuild-proof'],
    yields: 'copy-report',
    mutates: true,
  },
  {
    command: 'verify',
    from: ['copied', 'verified'],
    to: 'verified',
    by: EITHER,
    needs: ['copy-report'],
    yields: 'verification-report',
    mutates: false,
  },
  {
    command: 'freeze',
    from: ['verified'],
    through: 'freezing',
    to: 'frozen',
    by: OPERATOR,
    needs: ['verification-report'],
    yields: 'freeze-proof',
    approves: APPROVED_EVIDENCE,
    mutates: true,
  },
  {
    command: 'freeze',
    from: ['freezing'],
    to: 'frozen',
    by: EITHER,
    needs: ['verification-report'],
    yields: 'freeze-proof',
    mutates: true,
  },
  {
    command: 'backup',
    from: ['frozen', 'secured', 'proved'],
    to: 'secured',
    by: EITHER,
    needs: ['freeze-proof'],
    yields: 'backup-manifest',
    mutates: true,
  },
  {
    command: 'copy',
    from: ['secured', 'proved'],
    to: 'proved',
    by: EITHER,
    needs: ['freeze-proof', 'backup-manifest', 'rebuild-proof'],
    yields: 'verification-report',
    mutates: true,
  },
  {
    command: 'cutover',
    from: ['proved', 'switching'],
    through: 'switching',
    to: 'live',
    by: EITHER,
    needs: ['freeze-proof', 'backup-manifest', 'verification-report'],
    yields: 'cutover-report',
    mutates: true,
  },
  {
    command: 'rollback',
    from: IN_WINDOW,
    through: 'returning',
    to: 'returned',
    by: EITHER,
    needs: [],
    yields: 'return-report',
    mutates: true,
  },
  {
    // Only a person decides that users leave the new version.
    command: 'rollback',
    from: ['live'],
    through: 'returning',
    to: 'returned',
    by: OPERATOR,
    needs: ['backup-manifest'],
    yields: 'return-report',
    mutates: true,
  },
  {
    // Decided when the return began.
    command: 'rollback',
    from: ['returning'],
    to: 'returned',
    by: EITHER,
    needs: [],
    yields: 'return-report',
    mutates: true,
  },
  {
    command: 'abort',
    from: BEFORE_WINDOW,
    to: 'aborted',
    by: OPERATOR,
    needs: [],
    mutates: true,
  },
  {
    command: 'retention',
    from: ['live'],
    to: 'irreversible',
    by: EITHER,
    needs: ['cutover-report'],
    mutates: true,
  },
  {
    command: 'retention',
    from: ['irreversible'],
    to: 'closed',
    by: EITHER,
    needs: ['cutover-report'],
    mutates: true,
  },
];
