// Temporary folders, each for one packaging or local start. They are inside the project, so that source maps name files relative
// to it.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Resources } from './resources.ts';

const PROJECT = join(import.meta.dirname, '..');
const BUILD_FOLDERS = '.esbuild';
const BUILD_NAME = /^local-(\d+)\b/;

/**
 * Creates a folder that is removed when the program stops, and removes those of processes that were killed.
 * @returns the path of the folder, relative to the project's root
 */
export function createBuildFolder(resources: Resources): string {
  for (const name of listNames(join(PROJECT, BUILD_FOLDERS))) {
    const owner = BUILD_NAME.exec(name)?.[1];
    if (owner !== undefined && !isAlive(Number(owner))) remove(join(BUILD_FOLDERS, name));
  }
  const folder = join(BUILD_FOLDERS, `local-${process.pid}-${randomBytes(4).toString('hex')}`);
  resources.onStop(() => remove(folder));
  mkdirSync(join(PROJECT, folder), { recursive: true });
  return folder;
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function remove(folder: string): void {
  rmSync(join(PROJECT, folder), { recursive: true, force: true });
}
