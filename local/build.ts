// Builds the parts that the local gateway serves: the functions, bundled as for deployment, and the definition with every variable resolved.
// `node local/build.ts FOLDER`: a program of its own, for bundler and framework keep what they read in memory for as long as they run.
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
/** The definition is a seventh of it. */
const MAX_DEFINITION_BYTES = 1024 * 1024;

const [, , folder = ''] = process.argv;
await runProgram({ parseAsync: () => Promise.all([bundleFunctions(), resolveDefinition()]) });

/** With shared code in common files: one build instead of one for each function. */
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

/** The framework prints a heading on standard output, and the sentence on the next line. */
function findError(output: string): string {
  return /^Error:\n(.+)/m.exec(output)?.[1] ?? output;
}
