// A command as a person runs it, in a process of its own.
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BARE_ENVIRONMENT } from './bare-environment.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * @param program such as `cli/ledger/keys.ts`
 * @param killed kills the process, which cannot do anything about it
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  environment?: NodeJS.ProcessEnv,
  killed?: AbortSignal,
): Promise<Ended> {
  return await startCommand(program, args, environment, killed).ended;
}

/** For a caller that listens to it meanwhile. */
export function startCommand(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  killed?: AbortSignal,
) {
  const command = [join(import.meta.dirname, '../../..', program), ...args];
  // Not in the project, whose data folder is the developer's.
  const place = { env: { ...BARE_ENVIRONMENT, ...environment }, cwd: tmpdir() };
  const options = { ...place, ...(killed && { signal: killed }), killSignal: 'SIGKILL' } as const;
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const child = execFile(process.execPath, command, options, (error, stdout, stderr) => {
    resolve({ code: Number(error?.code ?? 0), stdout, stderr });
  });
  child.stdin?.end();
  return { child, ended };
}
