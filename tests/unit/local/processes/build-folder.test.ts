// The folders for bundles: removed at the stop, and by the next packaging where their process was killed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runServerless } from '../../../../local/emulator/emulated-stage.ts';
import { claimBuildFolder } from '../../../../local/processes/build-folder.ts';
import { createRunning } from '../../../../local/processes/running.ts';

const PROJECT = join(import.meta.dirname, '../../../..');
const FOLDERS = join(PROJECT, '.esbuild');

function claim() {
  const running = createRunning();
  onTestFinished(running.stop);
  return { running, folder: join(PROJECT, claimBuildFolder(running)) };
}

it('a folder is of one claim, and is removed at its stop', async () => {
  const [one, two] = [claim(), claim()];
  expect([one, two].map(({ folder }) => existsSync(folder))).toEqual([true, true]);
  await one.running.stop();
  expect([one, two].map(({ folder }) => existsSync(folder))).toEqual([false, true]);
});

it('a folder of a process that was killed is removed at the next claim', () => {
  const { pid } = spawnSync('true');
  const left = join(FOLDERS, `local-${pid}-0123abcd`, '.build');
  mkdirSync(left, { recursive: true });
  onTestFinished(() => rmSync(join(left, '..'), { recursive: true, force: true }));
  claim();
  expect(existsSync(join(left, '..'))).toBe(false);
});

it('no packaging starts after the stop, and none of its folders is left', async () => {
  const running = createRunning();
  await running.stop();
  const own = () => readdirSync(FOLDERS).filter((name) => name.includes(`-${process.pid}-`));
  const before = own();
  const packaged = runServerless({ stage: 'dev', environment: {}, running }, ['package']);
  await expect(packaged).rejects.toThrow('Stopping');
  expect(own()).toEqual(before);
});
