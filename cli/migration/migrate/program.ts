// Declares the commands for commander, and runs the one that was typed.
import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { Argument } from '@commander-js/extra-typings';
import { EXTERNAL_ACTIONS } from '../../../lib/migration/phases.ts';
import { isRefusal, Refusal } from '../../../lib/migration/refusals.ts';
import type { PreflightResult } from '../../../lib/migration/steps/preflight.ts';
import { firstLine } from '../../../lib/shared/user-error.ts';
import { createCommand } from '../../../processes/program.ts';
import type { Resources } from '../../../processes/resources.ts';
import { type Ask, confirmRun, createAsk } from '../../prompt.ts';
import { COMMANDS, COMMON_OPTIONS, type CommandName, getCommand } from './commands.ts';
import { checkPrerequisites, type DriveOptions, drive, driveWindow } from './drive.ts';
import { type Invoker, type Needs, type Payload, UNKNOWN_RUN } from './invoker.ts';
import {
  createGuidance,
  formatNextSteps,
  type Guidance,
  INVOCATION,
  listNextSteps,
} from './next-steps.ts';
import { buildPayload, OPTIONS, type TypedOptions } from './options.ts';
import { EXIT, type ExitCode, type Output, type Streams } from './output.ts';
import { formatPlan } from './plan-text.ts';
import { renderReportPage } from './report-page.ts';
import {
  capitalise,
  createSession,
  findRun,
  readStatus,
  runStep,
  type Session,
} from './run-step.ts';
import { formatLeftBehind, formatStatus } from './status-text.ts';
import { formatConfirmation, formatCount, formatFacts } from './text.ts';

interface ProgramParts {
  readonly resources: Resources;
  readonly interruption: AbortController;
  readonly streams: Streams;
  readonly output: Output;
  readonly openInvoker: OpenInvoker;
  /** Replaces the clock of the process in tests */
  readonly time?: Partial<Pick<Session, 'now' | 'sleep' | 'nextPoll'>>;
}

/** @throws Refusal naming every variable that is missing or unusable */
export type OpenInvoker = (request: {
  readonly stage: string | undefined;
  readonly needs: Needs;
}) => Promise<Invoker>;

/** State for the messages about a failure or an interruption */
export interface ProgramState {
  guidance: Guidance;
  stage: string | undefined;
}

const ARGUMENTS: { readonly [Name in CommandName]?: Argument<string> } = {
  confirm: new Argument('<action>', 'the action that is done').choices(EXTERNAL_ACTIONS),
  report: new Argument('[file]', 'where to write it (default: standard output)'),
};

/** Commands that need only the table with the runs */
const RECORD_COMMANDS: readonly CommandName[] = ['status', 'confirm', 'report'];

interface TypedCommand {
  readonly name: CommandName;
  readonly typedOptions: TypedOptions;
  readonly argument: string | undefined;
}

export function createMigrateProgram(parts: ProgramParts) {
  const state: ProgramState = { guidance: { next: [] }, stage: undefined };
  const program = createCommand(INVOCATION, 'Migrate the memory backend to its next major version.')
    .configureOutput({
      writeOut: (text) => parts.streams.output.write(text),
      writeErr: (text) => parts.streams.status.write(text),
    })
    .addHelpText(
      'after',
      '\nExit codes: 0 done, or nothing to do; 1 failed, may succeed when repeated; 2 wrong use; 3 refused.',
    );
  for (const name of Object.keys(COMMANDS) as CommandName[]) {
    const { description, options } = getCommand(name);
    const command = program.command(name).description(description);
    for (const option of [...COMMON_OPTIONS, ...options]) command.addOption(OPTIONS[option]);
    const commandArgument = ARGUMENTS[name];
    if (commandArgument) command.addArgument(commandArgument);
    command.action(async (...commandArguments: unknown[]) => {
      const [argument, typedOptions] = commandArgument
        ? commandArguments
        : [undefined, ...commandArguments];
      await runTypedCommand(parts, state, {
        name,
        typedOptions: typedOptions as TypedOptions,
        argument: argument as string,
      });
    });
  }
  return { command: program, state };
}

async function runTypedCommand(parts: ProgramParts, state: ProgramState, command: TypedCommand) {
  const { name, typedOptions } = command;
  const { resources, interruption, streams, output } = parts;
  const { signal } = interruption;
  const { stage } = typedOptions;
  state.stage = stage;
  const invoker = await parts.openInvoker({ stage, needs: determineNeeds(command) });
  const session = { ...createSession({ invoker, output, signal }), ...parts.time };
  const ask = createAsk(streams, signal);
  const commandRun = keepGuidanceOnError(session, state, typedOptions, () =>
    name === 'run'
      ? drive(
          createDriveOptions(session, ask, { typedOptions, payload: buildPayload(typedOptions) }),
        )
      : name === 'report'
        ? showReport(session, command, streams)
        : runOnce({ ...command, session, ask }),
  );
  // Stopping waits for the step, which must release its lock.
  resources.onStop(async () => {
    // The guidance is set first, because the step may not stop in time.
    state.guidance = createGuidance(session.lastSeen.status, stage);
    interruption.abort(new Error('Interrupted'));
    await Promise.allSettled([commandRun]);
  });
  process.exitCode = await commandRun;
}

function determineNeeds({ name, typedOptions }: TypedCommand): Needs {
  if (RECORD_COMMANDS.includes(name)) return 'record';
  return typedOptions.backendOnly ? 'backend' : 'services';
}

async function keepGuidanceOnError<Result>(
  session: Session,
  state: ProgramState,
  { run }: TypedOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { runId = run } = session.lastSeen;
    // Reading the status may fail for the same reason as the command. Then the last known status is used.
    const status = await readStatus(session, runId).catch(() => session.lastSeen.status);
    state.guidance = createGuidance(status, session.invoker.stage, error);
    throw error;
  }
}

type RunOnceOptions = TypedCommand & { readonly session: Session; readonly ask: Ask };

function createDriveOptions(
  session: Session,
  ask: Ask,
  { typedOptions, payload }: { readonly typedOptions: TypedOptions; readonly payload: Payload },
): DriveOptions {
  const { yes, by = userInfo().username, report } = typedOptions;
  return { session, ask, payload, isConfirmed: yes === true, person: by, report };
}

/** Runs one command to its end, however often the function must be invoked. */
async function runOnce({
  session,
  ask,
  name,
  typedOptions,
  argument,
}: RunOnceOptions): Promise<ExitCode> {
  const { invoker, output } = session;
  if (name === 'run' || name === 'status' || name === 'report') {
    return await showStatus(session, typedOptions);
  }
  const input = buildPayload(typedOptions);
  const runId = typedOptions.run ?? (await findRun(session, input, typedOptions.backendOnly)).runId;
  const payload = { ...input, runId };
  if (name === 'cutover' && typedOptions.execute) {
    return await driveWindow(createDriveOptions(session, ask, { typedOptions, payload }));
  }
  const { needsConfirmation, description } = getCommand(name);
  if (needsConfirmation && typedOptions.execute && (await isAccepted(session, name, runId))) {
    const loss = typedOptions.asItWas
      ? ', and leave behind all writes since the switch'
      : describeLoss(typedOptions.acknowledgedLoss);
    const consequence = `${description}${loss}`;
    if (!typedOptions.yes) await confirmRun(ask, { runId, action: consequence });
    output.note(formatConfirmation(typedOptions.yes ? '--yes' : 'the run id', consequence));
  }
  const result = await invokeCommand(session, {
    name,
    payload,
    action: argument,
    by: typedOptions.by,
  });
  const status = await readStatus(session, runId).catch((error: unknown) => {
    // After a dry run of the preflight, the run does not exist yet.
    if (!isRefusal(error, UNKNOWN_RUN)) {
      output.note(`The status of the run is not available: ${firstLine(error)}`);
    }
    return undefined;
  });
  const next = status ? listNextSteps(status, invoker.stage) : [];
  const lines = [
    ...(typedOptions.backendOnly ? [] : formatResult(name, result)),
    ...(status ? [...formatLeftBehind(status), ...formatNextSteps(next)] : []),
  ];
  const event = { event: name, exitCode: EXIT.done, result: result ?? null };
  output.line(lines.join('\n'), event, next);
  return EXIT.done;
}

function describeLoss(writes: number | undefined): string {
  return writes === undefined ? '' : `, and leave at most ${formatCount(writes, 'write')} behind`;
}

/** False if the command would be refused: then no confirmation is asked. */
async function isAccepted(session: Session, name: CommandName, runId: string): Promise<boolean> {
  const status = await readStatus(session, runId).catch(() => undefined);
  return !status || status.moves.some(({ command }) => command === name);
}

interface Invocation {
  readonly name: Exclude<CommandName, 'run' | 'status' | 'report'>;
  readonly payload: Payload;
  readonly action: string | undefined;
  readonly by: string | undefined;
}

async function invokeCommand(
  session: Session,
  { name, payload, action, by = userInfo().username }: Invocation,
): Promise<unknown> {
  if (name === 'confirm') {
    const { runId } = payload;
    return await session.invoker.invoke('confirm', { runId, action, confirmedBy: by });
  }
  if (name === 'preflight') return await checkPrerequisites(session, payload);
  if (name === 'copy') {
    const { runId, execute = false, deletes } = payload;
    const { next } = await readStatus(session, String(runId));
    const rebuildPayload = { runId, execute, ...(deletes !== undefined && { deletes }) };
    const rebuildResult = next === 'rebuild' && (await runStep(session, next, rebuildPayload));
    if (rebuildResult && !execute) return rebuildResult;
  }
  return await runStep(session, name, payload);
}

async function showReport(
  session: Session,
  { typedOptions, argument: file }: TypedCommand,
  streams: Streams,
): Promise<ExitCode> {
  const { output } = session;
  const page = renderReportPage(await readStatus(session, typedOptions.run));
  if (file !== undefined) {
    await writeFile(file, page).catch((cause: unknown) => {
      throw new Refusal('RefusedSetting', `The report cannot be written: ${firstLine(cause)}.`, {
        cause,
      });
    });
  }
  const event = {
    event: 'report',
    exitCode: EXIT.done,
    ...(file === undefined ? { page } : { file }),
  };
  if (file !== undefined || output.isJson) output.line(`The report is in ${file}`, event);
  else streams.output.write(page);
  return EXIT.done;
}

async function showStatus(session: Session, { run }: TypedOptions): Promise<ExitCode> {
  const { invoker, output } = session;
  const status = await readStatus(session, run);
  const next = listNextSteps(status, invoker.stage);
  const event = { event: 'status', exitCode: EXIT.done, where: invoker.where, result: status };
  output.line(formatStatus(status, invoker), event, next);
  return EXIT.done;
}

function formatResult(name: CommandName, result: unknown): string[] {
  if (name === 'preflight') return ['Plan:', ...formatPlan((result as PreflightResult).plan)];
  const { dryRun, done, phase, forecast, confirmedBy, action, runId } = (result ?? {}) as Payload;
  if (dryRun) {
    return [
      `${capitalise(name)}: a dry run, nothing was changed. With --execute:`,
      ...formatFacts(forecast as Payload).map((line) => `  ${line}`),
    ];
  }
  if (confirmedBy)
    return [formatConfirmation(String(confirmedBy), `"${action}" of run ${runId} is done`)];
  if (phase === undefined) return [`${capitalise(name)}: nothing is due`];
  if (name === 'rollback' && phase === 'copied') {
    return [`${capitalise(name)}: done, users are on the old version and can write`];
  }
  return [`${capitalise(name)}: ${done ? 'done' : 'not yet'}, the run is ${phase}`];
}
