// Measures the memory that processes use.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Adds up the resident memory, in megabytes, of a process and all its descendants. */
export async function measureMemory(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,rss=']);
  const processes = stdout.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  const sumKilobytes = (root: number): number =>
    processes.reduce((sum, [id = 0, parent, resident = 0]) => {
      if (id === root) return sum + resident;
      return parent === root ? sum + sumKilobytes(id) : sum;
    }, 0);
  return sumKilobytes(pid) / 1024;
}
