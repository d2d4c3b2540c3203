// Reserves a processor core for the pages of a browser, so that their scripts can be measured without waiting for other
// programs. The other programs of the bench do not use that core. If the bench has the right to real-time scheduling, programs
// that the bench did not start use the core only while the page does not. A higher priority (`nice`) would not be enough: Linux
// may compare priorities only within a group of programs.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readOutput } from '../../processes/tools.ts';

export interface Cores {
  /** Lets every program of the bench use every core, or reserves the last core for the pages. */
  readonly share: (isShared: boolean) => void;
}

/** @returns undefined unless this is Linux with `taskset` and more than one core */
export function findCores(): Cores | undefined {
  const last = availableParallelism() - 1;
  if (process.platform !== 'linux' || last < 1 || !readOutput('taskset', '--version'))
    return undefined;
  return {
    share(isShared) {
      const policy = isShared ? ['--other', '-p', '0'] : ['--rr', '-p', '1'];
      for (const id of listProcesses(process.pid)) {
        const coresOfProcess = isPageProcess(id) ? `${last}` : `0-${last - 1}`;
        // If the process has ended meanwhile, both commands fail without an effect.
        readOutput(
          'taskset',
          '--all-tasks',
          '-cp',
          isShared ? `0-${last}` : coresOfProcess,
          String(id),
        );
        if (isPageProcess(id)) readOutput('chrt', '--all-tasks', ...policy, String(id));
      }
    },
  };
}

/** Lists the ids of the process and of all its descendants. */
function listProcesses(id: number): readonly number[] {
  const parents = new Map(readdirSync('/proc').flatMap((name) => readParent(Number(name))));
  const list = (from: number): readonly number[] => [
    from,
    ...[...parents].flatMap(([child, parent]) => (parent === from ? list(child) : [])),
  ];
  return list(id);
}

function readParent(id: number): readonly (readonly [number, number])[] {
  const status = readProcess(id, 'stat');
  // The fields follow the last bracket. The program's name, in brackets, may itself contain spaces and brackets.
  const [, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return parent === undefined ? [] : [[id, Number(parent)]];
}

/** True for the process of a page, and for the process from which pages are forked, because pages inherit its cores. */
function isPageProcess(id: number): boolean {
  const command = readProcess(id, 'cmdline');
  return (
    command.includes('--type=renderer') ||
    (command.includes('--type=zygote') && !command.includes('--no-zygote-sandbox'))
  );
}

/** @returns an empty string if the process no longer exists */
function readProcess(id: number, name: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
