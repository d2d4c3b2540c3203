// Programs that this machine has, and programs that are downloaded once and kept in .local.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { firstLine, StartError } from './start-error.ts';

const CACHE = join(import.meta.dirname, '..', '.local');

/** What the program writes to standard output; `undefined` where it is missing or fails. */
export function outputOf(command: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** Why this machine has no Java of that version or newer; `undefined` where it has one. */
export function whyNoJava(needed: number): string | undefined {
  // `java -version` writes to standard error, `--version` to standard output.
  const output = outputOf('java', '--version');
  if (output === undefined) return `there is no Java ${needed} or newer`;
  const found = Number(/\b(\d+)[.\s]/.exec(output)?.[1]);
  return found >= needed ? undefined : `Java is ${found}, not ${needed} or newer`;
}

/**
 * Downloads a program into a draft folder, then moves it into place as a whole.
 * @param name of the program's folder, with its version: another version is another folder
 * @param fetchInto fills the draft and returns which folder of it to keep
 * @throws StartError
 */
export async function fetchOnce(
  name: string,
  fetchInto: (draft: string) => Promise<string>,
): Promise<string> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(join(dirname(folder), 'draft-'));
  try {
    await rename(await fetchInto(draft), folder);
  } catch (error) {
    // Another run may have put it there in the meantime.
    if (!existsSync(folder)) throw new StartError(`${name} cannot be fetched: ${firstLine(error)}`);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return folder;
}
