// The counts of a million users fit into a small function.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it.each([
  ['memories', 'scan-many-users', { points: 1_000_000, largest: [{ points: 1 }] }],
  ['a graph', 'graph-of-many-users', { nodes: 1_000_000, counts: { 'nodesPerLabel person': 1e6 } }],
])('counts the million users of %s with 48 MB of heap', async (_, script, counted) => {
  const path = fileURLToPath(new URL(`../../support/migration/${script}.ts`, import.meta.url));
  const limits = ['--max-old-space-size=48', '--max-semi-space-size=2'];
  const { stdout } = await promisify(execFile)(process.execPath, [...limits, path, '1000000']);
  expect(JSON.parse(stdout)).toMatchObject({ ...counted, users: 1_000_000 });
});
