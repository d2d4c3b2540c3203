// Next steps for a run, as commands to type: the first one continues it.
import { isBeforeWindow } from '../../../lib/migration/phases.ts';
import { Refusal, type RefusalData, type RefusalName } from '../../../lib/migration/refusals.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { countText, timeText } from './text.ts';

export const INVOCATION = 'npm run migrate --';

export interface NextStep {
  readonly command: string;
  readonly why: string;
  /** Advice in words that comes before the command */
  readonly first?: string;
}

const WHY: Readonly<Record<string, string>> = {
  rollback: 'return to the old version',
  abort: 'give the run up and remove what it has built',
};

/** Steps whose command has another name */
const COMMAND_OF: Readonly<Record<string, string>> = { rebuild: 'copy' };

/** Empty for a run that has ended. */
export function nextSteps(status: Status, stage?: string): NextStep[] {
  const { runId, phase, next, moves, pendingAction, isLate, retention, refused } = status;
  const there = stage === undefined ? '' : ` --stage ${stage}`;
  const typed = (words: string) => `${INVOCATION} ${words} --run ${runId}${there}`;
  const commands = new Set(moves.map(({ command }) => command));
  if (commands.size === 0) return [];
  const ways = [...commands]
    .filter((command) => WHY[command] !== undefined)
    .map((command) => ({ command: typed(`${command} --execute`), why: WHY[command] ?? '' }));
  const confirmation =
    pendingAction && pendingAction.confirmedBy === null
      ? [{ command: typed(`confirm ${pendingAction.action}`), why: 'say that the action is done' }]
      : [];
  if (isLate) {
    const why = 'finish the window: users stay on the new version';
    const canReturn = refused?.name !== 'RefusedNothingToReturnTo';
    const finish = canReturn ? [] : [{ command: typed('cutover --execute'), why }];
    return [...ways, ...finish, ...confirmation];
  }
  if (next === null) return ways;
  if (phase === 'live' && retention) {
    const close = { command: typed('run'), why: 'remove what the plan removes, and close the run' };
    const first = `nothing has to be done until ${retention.until}`;
    return retention.isOver ? [close] : ways.map((way) => ({ ...way, first }));
  }
  const onwards = { command: typed('run'), why: next ? `continue with ${next}` : 'continue' };
  const step = COMMAND_OF[next] ?? next;
  const alone = isBeforeWindow(phase)
    ? [{ command: typed(`${step} --execute`), why: 'this step alone' }]
    : [];
  return [...confirmation, onwards, ...alone, ...ways];
}

/** State after a command that failed or was interrupted */
export interface Aftermath {
  /** The deadline of the open window, and the command that rolls back. */
  readonly window?: string | undefined;
  readonly users?: string;
  readonly next: readonly NextStep[];
}

/** @param error that the command ended with */
export function describeAftermath(
  status: Status | undefined,
  stage?: string,
  error?: unknown,
): Aftermath {
  if (!status) return { next: [] };
  const steps = nextSteps(status, stage);
  const next = error instanceof Refusal ? stepsAfter(error, steps, status) : steps;
  return { window: windowText(status, steps), users: usersText(status), next };
}

function windowText({ phase, deadlineAt }: Status, steps: readonly NextStep[]): string | undefined {
  const rollback = steps.find(({ why }) => why === WHY.rollback);
  if (phase !== 'switching' || !deadlineAt || !rollback) return undefined;
  return `The window ends at ${timeText(deadlineAt)}; then it is rolled back. To roll back now: ${rollback.command}`;
}

const FIRST: {
  readonly [Name in RefusalName]?: (status: Status, data: RefusalData) => string;
} = {
  RefusedPrerequisites: (_, { finding }) =>
    `repair what is named${finding ? `, or accept it with --accept ${finding}` : ''}`,
  RefusedOtherRun: (_, { otherRun }) =>
    `finish the other run, or give it up with "${INVOCATION} abort --execute --run ${otherRun}"`,
  RefusedNothingToReturnTo: ({ plan }) =>
    `restore ${plan.sourceCollection} as docs/migration/guide.md shows under RefusedNothingToReturnTo`,
};

/** The command that was refused would be refused again. */
function stepsAfter(
  { name, data }: Refusal,
  steps: readonly NextStep[],
  status: Status,
): readonly NextStep[] {
  const rollback = steps.find(({ why }) => why === WHY.rollback);
  if (rollback && data.loss !== undefined) {
    const options = `--to-snapshot --acknowledged-loss ${data.loss}`;
    const why = `${WHY.rollback}, and leave at most ${countText(data.loss, 'write')} behind`;
    return [withOptions(rollback, options, why)];
  }
  const cutover = steps.find(({ command }) => command.includes(' cutover --execute'));
  if (cutover && data.windowMinutes !== undefined) {
    const longer = `--window-minutes ${data.windowMinutes}`;
    return [withOptions(cutover, longer, 'open a window that is long enough')];
  }
  if (rollback && name === 'RefusedMassChange') return waysBack(rollback, data);
  const first = FIRST[name]?.(status, data);
  const [step, ...others] = steps;
  return first && step ? [{ ...step, first }, ...others] : steps;
}

/** Once the new collection is repaired; where users did it; without what was written since. */
function waysBack(rollback: NextStep, { deletes }: RefusalData): readonly NextStep[] {
  const byUsers = `where users removed or changed ${countText(deletes ?? 0, 'memory')}`;
  return [
    { ...rollback, first: 'repair the new collection' },
    ...(deletes === undefined ? [] : [withOptions(rollback, `--deletes ${deletes}`, byUsers)]),
    withOptions(rollback, '--as-it-was', 'leave behind what was written since the switch'),
  ];
}

function withOptions({ command }: NextStep, options: string, why: string): NextStep {
  return { command: command.replace('--execute', `$& ${options}`), why };
}

/** The command that comes next, and the others that are possible. */
export function nextLines([next, ...others]: readonly NextStep[]): string[] {
  if (!next) return ['Next: nothing, the run has ended.'];
  const { command, why, first } = next;
  return [
    first ? `Next: ${first}; to ${why}: ${command}` : `Next: ${command}   (${why})`,
    ...others.map((other) => `  or: ${other.command}   (${other.why})`),
  ];
}

/** The last line says where users are, and the command that comes next. */
export function aftermathText({ window, users = '', next }: Aftermath): string {
  const [line = ''] = next.length > 0 ? nextLines(next) : [];
  const last = [users, line].filter((text) => text !== '').join(' ');
  return window === undefined ? last : `${window}\n${last}`;
}

/** True if writes are frozen, or may be. */
export function mayBeFrozen({ phase }: Pick<Status, 'phase'>): boolean {
  return phase === 'switching' || phase === 'switching-back';
}

/** Which version users are on, or whether they can write. */
export function usersText({ phase, plan, pendingAction, openedAt, frozenSince }: Status): string {
  if (phase === 'live' || phase === 'closed') {
    return `Users are on the new version, collection ${liveCollectionOf({ plan })}.`;
  }
  if (!mayBeFrozen({ phase })) return 'Users are on the old version.';
  const isUnproved =
    (phase === 'switching' && !frozenSince) ||
    pendingAction?.action === 'open-writes' ||
    Boolean(openedAt);
  return isUnproved ? 'Users may be unable to write.' : 'Users cannot write.';
}

/** Number of digits that people see, and the least that they may type */
export const DIGEST_DIGITS = 12;
