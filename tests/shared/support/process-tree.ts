// Finds the descendants of a process with the tools of the operating system.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes that a process has started, and those that they have. */
export function listDescendants(pid: number): ProcessEntry[] {
  const all = runningProcesses();
  const below = (parent: number): ProcessEntry[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

/** Those of them that run still. */
export function listSurvivors(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const all = runningProcesses();
  // A number that was given to another program since is no survivor.
  return processes.filter((one) =>
    all.some(({ pid, command }) => pid === one.pid && command === one.command),
  );
}

/** Asks again until the answer is yes; the test's own time limit ends what never comes. */
export async function until(question: () => boolean): Promise<void> {
  while (!question()) await delay(20);
}

function runningProcesses(): ProcessEntry[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return table.split('\n').flatMap((row) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(row) ?? [];
    // A zombie has ended and only waits to be counted.
    if (!command || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), command }];
  });
}
