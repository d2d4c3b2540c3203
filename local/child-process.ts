// One program that we start: its lines, its end, and its stop together with everything it started itself.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly folder?: string;
  /** Hears every line of standard output and standard error. */
  readonly onLine?: (line: string) => void;
  /** How long the program may take to end by itself when it is stopped. */
  readonly graceMilliseconds?: number;
}

export interface Child {
  readonly pid: number;
  /** Resolves to a word on how it ended; never rejects. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

// The child leads a process group of its own. So Ctrl-C in a terminal reaches us alone, who stop things in
// order, and one signal reaches the child with all its descendants. The shell's `read` returns when our end of
// the pipe closes, even when we are killed outright: then the group kills itself, and no orphan stays behind.
const WITH_LIFELINE = 'exec 3<&0 </dev/null; { read -r _ <&3; kill -s KILL 0; } & exec "$@" 3<&-';

export function startChild(spec: ChildCommand): Child {
  const child = spawn('sh', ['-c', WITH_LIFELINE, 'lifeline', spec.command, ...spec.args], {
    cwd: spec.folder,
    env: spec.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  forwardLines(child, spec.onLine ?? (() => {}));
  return {
    pid,
    ended: endOf(child),
    async stop() {
      signalGroup(pid, 'SIGTERM');
      await Promise.race([closed, delay(spec.graceMilliseconds ?? 1000, null, { ref: false })]);
      signalGroup(pid, 'SIGKILL');
      await closed;
    },
  };
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      resolve(signal ? `ended by ${signal}` : `ended with exit code ${code}`);
      child.stdin?.destroy();
    });
    child.stdin?.on('error', () => {});
  });
}

function forwardLines(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on('line', onLine);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid === 0) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Nobody is left in the group: that is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
