// Which processes are seen to be gone: those of this machine and container, by their number and when they began.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createLeaseHolder } from '../../../../lib/migration/runs/lease-holder.ts';

it.skipIf(process.platform !== 'linux')('a process is gone once it has ended', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  await once(child, 'spawn');
  const { self } = createLeaseHolder('/proc', child.pid);
  const here = createLeaseHolder();
  expect(here.isGone(String(here.self))).toBe(false);
  expect(here.isGone(String(self))).toBe(false);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(here.isGone(String(self))).toBe(true);
});

it.skipIf(process.platform !== 'linux')('another process of the same number is not the one', () => {
  const { self = '', isGone } = createLeaseHolder();
  expect(isGone(self.replace(/ \d+$/, ' 1'))).toBe(true);
});

it('nothing is known of processes elsewhere', () => {
  const { isGone } = createLeaseHolder();
  expect(isGone('another-machine/pid:[1] 1 1')).toBe(false);
  expect(createLeaseHolder('/nowhere')).toMatchObject({ self: undefined });
});
