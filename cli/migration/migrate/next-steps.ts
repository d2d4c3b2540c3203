// Lists the next steps for a run as commands to type; the first command continues the run.
import { type Command, isBeforeWindow, isSwitching } from '../../../lib/migration/phases.ts';
import { Refusal, type RefusalData, type RefusalName } from '../../../lib/migration/refusals.ts';
import { liveCollectionOf } from '../../../lib/migration/runs/run-names.ts';
import type { Status } from '../../../lib/migration/steps/status.ts';
import { formatCount, formatTime } from './text.ts';

export const INVOCATION = 'npm run migrate --';

export interface NextStep {
  readonly name: string;
  /** The whole command, as an operator types it */
  readonly command: string;
  readonly why: string;
  /** Instruction to follow before the command */
  readonly first?: string;
}

const REASONS: Readonly<Record<string, string>> = {
  rollback: 'return to the old version',
  abort: 'abandon the run and remove what it built',
};

const EXECUTE = '--execute';

const CLOSE_REASON = 'remove what the plan removes, and close the run';

/** Steps whose command has another name */
const COMMAND_NAMES: Readonly<Record<string, string>> = { rebuild: 'copy' };

/** A run, and the stage of its functions, unless the functions run in this process */
interface Target {
  readonly runId: string;
  readonly stage?: string | undefined;
}

/** @param args argument and options of the command */
function createStep({ runId, stage }: Target, name: string, args: string, why: string): NextStep {
  const parts = [INVOCATION, name, args, `--run ${runId}`, stage && `--stage ${stage}`];
  return { name, command: parts.filter(Boolean).join(' '), why };
}

/** Lists the next steps; empty once the run has ended */
export function listNextSteps(status: Status, stage?: string): NextStep[] {
  const { runId, phase, next, moves, pendingAction, isLate, retention } = status;
  const buildStep = (name: string, args: string, why: string) =>
    createStep({ runId, stage }, name, args, why);
  const commands = new Set(moves.map(({ command }) => command));
  if (commands.size === 0) return [];
  const returnSteps = [...commands]
    .filter((command) => REASONS[command] !== undefined)
    .map((command) => buildStep(command, EXECUTE, REASONS[command] ?? ''));
  const confirmation =
    pendingAction && pendingAction.confirmedBy === null
      ? [buildStep('confirm', pendingAction.action, 'confirm that the action is done')]
      : [];
  if (isLate) {
    const why = 'finish the window: users stay on the new version';
    const finishSteps = commands.has('cutover') ? [buildStep('cutover', EXECUTE, why)] : [];
    return [...returnSteps, ...finishSteps, ...confirmation];
  }
  if (next === null) return returnSteps;
  if (phase === 'live' && retention) {
    const closeStep = buildStep('run', '', CLOSE_REASON);
    const first = `nothing is due until ${retention.until}`;
    return retention.isOver
      ? [closeStep]
      : returnSteps.map((returnStep) => ({ ...returnStep, first }));
  }
  const resume = buildStep('run', '', `continue with ${next}`);
  const stepAlone = isBeforeWindow(phase)
    ? [buildStep(COMMAND_NAMES[next] ?? next, EXECUTE, 'this step alone')]
    : [];
  return [...confirmation, resume, ...stepAlone, ...returnSteps];
}

/** Guidance for an operator whose command failed or was interrupted */
export interface Guidance {
  /** Deadline of the open window, and the command that rolls back */
  readonly window?: string | undefined;
  readonly users?: string;
  readonly next: readonly NextStep[];
}

/** @param error the error with which the command ended */
export function createGuidance(
  status: Status | undefined,
  stage?: string,
  error?: unknown,
): Guidance {
  if (!status) return { next: [] };
  const steps = listNextSteps(status, stage);
  const guidance = { window: describeWindow(status, steps), users: describeUsers(status) };
  if (!(error instanceof Refusal)) return { ...guidance, next: steps };
  const { name, data } = error;
  if (name === 'RefusedEmptied') {
    // The watch works on all runs: the refusal may concern another run.
    const target = { runId: data.run ?? status.runId, stage };
    const removal = createStep(target, 'run', '', 'remove what the run kept');
    return { ...guidance, next: repairOrAccept(target, removal, data) };
  }
  return { ...guidance, next: chooseStepsAfterRefusal(error, steps, { status, stage }) };
}

function describeWindow(
  { phase, deadlineAt }: Status,
  steps: readonly NextStep[],
): string | undefined {
  const rollback = steps.find(({ name }) => name === 'rollback');
  if (phase !== 'switching' || !deadlineAt || !rollback) return undefined;
  return `The window ends at ${formatTime(deadlineAt)}; then it is rolled back. To roll back now: ${rollback.command}`;
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
 * Chooses the steps after a refusal. The same command would be refused again, so the next step has different options, or follows a
 * repair.
 */
function chooseStepsAfterRefusal(
  { name, data }: Refusal,
  steps: readonly NextStep[],
  { status, stage }: { readonly status: Status; readonly stage: string | undefined },
): readonly NextStep[] {
  const target = { runId: status.runId, stage };
  const repeat = (step: NextStep, options: string, why: string) =>
    createStep(target, step.name, `${EXECUTE} ${options}`, why);
  const findStep = (name: Command) => steps.find((step) => step.name === name);
  const rollback = findStep('rollback');
  if (rollback && data.loss !== undefined) {
    const options = `--to-snapshot --acknowledged-loss ${data.loss}`;
    const why = `${REASONS.rollback}, and leave at most ${formatCount(data.loss, 'write')} behind`;
    return [repeat(rollback, options, why)];
  }
  const cutover = findStep('cutover');
  if (cutover && data.windowMinutes !== undefined) {
    const options = `--window-minutes ${data.windowMinutes}`;
    return [repeat(cutover, options, 'open a window that is long enough')];
  }
  const [step, ...otherSteps] = steps;
  if (name === 'RefusedMassChange' && rollback) {
    const asItWas = repeat(rollback, '--as-it-was', 'leave behind all writes since the switch');
    return [...repairOrAccept(target, rollback, data), asItWas];
  }
  if (name === 'RefusedMassChange' && step) {
    return [...repairOrAccept(target, step, data), ...otherSteps];
  }
  const first = ADVICE[name]?.(status, data);
  return first && step ? [{ ...step, first }, ...otherSteps] : steps;
}

/** Offers the step after a repair of the active collection. If `deletes` is known, also offers to accept users' own changes. */
function repairOrAccept(
  target: Target,
  step: NextStep,
  { deletes }: RefusalData,
): readonly NextStep[] {
  const repaired = { ...step, first: 'repair the active collection' };
  if (deletes === undefined) return [repaired];
  const why = `if users deleted or changed ${formatCount(deletes, 'memory')} themselves`;
  // "run" makes changes without --execute.
  const execute = step.name === 'run' ? '' : `${EXECUTE} `;
  return [repaired, createStep(target, step.name, `${execute}--deletes ${deletes}`, why)];
}

/** Formats the next command and its alternatives */
export function formatNextSteps([next, ...otherSteps]: readonly NextStep[]): string[] {
  if (!next) return ['Next: nothing, the run has ended.'];
  const { command, why, first } = next;
  return [
    first ? `Next: ${first}; to ${why}: ${command}` : `Next: ${command}   (${why})`,
    ...otherSteps.map((other) => `  or: ${other.command}   (${other.why})`),
  ];
}

/**
 * Formats the guidance: which version users are on, and the next command; if a repair must come first, also the alternatives to
 * the command.
 */
export function formatGuidance({ window, users = '', next }: Guidance): string {
  const [nextLine = '', ...otherLines] = next.length > 0 ? formatNextSteps(next) : [];
  const usersAndNext = [users, nextLine].filter((text) => text !== '').join(' ');
  const alternatives = next[0]?.first === undefined ? [] : otherLines;
  return [...(window === undefined ? [] : [window]), usersAndNext, ...alternatives].join('\n');
}

/** Says which version users are on, or whether they can write. */
export function describeUsers(status: Status): string {
  const { phase, plan, pendingAction, openedAt, frozenSince } = status;
  if (phase === 'live' || phase === 'closed') {
    return `Users are on the new version, collection ${liveCollectionOf({ plan })}.`;
  }
  if (!isSwitching(phase)) {
    const collection = findOldCollection(status);
    const users = `Users are on the old version, collection ${collection}.`;
    const usesOtherCollection = collection !== plan.sourceCollection;
    return usesOtherCollection ? `${users} Another run needs --source ${collection}.` : users;
  }
  const isUncertain =
    (phase === 'switching' && !frozenSince) ||
    pendingAction?.action === 'open-writes' ||
    Boolean(openedAt);
  return isUncertain ? 'Users may be unable to write.' : 'Users cannot write.';
}

/** Collection of the old version: after a rollback it may be the restored snapshot. */
function findOldCollection({ plan, evidence }: Status): string {
  const { facts } = evidence.find(({ kind }) => kind === 'rollback-report') ?? {};
  return String(facts?.returnedTo ?? plan.sourceCollection);
}

/** Number of digits of a digest that are shown; an operator types at least as many. */
export const DIGEST_DIGITS = 12;
