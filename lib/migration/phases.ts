// A migration as data: the phases of a run, the commands that move it, who may give them and what they need.

/** Where a run stands, in the order of the runbook; `absent` is a run that was never started. */
export const PHASES = [
  'absent',
  'started',
  'checked',
  'backed-up',
  'rebuilt',
  'copied',
  'verified',
  // Inside the window: writes are frozen, the deadline counts.
  'freezing',
  'frozen',
  'secured',
  'caught-up',
  'proved',
  'switching',
  // Outside again: the new version takes writes, the old data is retained.
  'live',
  'irreversible',
  'closed',
  // Ways out.
  'returning',
  'returned',
  'abandoned',
] as const;

export type Phase = (typeof PHASES)[number];

export const COMMANDS = [
  'start',
  'preflight',
  'backup',
  'rebuild',
  'copy',
  'verify',
  'freeze',
  'cutover',
  'rollback',
  'abandon',
  'retention',
] as const;

export type Command = (typeof COMMANDS)[number];

/** A person at the command line, or the state machine by itself. */
export type Actor = 'operator' | 'machine';

/** What a finished step leaves behind: an artifact, known to the record by reference and digest. */
export const EVIDENCE = [
  'preflight-report',
  'backup-manifest',
  'rebuild-proof',
  'copy-report',
  'verification-report',
  'freeze-proof',
  'cutover-report',
  'return-report',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

/** Something only a person may say, bound to the evidence the person looked at. */
export const GATES = ['window', 'frozen', 'deployed', 'opened'] as const;

export type Gate = (typeof GATES)[number];

export interface Move {
  readonly command: Command;
  readonly from: readonly Phase[];
  /** Entered before the first change, so that a killed step is seen to have begun. */
  readonly through?: Phase;
  readonly to: Phase;
  readonly by: readonly Actor[];
  readonly needs: readonly Evidence[];
  readonly yields?: Evidence;
  readonly gate?: Gate;
  /** Changes more than the run's own record: a dry run unless told otherwise. */
  readonly mutates: boolean;
}

const EITHER = ['operator', 'machine'] as const;
const OPERATOR = ['operator'] as const;

export const BEFORE_WINDOW = [
  'started',
  'checked',
  'backed-up',
  'rebuilt',
  'copied',
  'verified',
] as const satisfies readonly Phase[];

export const IN_WINDOW = [
  'freezing',
  'frozen',
  'secured',
  'caught-up',
  'proved',
  'switching',
] as const satisfies readonly Phase[];

export const PAST_RETENTION = ['irreversible', 'closed'] as const satisfies readonly Phase[];

export const WAYS_OUT = ['returning', 'returned', 'abandoned'] as const satisfies readonly Phase[];

/** The lock is free for another run. */
export const ENDED = ['closed', 'returned', 'abandoned'] as const satisfies readonly Phase[];

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
    mutates: false,
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
    from: ['verified', 'freezing'],
    through: 'freezing',
    to: 'frozen',
    by: EITHER,
    needs: ['verification-report'],
    yields: 'freeze-proof',
    gate: 'window',
    mutates: true,
  },
  {
    command: 'backup',
    from: ['frozen', 'secured'],
    to: 'secured',
    by: EITHER,
    needs: ['freeze-proof'],
    yields: 'backup-manifest',
    mutates: true,
  },
  {
    command: 'copy',
    from: ['secured', 'caught-up', 'proved'],
    to: 'caught-up',
    by: EITHER,
    needs: ['freeze-proof', 'backup-manifest', 'rebuild-proof'],
    yields: 'copy-report',
    mutates: true,
  },
  {
    command: 'verify',
    from: ['caught-up', 'proved'],
    to: 'proved',
    by: EITHER,
    needs: ['freeze-proof', 'copy-report'],
    yields: 'verification-report',
    mutates: false,
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
    // Writes made since would be lost: only a person may say so, and only of the exact number.
    command: 'rollback',
    from: ['live'],
    through: 'returning',
    to: 'returned',
    by: OPERATOR,
    needs: ['backup-manifest', 'cutover-report'],
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
    command: 'abandon',
    from: BEFORE_WINDOW,
    to: 'abandoned',
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

/** Where each thing that only a person may say is asked for, and which evidence the answer is bound to. */
export const GATE_PLACES: Readonly<
  Record<Gate, { readonly in: readonly Phase[]; readonly evidence: Evidence }>
> = {
  window: { in: ['verified'], evidence: 'verification-report' },
  frozen: { in: ['freezing', 'returning'], evidence: 'verification-report' },
  deployed: { in: ['switching', 'returning'], evidence: 'verification-report' },
  opened: { in: ['switching', 'returning'], evidence: 'verification-report' },
};
