// Runs a program of this project in the terminal of the calling program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** @returns the exit code of the program */
export async function runInherited(words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, words, { stdio: 'inherit' });
  // On Ctrl-C this process only waits: the terminal sends SIGINT to the child as well, which cleans up and ends by itself.
  const wait = () => undefined;
  const end = () => child.kill('SIGTERM');
  process.on('SIGINT', wait).on('SIGTERM', end);
  const [code] = await once(child, 'exit');
  process.off('SIGINT', wait).off('SIGTERM', end);
  return code ?? 1;
}
