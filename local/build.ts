// Builds what the local gateway serves: the functions, bundled as for a deployment, and the service definition with its
// variables resolved. This is a separate program, because the bundler and the framework keep all that they read in memory until
// their process ends.
// Usage: `node local/build.ts FOLDER`
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { UserError } from '../lib/shared/user-error.ts';
import { runProgram } from '../processes/program.ts';
import { bundleOptions } from '../serverless/bundle/esbuild.config.ts';

const PROJECT = join(import.meta.dirname, '..');
const SERVERLESS = createRequire(import.meta.url).resolve('serverless/bin/serverless.js');
/** The definition has about a seventh of this size. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

const [, , folder = ''] = process.argv;
await runProgram({ parseAsync: () => Promise.all([bundleFunctions(), resolveDefinition()]) });

/** Bundles all functions in one build. Code that functions share is in common files. */
async function bundleFunctions(): Promise<void> {
  await build({
    ...bundleOptions,
    absWorkingDir: PROJECT,
    // The local gateway does not serve the migration's functions.
    entryPoints: globSync('functions/**/*.ts', {
      cwd: PROJECT,
      exclude: ['functions/migration/**'],
    }),
    outbase: '.',
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
  });
}

async function resolveDefinition(): Promise<void> {
  const args = [SERVERLESS, 'print', '--format', 'json', '--stage', 'local'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    ...{ cwd: PROJECT, maxBuffer: MAX_DEFINITION_BYTES },
  }).catch((failure: { readonly stdout: string; readonly stderr: string }) => {
    throw new UserError(findError(`${failure.stderr}${failure.stdout}`));
  });
  await writeFile(join(PROJECT, folder, 'definition.json'), stdout);
}

/** Finds the framework's error message, which is on the line after a heading. */
function findError(output: string): string {
  return /^Error:\n(.+)/m.exec(output)?.[1] ?? output;
}
