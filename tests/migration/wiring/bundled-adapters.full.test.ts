// The adapters work in the bundle that is deployed, not only from their sources.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOptions } from '../../../serverless/bundle/esbuild.config.ts';
import { createTemporaryFolder } from '../../shared/support/temporary-folder.ts';

const ADAPTERS = join(import.meta.dirname, '../../../lib/migration/adapters');

// Sources run anywhere, but in a bundle a library may look at run time for files that are no longer beside it.
test.each([
  [
    'Neo4j',
    `import { openNeo4j } from './neo4j.ts';
     openNeo4j({ url: 'bolt://127.0.0.1:1', user: '', password: '', patienceMs: 0 })
       .readServer()`,
    'RetryableUnavailable',
  ],
  [
    'S3',
    `import { openArtifacts } from './open-artifacts.ts';
     openArtifacts('s3://bucket', { s3Endpoint: 'http://127.0.0.1:1' })
       .find('key')`,
    'ECONNREFUSED',
  ],
])('A bundle with the adapter of %s reaches the network', async (_, call, failure) => {
  const outfile = join(await createTemporaryFolder(), 'index.mjs');
  const contents = `${call}.catch(({ name, code }) => console.log(name, code));`;
  await build({ ...bundleOptions, stdin: { contents, resolveDir: ADAPTERS }, outfile });
  // The bundle runs in a process of its own, because the test runner gives modules a `require` that Lambda does not.
  const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
  expect(stdout).toContain(failure);
});
