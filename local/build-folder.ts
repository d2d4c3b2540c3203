// Where the gateway of one start keeps its bundles: starts may run side by side, even over one port for a moment.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from './running.ts';

const PROJECT = join(import.meta.dirname, '..');
const FOLDER = '.esbuild';
const NAME = /^local-(\d+)$/;

/** A folder for this process alone, relative to the project, removed at the stop. What killed starts left goes now. */
export function claimBuildFolder(running: Running): string {
  for (const name of leftovers()) remove(join(FOLDER, name));
  const folder = join(FOLDER, `local-${process.pid}`);
  running.whenStopping(() => remove(folder));
  return folder;
}

function leftovers(): string[] {
  return namesIn(join(PROJECT, FOLDER)).filter((name) => {
    const owner = NAME.exec(name)?.[1];
    return owner !== undefined && !isAlive(Number(owner));
  });
}

function namesIn(folder: string): string[] {
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
