// Bundles the functions as for deployment, but with shared code in common files: one build instead of one for each.
// `node local/bundle.ts FOLDER`: a program of its own, because the bundler keeps its memory until the process ends.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../serverless/bundle/esbuild.config.ts';

const PROJECT = join(import.meta.dirname, '..');

const [, , outdir = ''] = process.argv;

await build({
  ...bundleOptions,
  absWorkingDir: PROJECT,
  // The local gateway does not serve the migration's functions.
  entryPoints: globSync('functions/**/*.ts', {
    cwd: PROJECT,
    exclude: ['functions/migration/**'],
  }),
  outbase: '.',
  outdir,
  outExtension: { '.js': '.mjs' },
  splitting: true,
});
