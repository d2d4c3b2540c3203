// Gives the pages of a browser a processor core of their own, so that a script can be measured that waits for no other program.
// The other programs of the bench do not use that core. Programs that the bench did not start use it only while the page does
// not, if the bench may give the page real-time scheduling. A higher priority (`nice`) would not be enough: Linux may compare
// it only within a group of programs.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readOutput } from '../../processes/tools.ts';

export interface Cores {
  /** Lets every program of the bench use every core, or leaves the last core to the pages. */
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
      for (const id of listPrograms(process.pid)) {
        const coresOfProcess = isPageProcess(id) ? `${last}` : `0-${last - 1}`;
        // Both fail without an effect if the program has ended meanwhile.
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

/** Lists the program and all that it has started, by their ids. */
function listPrograms(id: number): readonly number[] {
  const parents = new Map(readdirSync('/proc').flatMap((name) => readParent(Number(name))));
  const list = (from: number): readonly number[] => [
    from,
    ...[...parents].flatMap(([child, parent]) => (parent === from ? list(child) : [])),
  ];
  return list(id);
}

function readParent(id: number): readonly (readonly [number, number])[] {
  const status = readProcess(id, 'stat');
  // The name before the last bracket may contain anything.
  const [, parent] = status.slice(status.lastIndexOf(')') + 2).split(' ');
  return parent === undefined ? [] : [[id, Number(parent)]];
}

/** True for the process of a page, and for the one that each is copied from, with the cores that it may use. */
function isPageProcess(id: number): boolean {
  const command = readProcess(id, 'cmdline');
  return (
    command.includes('--type=renderer') ||
    (command.includes('--type=zygote') && !command.includes('--no-zygote-sandbox'))
  );
}

/** @returns an empty text if there is no such process any more */
function readProcess(id: number, name: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${id}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
