// Finds the descendants of a process with the tools of the operating system.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Lists the processes that a process has started, and their own descendants. */
export function listDescendants(pid: number): ProcessEntry[] {
  const all = listRunningProcesses();
  const listBelow = (parent: number): ProcessEntry[] =>
    all
      .filter((process) => process.parent === parent)
      .flatMap((process) => [process, ...listBelow(process.pid)]);
  return listBelow(pid);
}

/** Lists the processes that are still running. */
export function listSurvivors(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const all = listRunningProcesses();
  // Another program may have got the same process id since, so the command must be the same, too.
  return processes.filter((process) =>
    all.some(({ pid, command }) => pid === process.pid && command === process.command),
  );
}

/** Repeats the check until it succeeds, or until the test's time limit. */
export async function waitUntil(check: () => boolean): Promise<void> {
  while (!check()) await delay(20);
}

function listRunningProcesses(): ProcessEntry[] {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return table.split('\n').flatMap((row) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(row) ?? [];
    // A zombie has ended: only its exit code has not been read yet.
    if (!command || state?.startsWith('Z')) return [];
    return [{ pid: Number(pid), parent: Number(parent), command }];
  });
}
