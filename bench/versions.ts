// Checks out earlier versions of this project from the Git history, so that they can be compared with the current one.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const PROJECT = join(import.meta.dirname, '..');

/** Checks out a commit into a new folder, and links the project's installed packages there. */
export async function checkOut(commit: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const archive = 'git archive "$0" | tar -x -C "$1"';
  const args = ['-o', 'pipefail', '-c', archive, commit, folder];
  await promisify(execFile)('bash', args, { cwd: PROJECT });
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
}

/** Finds a file that has different paths in different versions. @throws Error if none of the paths exists */
export function findFile(root: string, ...paths: readonly string[]): string {
  const existing = paths.map((path) => join(root, path)).find((path) => existsSync(path));
  if (existing === undefined) throw new Error(`${root} has none of ${paths.join(', ')}`);
  return existing;
}
