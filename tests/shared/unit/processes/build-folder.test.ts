// Build folders of Serverless Framework: the next packaging removes a folder that a killed process left.
// tests/shared/wiring/packaging.full.test.ts shows that packaging itself leaves no folder behind.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createBuildFolder } from '../../../../processes/build-folder.ts';
import { createResources } from '../../../../processes/resources.ts';

it('the build folder of a killed process is removed when the next build folder is created', () => {
  const { pid } = spawnSync('true');
  const leftOverFolder = join(import.meta.dirname, '../../../../.esbuild', `local-${pid}-0123abcd`);
  mkdirSync(join(leftOverFolder, '.build'), { recursive: true });
  onTestFinished(() => rmSync(leftOverFolder, { recursive: true, force: true }));
  const resources = createResources();
  onTestFinished(resources.stop);
  createBuildFolder(resources);
  expect(existsSync(leftOverFolder)).toBe(false);
});
