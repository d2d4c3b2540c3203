// Runs a step in a separate process, as an operator at another terminal would, so that the process can be killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Resources } from '../../processes/resources.ts';

const COMMAND = join(import.meta.dirname, '../../cli/migration/migrate/migrate.ts');

export interface StepProcess {
  kill(): void;
  /** Resolves to how the process ended: a signal, or the exit code and the output. */
  readonly ended: Promise<string>;
}

export function startMigrate(
  resources: Resources,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): StepProcess {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => void child.kill('SIGKILL');
  resources.onStop(kill);
  return { kill, ended: waitForEnd(child) };
}

async function waitForEnd(child: ChildProcess): Promise<string> {
  const output = Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
  const [code, signal] = await once(child, 'close');
  return signal ?? `exit code ${code}: ${(await output).join('').trim()}`;
}
