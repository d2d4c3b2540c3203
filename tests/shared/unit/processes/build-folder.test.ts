// Build folders of Serverless Framework: the next packaging removes a folder that a killed process left.
// tests/shared/wiring/packaging.full.test.ts shows that packaging itself leaves no folder behind.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createBuildFolder } from '../../../../processes/build-folder.ts';
import { createResources } from '../../../../processes/resources.ts';

it('a folder of a process that was killed is removed when the next build folder is created', () => {
  const { pid } = spawnSync('true');
  const leftFolder = join(import.meta.dirname, '../../../../.esbuild', `local-${pid}-0123abcd`);
  mkdirSync(join(leftFolder, '.build'), { recursive: true });
  onTestFinished(() => rmSync(leftFolder, { recursive: true, force: true }));
  const resources = createResources();
  onTestFinished(resources.stop);
  createBuildFolder(resources);
  expect(existsSync(leftFolder)).toBe(false);
});
