// The words of a migration: the phases of a run, its commands, what steps leave behind, what a person is asked.

export const BEFORE_WINDOW = ['checked', 'backed-up', 'rebuilt', 'copied'] as const;

/** Writes are frozen, the deadline counts. */
export const IN_WINDOW = ['freezing', 'frozen', 'window-backed-up', 'switching'] as const;

export const WAYS_OUT = ['rolling-back', 'aborted'] as const;

/** Where a run stands, in the order of the runbook. */
export const PHASES = [...BEFORE_WINDOW, ...IN_WINDOW, 'live', 'closed', ...WAYS_OUT] as const;

export type Phase = (typeof PHASES)[number];

export function isBeforeWindow(phase: Phase): boolean {
  return BEFORE_WINDOW.some((one) => one === phase);
}

export function isInWindow(phase: Phase): boolean {
  return IN_WINDOW.some((one) => one === phase);
}

export const COMMANDS = [
  'backup',
  'rebuild',
  'copy',
  'freeze',
  'cutover',
  'rollback',
  'abort',
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
  'verification-report',
  'freeze-proof',
  'cutover-report',
  'rollback-report',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

/** What a person approves who opens the window. */
export const APPROVED_EVIDENCE = 'verification-report' satisfies Evidence;

/** What is done outside of the migration's reach, by a webhook or by a person who confirms it. */
export const EXTERNAL_ACTIONS = ['freeze', 'deploy-new', 'open-writes', 'deploy-old'] as const;

export type ExternalAction = (typeof EXTERNAL_ACTIONS)[number];

/** The lock is free for another run. */
export const ENDED = ['closed', 'aborted'] as const satisfies readonly Phase[];

export function hasEnded(phase: unknown): boolean {
  return ENDED.some((ended) => ended === phase);
}
