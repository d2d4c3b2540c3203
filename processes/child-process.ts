// Starts a program, forwards its output lines, and stops it with every process that it has started.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

export interface ChildCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly folder?: string;
  /** Called with every line of standard output and standard error. */
  readonly onLine?: (line: string) => void;
  /** How long the program may take to end after SIGTERM, before SIGKILL. */
  readonly graceMilliseconds?: number;
}

export interface Child {
  readonly pid: number;
  /** Resolves to how the program ended, such as `ended with exit code 1`; never rejects. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

// The child leads its own process group, so that Ctrl-C in a terminal reaches only this process, which stops its children in
// order, and one signal reaches the child with all its descendants. The shell's `read` returns when this process's end of the
// pipe closes, even after a SIGKILL: then the group kills itself, and no orphan is left.
const WITH_LIFELINE = 'exec 3<&0 </dev/null; { read -r _ <&3; kill -s KILL 0; } & exec "$@" 3<&-';

/** How a platform starts a program, and ends it with every process that it has started. */
export interface ProcessPlatform {
  launch(command: string, args: readonly string[]): Launch;
  /** @throws Error with the code ESRCH if the process no longer exists */
  signalTree(pid: number, signal: NodeJS.Signals): void;
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** True if the program leads its own process group. */
  readonly detached: boolean;
}

export const POSIX: ProcessPlatform = {
  launch: (command, args) => ({
    command: 'sh',
    args: ['-c', WITH_LIFELINE, 'lifeline', command, ...args],
    detached: true,
  }),
  signalTree: (pid, signal) => void process.kill(-pid, signal),
};

/**
 * Windows has no signals and no process groups, and ends the children of a Node process along with it. npm is a shell script
 * there.
 */
export const WINDOWS: ProcessPlatform = {
  launch: (command, args) =>
    command === 'npm'
      ? { command: 'cmd.exe', args: ['/d', '/c', command, ...args], detached: false }
      : { command, args, detached: false },
  signalTree(pid) {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' }).on('error', () => {});
  },
};

const PLATFORM = process.platform === 'win32' ? WINDOWS : POSIX;

export function startChild(spec: ChildCommand): Child {
  const { command, args, detached } = PLATFORM.launch(spec.command, spec.args);
  const child = spawn(command, args, {
    cwd: spec.folder,
    env: spec.environment,
    detached,
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const pid = child.pid ?? 0;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  forwardLines(child, spec.onLine ?? (() => {}));
  async function stop(): Promise<void> {
    signalGroup(pid, 'SIGTERM');
    await Promise.race([closed, delay(spec.graceMilliseconds ?? 1000, null, { ref: false })]);
    signalGroup(pid, 'SIGKILL');
    await closed;
  }
  // Signals are sent once: another program may get the same process id, even hours later.
  let stopped: Promise<void> | undefined;
  return {
    pid,
    ended: awaitEnd(child),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** Describes the end of a program that exited by itself. */
export function describeExit(code: number | null): string {
  return `ended with exit code ${code}`;
}

function awaitEnd(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      resolve(signal ? `ended by ${signal}` : describeExit(code));
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
    PLATFORM.signalTree(pid, signal);
  } catch (error) {
    // The group has no processes left.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
