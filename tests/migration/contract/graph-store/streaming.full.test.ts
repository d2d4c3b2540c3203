// Dumps are streamed, so the size of a graph is not limited by memory.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../../../bench/migration/measure-graph-dump.ts');

// The script runs in a separate process, where nothing else uses memory. `npm run bench -- streaming` streams two gigabytes.
test('A graph larger than the allowed memory is dumped and verified', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, '300', '256']);
  expect(stdout).toMatch(/\d+ relationships, 29\d MB: dumped/);
});
