// Runs a command in its own process, as a person would.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BARE_ENVIRONMENT } from './bare-environment.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * @param program such as `cli/ledger/keys.ts`
 * @param kill when aborted, kills the process with a signal that the process cannot handle
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  environment?: NodeJS.ProcessEnv,
  kill?: AbortSignal,
): Promise<CommandResult> {
  return await startCommand(program, args, environment, kill).ended;
}

/** Starts a command for a caller that listens to it while it runs. */
export function startCommand(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  kill?: AbortSignal,
) {
  const command = [join(import.meta.dirname, '../../..', program), ...args];
  // The command runs outside the project, whose data folder belongs to the developer.
  const location = { env: { ...BARE_ENVIRONMENT, ...environment }, cwd: tmpdir() };
  const options = { ...location, ...(kill && { signal: kill }), killSignal: 'SIGKILL' } as const;
  const { promise: ended, resolve } = Promise.withResolvers<CommandResult>();
  const child = execFile(process.execPath, command, options, (error, stdout, stderr) => {
    resolve({ code: Number(error?.code ?? 0), stdout, stderr });
  });
  child.stdin?.end();
  return { child, ended };
}
