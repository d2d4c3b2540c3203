// The counts of a million users fit into a small function.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TIME_LIMITS } from '../../shared/support/time-limits.ts';

it('a scan counts the million users of a collection with 48 MB of heap', {
  timeout: TIME_LIMITS.testTimeout,
}, async () => {
  const path = new URL('../support/scan-many-users.ts', import.meta.url);
  const limits = ['--max-old-space-size=48', '--max-semi-space-size=2'];
  const command = [...limits, fileURLToPath(path), '1000000'];
  const { stdout } = await promisify(execFile)(process.execPath, command);
  const expected = { points: 1_000_000, users: 1_000_000, largest: [{ points: 1 }] };
  expect(JSON.parse(stdout)).toMatchObject(expected);
});
