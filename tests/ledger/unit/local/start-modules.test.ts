// Two processes of `npm start` run as long as the service: its own and the gateway's. Neither may load a database client, the
// bundler or the framework: only startup needs them, and they would double the memory.
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { PROJECT } from '../../support/running-service.ts';

it.each([
  [
    'local/start.ts',
    ['@commander-js/extra-typings', '@middy/http-json-body-parser', 'get-port', 'valibot', 'yaml'],
  ],
  ['local/offline.ts', ['serverless-offline']],
])('%s loads only the packages %j', async (program, packages) => {
  const { metafile } = await build({
    ...{ absWorkingDir: PROJECT, entryPoints: [program], bundle: true },
    ...{ platform: 'node', format: 'esm', packages: 'external', metafile: true, write: false },
  });
  const loaded = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports.filter(({ external }) => external))
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('node:'));
  expect([...new Set(loaded)].toSorted()).toEqual(packages);
});
