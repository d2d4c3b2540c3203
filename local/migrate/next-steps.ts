// What to do next with a run, as commands to be typed: the first is the one that continues it.
import { IN_WINDOW, type Phase } from '../../lib/migration/phases.ts';
import type { Status } from '../../lib/migration/steps/status.ts';

export const INVOCATION = 'npm run migrate --';

export interface NextStep {
  readonly command: string;
  readonly why: string;
}

type Standing = Pick<
  Status,
  'runId' | 'phase' | 'next' | 'moves' | 'pendingAction' | 'isLate' | 'retention'
>;

const WHY: Readonly<Record<string, string>> = {
  rollback: 'return to the old version',
  abort: 'give the run up and remove what it has built',
};

/** Empty for a run that has ended. */
export function nextSteps(status: Standing, stage?: string): NextStep[] {
  const { runId, phase, next, moves, pendingAction, isLate, retention } = status;
  const there = stage === undefined ? '' : ` --stage ${stage}`;
  const typed = (words: string) => `${INVOCATION} ${words} --run ${runId}${there}`;
  const commands = new Set(moves.map(({ command }) => command));
  if (commands.size === 0) return [];
  const ways = [...commands]
    .filter((command) => WHY[command] !== undefined)
    .map((command) => ({ command: typed(`${command} --execute`), why: WHY[command] ?? '' }));
  if (isLate) return ways;
  if (phase === 'live') {
    const close = { command: typed('run'), why: 'remove what the plan removes, and close the run' };
    return retention?.isOver ? [close] : ways;
  }
  const confirmation =
    pendingAction && pendingAction.confirmedBy === null
      ? [{ command: typed(`confirm ${pendingAction.action}`), why: 'say that the action is done' }]
      : [];
  const onwards = { command: typed('run'), why: next ? `continue with ${next}` : 'continue' };
  return [...confirmation, onwards, ...ways];
}

/** What a command that fails or is interrupted leaves behind. */
export interface Aftermath {
  /** Whether users can write, where that is in doubt. */
  readonly writes?: string;
  readonly next: readonly NextStep[];
}

export function aftermathOf(status: Standing | undefined, stage?: string): Aftermath {
  if (!status) return { next: [] };
  return { writes: writesText(status), next: nextSteps(status, stage) };
}

/** One line: whether users can write, and the command that comes next. */
export function aftermathText({ writes = '', next: [first] }: Aftermath): string {
  const step = first ? `Next: ${first.command}   (${first.why})` : '';
  return [writes, step].filter((text) => text !== '').join(' ');
}

export function isInWindow(phase: Phase): boolean {
  return IN_WINDOW.some((one) => one === phase);
}

/** Whether users can write, where that is in doubt. */
export function writesText({ phase, pendingAction, retention }: Standing): string {
  if (phase !== 'rolling-back' && !isInWindow(phase)) return '';
  const isUnproved =
    phase === 'freezing' ||
    pendingAction?.action === 'open-writes' ||
    (phase === 'rolling-back' && retention !== null);
  return isUnproved ? 'Users may be unable to write.' : 'Users cannot write.';
}

/** As many digits as people are shown, and as many as they may type. */
export const DIGEST_DIGITS = 12;
