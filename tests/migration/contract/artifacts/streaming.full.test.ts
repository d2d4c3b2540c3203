// Artifacts are streamed, so their size is not limited by memory.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../../../bench/migration/measure-streaming.ts');

// The script runs in a separate process, where nothing else uses memory. `npm run bench -- streaming` streams two gigabytes.
test('An artifact larger than the allowed memory can be written and read', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '320', '256'], {
    env: { ...process.env, S3_ENDPOINT: '' },
  });
  expect(stdout).toContain('320 MB into a folder and back');
  expect(stdout).toContain('the same, at most');
});
