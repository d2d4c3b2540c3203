// Builds what the local gateway serves: the functions, bundled as for deployment, and the definition with every variable
// resolved.
// Usage: `node local/build.ts FOLDER`. This is a separate program, because the bundler and the framework keep everything that
// they read in memory until they end.
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
/** The definition takes about a seventh of this. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

const [, , folder = ''] = process.argv;
await runProgram({ parseAsync: () => Promise.all([bundleFunctions(), resolveDefinition()]) });

/** Bundles all functions in one build, with shared code in common files, instead of one build for each function. */
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

/** Finds the framework's error message: the framework prints a heading, and the message on the next line. */
function findError(output: string): string {
  return /^Error:\n(.+)/m.exec(output)?.[1] ?? output;
}
