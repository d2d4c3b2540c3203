// What cannot be packaged; and what a packaging leaves behind: nothing but the package.
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { runServerless } from '../../local/emulated-stage.ts';
import { createRunning } from '../../local/running.ts';

const TEMPLATE_ONLY = { stage: 'dev', environment: { ONLY_TEMPLATE: 'yes' } };
const BUILDS = join(import.meta.dirname, '../../.esbuild');

it('refuses every fault of the parameters in one message', async () => {
  const packaged = runServerless(TEMPLATE_ONLY, ['package'], {
    ...{ auth: 'open', artifactsUrl: 'nonsense', monthlyBudgetUsd: '5' },
  });
  await expect(packaged).rejects.toThrow(
    /Refused\. auth "open" .*\n.*artifactsUrl "nonsense" .*\n.*monthlyBudgetUsd "5" needs alarmTopicArn/,
  );
});

it('refuses a stage that nobody described', async () => {
  const packaged = runServerless({ stage: 'prdo', environment: {} }, ['package']);
  await expect(packaged).rejects.toThrow('The stage prdo is not described');
});

it('leaves nothing behind but the package', async () => {
  const folder = await temporaryFolder();
  await runServerless(TEMPLATE_ONLY, ['package', '--package', join(folder, 'package')]);
  expect(await readdir(folder)).toEqual(['package']);
  expect(builds()).toEqual([]);
});

it('leaves nothing behind in the folder for temporary files that a person has', async () => {
  const folder = await temporaryFolder();
  const environment = { ...TEMPLATE_ONLY.environment, TMPDIR: folder };
  await runServerless({ ...TEMPLATE_ONLY, environment }, ['package']);
  expect(await readdir(folder)).toEqual([]);
});

it('leaves nothing behind when it is stopped', async () => {
  const folder = await temporaryFolder();
  const running = createRunning();
  onTestFinished(running.stop);
  const packaged = runServerless({ ...TEMPLATE_ONLY, running }, ['package']);
  const stopped = expect(packaged).rejects.toThrow(/ended by SIG(TERM|KILL)/);
  const hasBegun = () => builds().some((name) => existsSync(join(BUILDS, name, '.build')));
  await vi.waitUntil(hasBegun, { timeout: 600_000, interval: 5 });
  await running.stop();
  await stopped;
  expect(await readdir(folder)).toEqual([]);
  expect(builds()).toEqual([]);
});

/** The folders in which the packager works for this process. */
function builds(): string[] {
  return readdirSync(BUILDS).filter((name) => name.startsWith(`local-${process.pid}-`));
}

/** The folder for temporary files, of this test alone. */
async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'packaging-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}
