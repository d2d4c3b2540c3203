// Prints the command line's output: lines for people, or one JSON object per line. At a terminal, progress is updated in place.
import { clearLine, cursorTo } from 'node:readline';
import { styleText } from 'node:util';
import { CommanderError } from '@commander-js/extra-typings';
import { messageWithoutData, Refusal } from '../../../lib/migration/refusals.ts';
import { translateFailure } from '../../../lib/migration/runs/failures.ts';
import type { LogEntry } from '../../../lib/shared/log.ts';
import { isPrintable, maskUnprintable, toWords } from '../../../lib/shared/printable.ts';
import { formatGuidance, type Guidance, type NextStep } from './next-steps.ts';
import { formatTime } from './text.ts';

export const EXIT = { done: 0, failed: 1, wrongUse: 2, refused: 3 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Streams {
  readonly input: NodeJS.ReadStream;
  /** Results and the lines of `run` */
  readonly output: NodeJS.WriteStream;
  /** Errors, questions, and progress that the next line replaces */
  readonly status: NodeJS.WriteStream;
}

/** Machine-readable content of a line */
export interface Event {
  readonly event: string;
  readonly [field: string]: unknown;
}

export type Output = ReturnType<typeof createOutput>;

const MARKS = { done: ['green', '✓'], failed: ['red', '✗'], warning: ['yellow', '!'] } as const;

export function createOutput({ output, status }: Streams, isJson: boolean) {
  let hasProgressLine = false;

  function clear(): void {
    if (!hasProgressLine) return;
    clearLine(status, 0);
    cursorTo(status, 0);
    hasProgressLine = false;
  }

  return {
    isJson,
    /** True at a terminal, where a line can be replaced */
    isLive: status.isTTY === true && !isJson,
    /** Prints a line for people, or the object for machines. */
    line(text: string, event: Event, next: readonly NextStep[] = []): void {
      clear();
      const formatEvent = () =>
        JSON.stringify({ ...event, next_steps: next.map(({ command }) => command) });
      output.write(`${isJson ? formatEvent() : toPrintable(text)}\n`);
    },
    /** Prints a line for people only, on standard error. */
    note(text: string): void {
      clear();
      if (!isJson) status.write(`${toPrintable(text)}\n`);
    },
    /** Prints a log entry of a function on standard error, in words for people. */
    log({ level, message, ...fields }: LogEntry): void {
      clear();
      const details = Object.entries(fields).map(([name, value]) => `${toWords(name)}: ${value}`);
      const line = isJson
        ? JSON.stringify({ level, message, ...fields })
        : toPrintable([message, ...details].join('; '));
      status.write(`${line}\n`);
    },
    /** At a terminal, shows a text until the next line replaces it. */
    show(text: string): void {
      if (status.isTTY !== true || isJson) return;
      clear();
      status.write(toPrintable(text).slice(0, (status.columns ?? 80) - 1));
      hasProgressLine = true;
    },
    clear,
    /** A tick, a cross or an exclamation mark, coloured at a terminal. */
    mark(kind: keyof typeof MARKS): string {
      const [colour, sign] = MARKS[kind];
      return styleText(colour, sign, { stream: output });
    },
    bold: (text: string) => styleText('bold', text, { stream: output }),
  };
}

export function chooseExitCode(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.wrongUse;
  return error instanceof Refusal ? EXIT.refused : EXIT.failed;
}

/** Prints a failure and the next command. @returns the exit code */
export function reportFailure(
  cause: unknown,
  output: Output,
  guidance: Guidance = { next: [] },
): ExitCode {
  const { next } = guidance;
  const failure = translateFailure(cause);
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const exitCode = chooseExitCode(error);
  // If no command was typed, commander has already printed the usage.
  const isPrinted = error instanceof CommanderError && error.code === 'commander.help';
  if (exitCode === EXIT.done || isPrinted) return exitCode;
  const { name } = error;
  const message = messageWithoutData(error);
  if (output.isJson) {
    output.line('', { event: 'error', exitCode, error: { name, message } }, next);
  } else if (exitCode === EXIT.wrongUse) {
    output.note(`${message}\nAdd --help to see the options.`);
  } else {
    output.note(`${name}: ${message}`);
    const nextLines = formatGuidance(guidance);
    if (nextLines !== '') output.note(nextLines);
  }
  return exitCode;
}

// Masks control characters: text that an older version accepted into a record must not move the cursor or forge a line.
function toPrintable(text: string): string {
  const readable = text.replace(ISO_TIMES, formatTime);
  const plain = readable.replaceAll('\n', '').replace(STYLE_CODES, '');
  if (isPrintable(plain)) return readable;
  return readable.split('\n').map(maskUnprintable).join('\n');
}

/** Times in the messages of functions. These have the ISO format, because machines read the messages, too. */
const ISO_TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the styles of `styleText` begin with a control character
const STYLE_CODES = /\u001b\[\d+m/g;
