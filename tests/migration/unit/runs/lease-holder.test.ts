// Tells which lease holders have ended. Only processes in this machine and container can be checked, by id and start time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLeaseHolder } from '../../../../lib/migration/runs/lease-holder.ts';

it.skipIf(process.platform !== 'linux')(
  'a lease holder has ended once its process has',
  async () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
    await once(child, 'spawn');
    const { self } = createLeaseHolder('/proc', child.pid);
    const here = createLeaseHolder();
    expect(here.hasEnded(String(here.self))).toBe(false);
    expect(here.hasEnded(String(self))).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(here.hasEnded(String(self))).toBe(true);
  },
);

it.skipIf(process.platform !== 'linux')(
  'a process with the same id that started at another time is not the lease holder',
  () => {
    const { self = '', hasEnded } = createLeaseHolder();
    expect(hasEnded(self.replace(/ \d+$/, ' 1'))).toBe(true);
  },
);

it('a process that cannot be inspected does not count as ended', async () => {
  const proc = await mkdtemp(join(tmpdir(), 'proc-'));
  onTestFinished(() => rm(proc, { recursive: true }));
  const STAT = `7 (node) S ${Array(18).fill(0).join(' ')} 42`;
  for (const folder of ['sys/kernel/random', 'self/ns', '7', '8']) {
    await mkdir(join(proc, folder), { recursive: true });
  }
  await writeFile(join(proc, 'sys/kernel/random/boot_id'), 'a');
  await symlink('pid:[1]', join(proc, 'self/ns/pid'));
  await writeFile(join(proc, '7/stat'), STAT);
  const { self = '', hasEnded } = createLeaseHolder(proc, 7);
  expect([self, hasEnded(self)]).toEqual(['a/pid:[1] 7 42', false]);
  // First a folder in place of the file, which cannot be read; then a file in an unknown form.
  await mkdir(join(proc, '8/stat'));
  expect(hasEnded('a/pid:[1] 8 42')).toBe(false);
  await writeFile(join(proc, '7/stat'), 'unknown');
  expect(hasEnded(self)).toBe(false);
  await rm(join(proc, '7/stat'));
  expect(hasEnded(self)).toBe(true);
});

it('the state of processes on other machines is unknown', () => {
  const { hasEnded } = createLeaseHolder();
  expect(hasEnded('another-machine/pid:[1] 1 1')).toBe(false);
  expect(createLeaseHolder('/nowhere')).toMatchObject({ self: undefined });
});
