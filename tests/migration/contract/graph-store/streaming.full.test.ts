import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../../../bench/migration/measure-graph-dump.ts');

// A process of its own, so that nothing else counts. `npm run bench -- streaming` does it with two gigabytes.
test('A graph larger than the memory allowed is dumped and verified', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '300', '256']);
  expect(stdout).toMatch(/\d+ relationships, 29\d MB: dumped/);
});
