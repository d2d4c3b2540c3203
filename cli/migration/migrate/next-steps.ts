// Lists the next steps for a run as commands to type; the first command continues the run.
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

const REASONS: Readonly<Record<string, string>> = {
  rollback: 'return to the old version',
  abort: 'abandon the run and remove what it built',
};

const CLOSE_REASON = 'remove what the plan removes, and close the run';

/** Steps whose command has another name */
const COMMAND_NAMES: Readonly<Record<string, string>> = { rebuild: 'copy' };

function describeInvocation(words: string, runId: string, stage?: string): string {
  return `${INVOCATION} ${words} --run ${runId}${stage === undefined ? '' : ` --stage ${stage}`}`;
}

/** Lists the next steps; empty once the run has ended */
export function nextSteps(status: Status, stage?: string): NextStep[] {
  const { runId, phase, next, moves, pendingAction, isLate, retention } = status;
  const invoke = (words: string) => describeInvocation(words, runId, stage);
  const commands = new Set(moves.map(({ command }) => command));
  if (commands.size === 0) return [];
  const waysBack = [...commands]
    .filter((command) => REASONS[command] !== undefined)
    .map((command) => ({ command: invoke(`${command} --execute`), why: REASONS[command] ?? '' }));
  const confirmation =
    pendingAction && pendingAction.confirmedBy === null
      ? [
          {
            command: invoke(`confirm ${pendingAction.action}`),
            why: 'confirm that the action is done',
          },
        ]
      : [];
  if (isLate) {
    const why = 'finish the window: users stay on the new version';
    const finish = commands.has('cutover') ? [{ command: invoke('cutover --execute'), why }] : [];
    return [...waysBack, ...finish, ...confirmation];
  }
  if (next === null) return waysBack;
  if (phase === 'live' && retention) {
    const close = { command: invoke('run'), why: CLOSE_REASON };
    const first = `nothing is due until ${retention.until}`;
    return retention.isOver ? [close] : waysBack.map((step) => ({ ...step, first }));
  }
  const resume = { command: invoke('run'), why: next ? `continue with ${next}` : 'continue' };
  const step = COMMAND_NAMES[next] ?? next;
  const stepAlone = isBeforeWindow(phase)
    ? [{ command: invoke(`${step} --execute`), why: 'this step alone' }]
    : [];
  return [...confirmation, resume, ...stepAlone, ...waysBack];
}

/** State after a command that failed or was interrupted */
export interface Aftermath {
  /** Text with the deadline of the open window, and the command that rolls back. */
  readonly window?: string | undefined;
  readonly users?: string;
  readonly next: readonly NextStep[];
}

/** @param error the error with which the command ended */
export function describeAftermath(
  status: Status | undefined,
  stage?: string,
  error?: unknown,
): Aftermath {
  if (!status) return { next: [] };
  const steps = nextSteps(status, stage);
  const aftermath = { window: windowText(status, steps), users: usersText(status) };
  if (!(error instanceof Refusal)) return { ...aftermath, next: steps };
  const { name, data } = error;
  if (name === 'RefusedEmptied') {
    // The watch works on all runs: the refusal may concern another run.
    const command = describeInvocation('run', data.run ?? status.runId, stage);
    const removal = { command, why: 'remove what the run kept' };
    return { ...aftermath, next: repairOrAccept(removal, data) };
  }
  return { ...aftermath, next: chooseStepsAfterRefusal(error, steps, status) };
}

function windowText({ phase, deadlineAt }: Status, steps: readonly NextStep[]): string | undefined {
  const rollback = steps.find(({ why }) => why === REASONS.rollback);
  if (phase !== 'switching' || !deadlineAt || !rollback) return undefined;
  return `The window ends at ${timeText(deadlineAt)}; then it is rolled back. To roll back now: ${rollback.command}`;
}

/** Advice to follow before the next command, by the name of the refusal */
const ADVICE: {
  readonly [Name in RefusalName]?: (status: Status, data: RefusalData) => string;
} = {
  RefusedPrerequisites: (_, { finding }) =>
    `solve the named problem${finding ? `, or accept it with --accept ${finding}` : ''}`,
  RefusedOtherRun: (_, { otherRun }) =>
    `finish the other run, or abandon it with "${INVOCATION} abort --execute --run ${otherRun}"`,
  RefusedNothingToReturnTo: ({ plan }) =>
    `restore ${plan.sourceCollection} as docs/migration/guide.md shows under RefusedNothingToReturnTo`,
};

/**
 * Chooses the steps after a refusal. The same command would be refused again, so the next step has other options, or follows a
 * repair.
 */
function chooseStepsAfterRefusal(
  { name, data }: Refusal,
  steps: readonly NextStep[],
  status: Status,
): readonly NextStep[] {
  const rollback = steps.find(({ why }) => why === REASONS.rollback);
  if (rollback && data.loss !== undefined) {
    const options = `--to-snapshot --acknowledged-loss ${data.loss}`;
    const why = `${REASONS.rollback}, and leave at most ${countText(data.loss, 'write')} behind`;
    return [withOptions(rollback, options, why)];
  }
  const cutover = steps.find(({ command }) => command.includes(' cutover --execute'));
  if (cutover && data.windowMinutes !== undefined) {
    const longer = `--window-minutes ${data.windowMinutes}`;
    return [withOptions(cutover, longer, 'open a window that is long enough')];
  }
  const [step, ...others] = steps;
  if (name === 'RefusedMassChange' && rollback) {
    const why = 'leave behind all writes since the switch';
    return [...repairOrAccept(rollback, data), withOptions(rollback, '--as-it-was', why)];
  }
  if (name === 'RefusedMassChange' && step) return [...repairOrAccept(step, data), ...others];
  const first = ADVICE[name]?.(status, data);
  return first && step ? [{ ...step, first }, ...others] : steps;
}

/** Offers the step after a repair of the collection in use, or with its changes accepted as users' own. */
function repairOrAccept(step: NextStep, { deletes }: RefusalData): readonly NextStep[] {
  const repaired = { ...step, first: 'repair the collection in use' };
  if (deletes === undefined) return [repaired];
  const why = `if users deleted or changed ${countText(deletes, 'memory')} themselves`;
  return [repaired, withOptions(step, `--deletes ${deletes}`, why)];
}

function withOptions({ command }: NextStep, options: string, why: string): NextStep {
  return { command: command.replace(' --run ', ` ${options}$&`), why };
}

/** Formats the next command and its alternatives */
export function nextLines([next, ...others]: readonly NextStep[]): string[] {
  if (!next) return ['Next: nothing, the run has ended.'];
  const { command, why, first } = next;
  return [
    first ? `Next: ${first}; to ${why}: ${command}` : `Next: ${command}   (${why})`,
    ...others.map((other) => `  or: ${other.command}   (${other.why})`),
  ];
}

/** Formats the aftermath; the last line says which version users are on, and gives the next command. */
export function aftermathText({ window, users = '', next }: Aftermath): string {
  const [line = ''] = next.length > 0 ? nextLines(next) : [];
  const last = [users, line].filter((text) => text !== '').join(' ');
  return window === undefined ? last : `${window}\n${last}`;
}

/** True if writes are frozen, or cannot be known to be open */
export function mayBeFrozen({ phase }: Pick<Status, 'phase'>): boolean {
  return phase === 'switching' || phase === 'switching-back';
}

/** Says which version users are on, or whether they can write. */
export function usersText({ phase, plan, pendingAction, openedAt, frozenSince }: Status): string {
  if (phase === 'live' || phase === 'closed') {
    return `Users are on the new version, collection ${liveCollectionOf({ plan })}.`;
  }
  if (!mayBeFrozen({ phase })) return 'Users are on the old version.';
  const isUncertain =
    (phase === 'switching' && !frozenSince) ||
    pendingAction?.action === 'open-writes' ||
    Boolean(openedAt);
  return isUncertain ? 'Users may be unable to write.' : 'Users cannot write.';
}

/** Number of digits of a digest that are shown; an operator types at least as many. */
export const DIGEST_DIGITS = 12;
