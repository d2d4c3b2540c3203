// Names the process that holds a lease. Another process in the same container can then see that the holder has ended, and take the
// lock; elsewhere, the lock of a killed process has to expire.
import { readFileSync, readlinkSync } from 'node:fs';

export interface LeaseHolder {
  /** Name of this process; undefined on a system that does not show its processes */
  readonly self: string | undefined;
  /** True if the holder has ended; false if this process cannot see the holder's state */
  readonly hasEnded: (holder: string) => boolean;
}

/** Holder inside a Lambda function, whose process is frozen between invocations and cannot be seen by others */
export const UNKNOWN_HOLDER: LeaseHolder = { self: undefined, hasEnded: () => false };

/** Reads `/proc` of Linux. On other systems every holder is unknown. */
export function createLeaseHolder(proc = '/proc', pid = process.pid): LeaseHolder {
  const machine = readMachine(proc);
  const startTime = readStartTime(proc, pid);
  if (machine === undefined || startTime === undefined || startTime === ENDED)
    return UNKNOWN_HOLDER;
  return {
    self: [machine, pid, startTime].join(' '),
    hasEnded(holder) {
      const [holderMachine, holderPid = '', holderStartTime] = holder.split(' ');
      if (holderMachine !== machine) return false;
      const currentStartTime = readStartTime(proc, Number(holderPid));
      return currentStartTime !== undefined && currentStartTime !== holderStartTime;
    },
  };
}

/** Identifies the container, and the boot of its machine. */
function readMachine(proc: string): string | undefined {
  try {
    const boot = readFileSync(`${proc}/sys/kernel/random/boot_id`, 'utf8').trim();
    return `${boot}/${readlinkSync(`${proc}/self/ns/pid`)}`;
  } catch {
    return undefined;
  }
}

const ENDED = 'ended';
const NO_PROCESS = ['ENOENT', 'ESRCH'];

/** Reads when the process started, because another process may get the same number later. @returns undefined if it is unreadable */
function readStartTime(proc: string, pid: number): string | undefined {
  try {
    const stat = readFileSync(`${proc}/${pid}/stat`, 'utf8');
    // The program's name may contain spaces. After it come the state, and 19 fields later the start time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? ENDED : fields[19];
  } catch (error) {
    return NO_PROCESS.includes((error as NodeJS.ErrnoException).code ?? '') ? ENDED : undefined;
  }
}
