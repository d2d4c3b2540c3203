// Bundles every API function as it is deployed.
import { glob, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from '../../esbuild.config.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface Bundle {
  /** Such as `transactions/list`. */
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** Every function, and one that does nothing. */
export async function bundleAll(folder: string): Promise<{ functions: Bundle[]; empty: Bundle }> {
  const sources = await Array.fromAsync(
    glob('functions/{api,transactions,categories}/*.ts', { cwd: ROOT }),
  );
  const functions: Bundle[] = [];
  for (const source of sources.sort()) {
    const name = `${basename(dirname(source))}/${basename(source, '.ts')}`;
    functions.push(await bundle(name, { entryPoints: [join(ROOT, source)] }, folder));
  }
  const nothing = {
    stdin: { contents: 'export const handler = async () => ({ statusCode: 204 });' },
  };
  return { functions, empty: await bundle('empty', nothing, folder) };
}

async function bundle(
  name: string,
  source: { entryPoints: string[] } | { stdin: { contents: string } },
  folder: string,
): Promise<Bundle> {
  const file = join(folder, `${name.replace('/', '-')}.mjs`);
  await build({ ...bundleOptions, ...source, absWorkingDir: ROOT, outfile: file });
  return { name, file, bytes: (await stat(file)).size };
}
