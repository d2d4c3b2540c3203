// What the command line says to people and to machines.
import type { Status } from '../../lib/migration/steps/status.ts';
import { ACTS, COMMANDS, type CommandName, commandNamed } from './commands.ts';
import { OPTIONS, type Option } from './options.ts';
import { optionsOf } from './read-order.ts';
import { nextLines, statusAsText } from './status-text.ts';
import { COMMAND_LINE, whatsNext } from './whats-next.ts';

export const EXIT = { done: 0, failed: 1, wrongUse: 2, refused: 3 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Answer {
  readonly command: CommandName;
  readonly result: unknown;
  /** Undefined while there has been no run. */
  readonly status: Status | undefined;
  readonly stage: string | undefined;
}

export function answerAsJson({ command, result, status, stage }: Answer): string {
  const next = status ? whatsNext(status, stage) : [];
  return JSON.stringify({ command, exitCode: EXIT.done, result: result ?? null, next });
}

export function answerAsText({ command, result, status, stage }: Answer): string {
  if (command === 'status' && status) return statusAsText(status, stage);
  return [...resultLines(command, result), ...(status ? nextLines(status, stage) : [])].join('\n');
}

export function failureAsJson({ name, message }: Error, exitCode: ExitCode): string {
  return JSON.stringify({ exitCode, error: { name, message } });
}

function resultLines(command: CommandName, result: unknown): string[] {
  const { dryRun, done, phase, forecast, approvedUntil } = (result ?? {}) as Record<
    string,
    unknown
  >;
  if (dryRun) {
    const found = JSON.stringify(forecast, null, 2);
    return [
      `${command}: a dry run, nothing was changed; --execute does it. It would come to this:`,
      found,
    ];
  }
  if (approvedUntil) return [`approved until ${approvedUntil}`];
  if (phase === undefined) return [`${command}: nothing is due`];
  return [
    done ? `${command}: done, the run is ${phase}` : `${command}: not yet, the run is ${phase}`,
  ];
}

export function helpAsJson(name?: CommandName): string {
  return JSON.stringify({ exitCode: EXIT.done, help: helpOn(name) });
}

export function helpOn(name?: CommandName): string {
  return name === undefined ? helpOnAll() : helpOnOne(name);
}

function helpOnAll(): string {
  const rows = Object.entries(COMMANDS).map(([name, { does }]) => `  ${name.padEnd(10)} ${does}`);
  return [
    `${COMMAND_LINE} COMMAND [OPTIONS]; COMMAND --help tells its options`,
    ...rows,
    'Exit code 0: done, or nothing to do yet; 1: failed, may succeed when tried again; 2: wrong use; 3: refused.',
  ].join('\n');
}

function helpOnOne(name: CommandName): string {
  const { does, by, acts, needs } = commandNamed(name);
  const rows = optionsOf(name).map((option) => {
    const { value, says }: Option = OPTIONS[option];
    const need = needs.includes(option) ? ' (needed)' : '';
    return `  ${`--${option}${value ? ` ${value}` : ''}`.padEnd(24)} ${says}${need}`;
  });
  return [`${name}: ${does}. By ${by}. ${ACTS[acts]}`, ...rows].join('\n');
}
