// Runs a program of this project in the terminal of the calling program.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** @returns the exit code of the program */
export async function runInTerminal(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  // On Ctrl-C this process only waits: the terminal sends SIGINT to the child as well, which cleans up and ends by itself.
  const ignoreSignal = () => undefined;
  const forwardSignal = () => child.kill('SIGTERM');
  process.on('SIGINT', ignoreSignal).on('SIGTERM', forwardSignal);
  const [code] = await once(child, 'exit');
  process.off('SIGINT', ignoreSignal).off('SIGTERM', forwardSignal);
  return code ?? 1;
}
