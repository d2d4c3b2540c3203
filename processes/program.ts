// Runs the command-line programs of this project: all parse options, report errors and stop in the same way.
import { execFile } from 'node:child_process';
import {
  Command,
  CommanderError,
  type CommandUnknownOpts,
  InvalidArgumentError,
  Option,
} from '@commander-js/extra-typings';
import { maskUnprintable } from '../lib/shared/printable.ts';
import { firstLine } from '../lib/shared/user-error.ts';
import { createResources, type Resources } from './resources.ts';

export const EXIT = { done: 0, failed: 1, wrongUse: 2 } as const;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const NPM_CHECK_MILLISECONDS = 500;

export interface ProgramOptions {
  /** Released when the program ends, however it ends. */
  readonly resources?: Pick<Resources, 'stop'>;
  /** Reports an error and returns the exit code. */
  readonly onError?: (error: unknown) => number;
  /** Exit code of a program that a signal stops; `done` for a server. */
  readonly exitCodeOnSignal?: number;
  /** Shown when a signal arrives. */
  readonly messageOnSignal?: () => string;
  /** Shown after a signal, once all resources are released or `stopMilliseconds` have passed. */
  readonly messageWhenStopped?: (isReleased: boolean) => string;
  /** How long releasing may take before the process exits anyway; without it, there is no limit. */
  readonly stopMilliseconds?: number;
}

/** @param invocation the command as typed in a terminal, such as `npm run seed --` */
export function createCommand(invocation: string, description: string) {
  return new Command(invocation)
    .description(description)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .hook('preAction', refuseStageTakenByNpm);
}

/**
 * Refuses `npm run keys --stage prod list`: without a "--" npm keeps the option for itself, so the command would work on the local
 * database. npm passes the option on only as an environment variable.
 */
function refuseStageTakenByNpm(program: CommandUnknownOpts, command: CommandUnknownOpts): void {
  const stage = process.env.npm_config_stage;
  const acceptsStage = [program, command].some(({ options }) =>
    options.some(({ long }) => long === '--stage'),
  );
  if (!stage || !acceptsStage) return;
  if (command.getOptionValueSourceWithGlobals('stage') === 'cli') return;
  command.error(
    `error: npm took --stage ${stage} for itself. Type "--" before all arguments: ${program.name()} ...`,
  );
}

/**
 * Runs the action of the command that the arguments name, releases its resources, and exits, with `process.exitCode` if the
 * action has set it.
 */
export async function runProgram(
  command: { parseAsync(): Promise<unknown> },
  options: ProgramOptions = {},
): Promise<void> {
  const { resources = createResources(), onError = reportError, messageOnSignal } = options;
  const { exitCodeOnSignal = EXIT.failed, stopMilliseconds, messageWhenStopped } = options;
  maskConsole();
  let isStopping = false;
  let isInterrupted = false;

  function exit(exitCode: number, isReleased: boolean): never {
    if (isInterrupted && messageWhenStopped) console.error(messageWhenStopped(isReleased));
    process.exit(exitCode);
  }
  async function stop(exitCode: number): Promise<void> {
    isStopping = true;
    if (stopMilliseconds !== undefined) setTimeout(() => exit(exitCode, false), stopMilliseconds);
    try {
      await resources.stop();
      exit(exitCode, true);
    } catch (error) {
      console.error(`Not everything could be removed: ${firstLine(error)}`);
      process.exit(exitCode || EXIT.failed);
    }
  }
  function interrupt(): void {
    // A terminal and npm both pass Ctrl-C on, so a signal may arrive twice.
    if (isStopping) return;
    isInterrupted = true;
    if (messageOnSignal) console.error(messageOnSignal());
    stop(exitCodeOnSignal);
  }

  for (const signal of SIGNALS) process.on(signal, interrupt);
  process.once('uncaughtException', (error) => !isStopping && stop(onError(error)));
  // A closed pipe, as in `npm start | head`, does not stop the program.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  interruptWithNpm(interrupt);

  try {
    await command.parseAsync();
  } catch (error) {
    if (!isStopping) process.exitCode = onError(error);
  }
  if (!isStopping) await stop(Number(process.exitCode ?? EXIT.done));
}

/** Prints one line for an error, and two if the command was used wrongly. @returns the exit code */
export function reportError(error: unknown, exitCode: number = EXIT.failed): number {
  if (!(error instanceof CommanderError)) {
    console.error(firstLine(error));
    return exitCode;
  }
  if (error.exitCode === EXIT.done) return EXIT.done;
  // If no command was typed, the usage has already been printed.
  if (error.code === 'commander.help') return EXIT.wrongUse;
  console.error(`${error.message}\nAdd --help to see the options.`);
  return EXIT.wrongUse;
}

/**
 * Masks control characters: output may quote a row, an argument or a file of unknown origin, and no part of it may reach the
 * terminal as a control sequence.
 */
function maskConsole(): void {
  for (const name of ['log', 'warn', 'error'] as const) {
    const print = console[name].bind(console);
    console[name] = (...parts: unknown[]) =>
      print(...parts.map((part) => (typeof part === 'string' ? maskLines(part) : part)));
  }
}

function maskLines(text: string): string {
  return text.split('\n').map(maskUnprintable).join('\n');
}

/** Returns a parser for an option whose value is a whole number in this range. */
export function createNumberParser({
  min,
  max = Number.MAX_SAFE_INTEGER,
}: {
  min: number;
  max?: number;
}) {
  return (text: string): number => {
    const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`Use a whole number ${range}.`);
  };
}

/** Creates the option that makes a program work on AWS instead of this machine. */
export function createStageOption(
  description = 'the deployed stage, such as prod; without it, the local database',
) {
  return new Option('--stage <name>', description).argParser((text) => {
    if (/^[a-zA-Z0-9-]{1,40}$/.test(text)) return text;
    throw new InvalidArgumentError('Use 1 to 40 letters, digits or hyphens.');
  });
}

/** Parses an option whose value is an HTTP address, without a trailing slash. */
export function parseHttpAddress(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/$/, '');
  throw new InvalidArgumentError('Use an address like http://localhost:3000.');
}

// Stops the program when npm ends without a signal: npm passes signals on, but cannot if it is killed outright. Some shells
// stay between npm and this program, and outlive npm, so npm's own process is watched.
function interruptWithNpm(interrupt: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  let npmPid = parent;
  // Windows has no `ps`, so the parent is watched there even if it is a shell.
  execFile('ps', ['-o', 'ppid=,comm=', '-p', String(parent)], (_, output) => {
    const [, pid, name = ''] = /^\s*(\d+)\s+(\S+)/.exec(output) ?? [];
    if (/(^|[/-])(|a|ba|da|z|k)sh$/.test(name)) npmPid = Number(pid);
  });
  const checkNpm = () => (process.ppid !== parent || !isRunning(npmPid)) && interrupt();
  setInterval(checkNpm, NPM_CHECK_MILLISECONDS).unref();
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
