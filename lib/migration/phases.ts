// The vocabulary of a migration: phases of a run, commands, evidence of finished steps, and external actions

export const BEFORE_WINDOW = ['checked', 'backed-up', 'rebuilt', 'copied'] as const;

/** Phases of a run, in the order of the runbook. While a run is switching, in either direction, users cannot write. */
export const PHASES = [
  ...BEFORE_WINDOW,
  ...(['switching', 'live', 'switching-back', 'closed', 'aborted'] as const),
] as const;

export type Phase = (typeof PHASES)[number];

/** True while a switch or a rollback is under way: writes may be frozen. */
export function isSwitching(phase: Phase): boolean {
  return phase === 'switching' || phase === 'switching-back';
}

export function isBeforeWindow(phase: Phase): boolean {
  return BEFORE_WINDOW.some((candidate) => candidate === phase);
}

export const COMMANDS = [
  'backup',
  'rebuild',
  'copy',
  'cutover',
  'rollback',
  'abort',
  'retention',
] as const;

export type Command = (typeof COMMANDS)[number];

/** Results of finished steps: artifacts that the record references by digest */
export const EVIDENCE = [
  'preflight-report',
  'backup-manifest',
  'rebuild-proof',
  'verification-report',
  'cutover-report',
  'rollback-report',
] as const;

export type Evidence = (typeof EVIDENCE)[number];

/** Evidence that the operator approves by opening the window */
export const APPROVED_EVIDENCE = 'verification-report' satisfies Evidence;

/** Actions that the migration cannot carry out itself: a webhook does, or the operator, who then confirms the action. */
export const EXTERNAL_ACTIONS = ['freeze', 'deploy-new', 'open-writes', 'deploy-old'] as const;

export type ExternalAction = (typeof EXTERNAL_ACTIONS)[number];

/** Names of a step's decisions in its journal; the "#" distinguishes them from stages. */
export const DECISIONS = {
  plan: '#plan',
  failing: '#failing',
  end: '#end',
  /** Kept when the stages of a walk run again: the removals of an earlier walk still count. */
  earlier: '#earlier',
} as const;

/** Phases in which the lock is free for another run */
export const ENDED_PHASES = ['closed', 'aborted'] as const satisfies readonly Phase[];

export function hasEnded(phase: unknown): boolean {
  return ENDED_PHASES.some((candidate) => candidate === phase);
}
