// Which process has a lease, so that the lock of one that was killed need not expire where it can be seen that it is gone: on
// the same machine, and in the same container. Elsewhere nothing is known of it.
import { readFileSync, readlinkSync } from 'node:fs';

export interface LeaseHolder {
  /** Of this process; undefined where none can be told. */
  readonly self: string | undefined;
  /** Whether that process ended; false where that cannot be seen from here. */
  readonly isGone: (holder: string) => boolean;
}

/** Of a function that is frozen between two invocations, and whose machine nobody else sees. */
export const UNKNOWN_HOLDER: LeaseHolder = { self: undefined, isGone: () => false };

/** By what Linux tells of processes; on other systems nothing is known. */
export function createLeaseHolder(proc = '/proc', pid = process.pid): LeaseHolder {
  const place = placeOf(proc);
  const started = startOf(proc, pid);
  if (place === undefined || started === undefined) return UNKNOWN_HOLDER;
  return {
    self: [place, pid, started].join(' '),
    isGone(holder) {
      const [where, other = '', since] = holder.split(' ');
      return where === place && startOf(proc, Number(other)) !== since;
    },
  };
}

/** This start of the machine, and the container. */
function placeOf(proc: string): string | undefined {
  try {
    const boot = readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim();
    return `${boot}/${readlinkSync(`${proc}/self/ns/pid`)}`;
  } catch {
    return undefined;
  }
}

/** When the process began, since a number may be another process's later; undefined where there is none. */
function startOf(proc: string, pid: number): string | undefined {
  try {
    const stat = readFileSync(`${proc}/${pid}/stat`, 'utf8');
    // Behind the name of the program, which may have spaces: the state, and 18 fields later the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
