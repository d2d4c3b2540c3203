// `stop` undoes everything that was started, once and in reverse order. Afterwards nothing can be started, and nothing is left.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { createRunning } from '../../../../processes/running.ts';

it('everything is undone once, latest first', async () => {
  const running = createRunning();
  const undone: string[] = [];
  for (const name of ['one', 'two']) running.whenStopping(() => void undone.push(name));
  await Promise.all([running.stop(), running.stop()]);
  expect(undone).toEqual(['two', 'one']);
});

it('no program is started after the stop', async () => {
  const running = createRunning();
  expect(running.isStopping()).toBe(false);
  await running.stop();
  expect(running.isStopping()).toBe(true);
  expect(() => running.startProgram({ command: 'true', args: [] })).toThrow('Stopping');
});

it.each(['while it stops', 'after the stop'])(
  'an undo function that is registered %s runs, and registering it throws',
  async (when) => {
    const running = createRunning();
    const undone: string[] = [];
    const register = (name: string) => running.whenStopping(() => void undone.push(name));
    const attempts: unknown[] = [];
    const attempt = () => {
      try {
        register('late');
      } catch (error) {
        attempts.push(error);
      }
    };
    register('first');
    running.whenStopping(async () => {
      await null;
      if (when === 'while it stops') attempt();
    });
    await running.stop();
    if (when === 'after the stop') attempt();
    await running.stop();
    expect(attempts).toEqual([new Error('Stopping')]);
    expect(undone.toSorted()).toEqual(['first', 'late']);
  },
);

it('an undo function that is registered after a failed stop runs', async () => {
  const running = createRunning();
  running.whenStopping(() => Promise.reject(new Error('still busy')));
  await expect(running.stop()).rejects.toThrow('still busy');
  const undone: string[] = [];
  expect(() => running.whenStopping(() => void undone.push('late'))).toThrow('Stopping');
  await running.stop();
  expect(undone).toEqual(['late']);
});

it('a temporary folder is removed at the stop', async () => {
  const running = createRunning();
  const folder = await running.createTemporaryFolder('ledger-running-');
  expect(existsSync(folder)).toBe(true);
  await running.stop();
  expect(existsSync(folder)).toBe(false);
});

it('a temporary folder that is requested after the stop is not left behind', async () => {
  const running = createRunning();
  await running.stop();
  const prefix = `ledger-late-${process.pid}-`;
  await expect(running.createTemporaryFolder(prefix)).rejects.toThrow('Stopping');
  await running.stop();
  expect((await readdir(tmpdir())).filter((name) => name.startsWith(prefix))).toEqual([]);
});
