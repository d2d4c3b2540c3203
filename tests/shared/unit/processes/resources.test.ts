// `stop` undoes everything that was started, once and in reverse order. Afterwards nothing can be started, and nothing is left.
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { createResources } from '../../../../processes/resources.ts';

it('everything is undone once, latest first', async () => {
  const resources = createResources();
  const undone: string[] = [];
  for (const name of ['one', 'two']) resources.onStop(() => void undone.push(name));
  await Promise.all([resources.stop(), resources.stop()]);
  expect(undone).toEqual(['two', 'one']);
});

it('no program is started after the stop', async () => {
  const resources = createResources();
  expect(resources.isStopping()).toBe(false);
  await resources.stop();
  expect(resources.isStopping()).toBe(true);
  expect(() => resources.startProgram({ command: 'true', args: [] })).toThrow('Stopping');
});

it.each(['while it stops', 'after the stop'])(
  'an undo function that is registered %s runs, and registering it throws',
  async (when) => {
    const resources = createResources();
    const undone: string[] = [];
    const register = (name: string) => resources.onStop(() => void undone.push(name));
    const errors: unknown[] = [];
    const attempt = () => {
      try {
        register('late');
      } catch (error) {
        errors.push(error);
      }
    };
    register('first');
    resources.onStop(async () => {
      await null;
      if (when === 'while it stops') attempt();
    });
    await resources.stop();
    if (when === 'after the stop') attempt();
    await resources.stop();
    expect(errors).toEqual([new Error('Stopping')]);
    expect(undone.toSorted()).toEqual(['first', 'late']);
  },
);

it('an undo function that is registered after a failed stop runs', async () => {
  const resources = createResources();
  resources.onStop(() => Promise.reject(new Error('still busy')));
  await expect(resources.stop()).rejects.toThrow('still busy');
  const undone: string[] = [];
  expect(() => resources.onStop(() => void undone.push('late'))).toThrow('Stopping');
  await resources.stop();
  expect(undone).toEqual(['late']);
});

it('a temporary folder is removed at the stop', async () => {
  const resources = createResources();
  const folder = await resources.createTemporaryFolder('ledger-resources-');
  expect(existsSync(folder)).toBe(true);
  await resources.stop();
  expect(existsSync(folder)).toBe(false);
});

it('a temporary folder that is requested after the stop is not left behind', async () => {
  const resources = createResources();
  await resources.stop();
  const prefix = `ledger-late-${process.pid}-`;
  await expect(resources.createTemporaryFolder(prefix)).rejects.toThrow('Stopping');
  await resources.stop();
  expect((await readdir(tmpdir())).filter((name) => name.startsWith(prefix))).toEqual([]);
});
