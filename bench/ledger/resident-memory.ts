// Measures the memory that processes hold.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Adds up the resident memory, in megabytes, of a process and all its descendants. */
export async function measureMemory(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,rss=']);
  const all = stdout.split('\n').map((row) => row.trim().split(/\s+/).map(Number));
  const kilobytes = (root: number): number =>
    all.reduce((sum, [each = 0, parent, resident = 0]) => {
      if (each === root) return sum + resident;
      return parent === root ? sum + kilobytes(each) : sum;
    }, 0);
  return kilobytes(pid) / 1024;
}
