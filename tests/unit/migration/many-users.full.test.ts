// The counts of a million users fit into a small function.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const SCAN = fileURLToPath(new URL('../../support/migration/scan-many-users.ts', import.meta.url));

it('counts a million users with 48 MB of heap', async () => {
  const limits = ['--max-old-space-size=48', '--max-semi-space-size=2'];
  const { stdout } = await promisify(execFile)(process.execPath, [...limits, SCAN, '1000000']);
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ points: 1_000_000, users: 1_000_000 },
    largest: [{ points: 1 }],
  });
});
