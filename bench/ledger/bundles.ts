// Bundles the functions of the ledger as for a deployment, from the current code or from an earlier commit.
import { glob, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { bundleOptions } from '../../serverless/bundle/esbuild.config.ts';
import { checkOut, findFile, PROJECT } from '../versions.ts';

export interface Bundle {
  /** Folder and name of the function, such as `transactions/list`. */
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
}

/** Current names of renamed functions, by their earlier names. The functions in `service/` were previously in `api/`. */
const RENAMED: Readonly<Record<string, string>> = {
  'transactions/bulk': 'transactions/bulk-create',
};

/** Bundles all functions that serve the API. Leaves out the documentation page: its size is that of the viewer in it. */
export async function bundleFunctions(folder: string, root = PROJECT): Promise<Bundle[]> {
  const { bundleOptions: options } = (await import(
    findFile(root, 'serverless/bundle/esbuild.config.ts', 'esbuild.config.ts')
  )) as typeof import('../../serverless/bundle/esbuild.config.ts');
  const exclude = ['functions/{canary,migration}/**', 'functions/{api,service}/docs.ts'];
  const sources = await Array.fromAsync(glob('functions/*/*.ts', { cwd: root, exclude }));
  const bundles: Bundle[] = [];
  for (const source of sources.sort()) {
    const path = `${basename(dirname(source))}/${basename(source, '.ts')}`;
    const name = RENAMED[path] ?? path.replace(/^api\//, 'service/');
    const entryPoints = [join(root, source)];
    bundles.push(await bundle(name, { ...options, entryPoints, absWorkingDir: root }, folder));
  }
  return bundles;
}

/** Bundles the functions of a commit. */
export async function bundleFunctionsAt(commit: string, folder: string): Promise<Bundle[]> {
  const root = join(folder, 'source');
  await checkOut(commit, root);
  return await bundleFunctions(folder, root);
}

/** Bundles a function that does nothing, for comparison. */
export async function bundleEmpty(folder: string): Promise<Bundle> {
  const contents = 'export const handler = async () => ({ statusCode: 204 });';
  return await bundle('empty', { ...bundleOptions, stdin: { contents } }, folder);
}

async function bundle(name: string, options: BuildOptions, folder: string): Promise<Bundle> {
  const file = join(folder, `${name.replace('/', '-')}.mjs`);
  await build({ absWorkingDir: PROJECT, ...options, outfile: file });
  return { name, file, bytes: (await stat(file)).size };
}
