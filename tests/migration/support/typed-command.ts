// Runs the command line in this process, with an invoker that the test gives, and collects its output and exit code.
import { PassThrough } from 'node:stream';
import type { Invoker } from '../../../cli/migration/migrate/invoker.ts';
import { createOutput, reportFailure } from '../../../cli/migration/migrate/output.ts';
import { createMigrateProgram } from '../../../cli/migration/migrate/program.ts';
import { createResources } from '../../../processes/resources.ts';

export interface TypedOptions {
  /** Text typed in answer to each question, or null for no answer; without `answers`, the input is not a terminal. */
  readonly answers?: readonly (string | null)[];
  /** Called before a question is answered. */
  readonly onQuestion?: (question: string) => void;
  readonly interruption?: AbortController;
  /** True if status lines are updated in place. */
  readonly isTerminal?: boolean;
  readonly time?: Parameters<typeof createMigrateProgram>[0]['time'];
}

interface Printed {
  readonly code: number;
  readonly output: string;
  /** Errors and questions. */
  readonly status: string;
  /** Lines of `--json` */
  readonly events: readonly Record<string, unknown>[];
}

export async function typeCommand(
  invoker: Invoker | (() => Promise<Invoker>),
  commandLine: string,
  options: TypedOptions = {},
): Promise<Printed> {
  const { answers, interruption = new AbortController(), isTerminal = false, time } = options;
  const input = Object.assign(new PassThrough(), { isTTY: answers !== undefined });
  const output = collectOutput(false);
  const status = collectOutput(isTerminal);
  const remainingAnswers = [...(answers ?? [])];
  status.stream.on('data', (chunk) => {
    const question = String(chunk);
    if (!/: $/.test(question)) return;
    options.onQuestion?.(question);
    const answer = remainingAnswers.shift();
    if (answer !== null) setImmediate(() => input.write(`${answer ?? ''}\n`));
  });
  const args = commandLine.split(' ').filter((word) => word !== '');
  const streams = {
    input: input as unknown as NodeJS.ReadStream,
    output: output.stream as unknown as NodeJS.WriteStream,
    status: status.stream as unknown as NodeJS.WriteStream,
  };
  const printed = createOutput(streams, args.includes('--json'));
  const { command, state } = createMigrateProgram({
    resources: createResources(),
    interruption,
    streams,
    output: printed,
    openInvoker: async () => (typeof invoker === 'function' ? await invoker() : invoker),
    ...(time && { time }),
  });
  const previousExitCode = process.exitCode;
  process.exitCode = 0;
  try {
    await command.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error, printed, state.guidance);
  }
  const code = Number(process.exitCode);
  process.exitCode = previousExitCode;
  const text = output.text();
  const isJson = args.includes('--json');
  const events = isJson
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];
  return { code, output: text, status: status.text(), events };
}

function collectOutput(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 100 });
  const chunks: string[] = [];
  stream.on('data', (chunk) => chunks.push(String(chunk)));
  return { stream, text: () => chunks.join('') };
}
