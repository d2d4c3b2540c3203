import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../../../bench/migration/measure-streaming.ts');

// A process of its own, so that nothing else counts. `npm run bench -- streaming` does it with two gigabytes.
test('An artifact larger than the memory allowed passes through', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '320', '256'], {
    env: { ...process.env, S3_ENDPOINT: '' },
  });
  expect(stdout).toContain('320 MB into a folder and back');
  expect(stdout).toContain('the same, at most');
});
