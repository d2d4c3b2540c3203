// The process of `npm start` lives as long as the service. A database client, which only the start needs, would double its
// memory.
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { PROJECT } from '../../support/running-service.ts';

it('loads no client of the database', async () => {
  const { metafile } = await build({
    ...{ absWorkingDir: PROJECT, entryPoints: ['local/start.ts'], bundle: true },
    ...{ platform: 'node', format: 'esm', packages: 'external', metafile: true, write: false },
  });
  const paths = Object.values(metafile.inputs).flatMap(({ imports }) =>
    imports.map(({ path }) => path),
  );
  expect(paths).toContain('local/gateway.ts');
  expect(paths.filter((path) => path.startsWith('@aws-sdk/'))).toEqual([]);
});
