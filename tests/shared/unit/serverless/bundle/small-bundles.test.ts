// A function that needs no database carries none, and does not wait for node:crypto: it starts in half the time.
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { bundleOptions } from '../../../../../serverless/bundle/esbuild.config.ts';

it.each(['not-found', 'preflight', 'openapi', 'page'])(
  '%s has no SDK of AWS and loads no node:crypto',
  async (name) => {
    const { metafile } = await build({
      ...bundleOptions,
      entryPoints: [`functions/service/${name}.ts`],
      outfile: `${name}.mjs`,
      write: false,
      metafile: true,
    });
    const used = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
    const files = used.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? file : []));
    expect(files.filter((file) => /@aws-sdk|@smithy/.test(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(5);
    const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports);
    expect(imported.map(({ path }) => path)).not.toContain('node:crypto');
  },
);
