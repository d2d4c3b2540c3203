// Finds and runs the programs of this machine, and programs that are downloaded once and kept in .local.
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { firstLine, UserError } from '../lib/shared/user-error.ts';
import { COMPILE_CACHE, LOCAL_FOLDER } from './caches.ts';
import { type ChildCommand, describeExit } from './child-process.ts';
import { EXIT } from './program.ts';
import type { Resources } from './resources.ts';

/** Returns the standard output of a program; `undefined` if the program is missing or fails. */
export function readOutput(command: string, ...args: readonly string[]): string | undefined {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return undefined;
  }
}

/** Says why Java of that version or newer is missing on this machine; `undefined` if it is not. */
export function whyJavaUnavailable(minVersion: number): string | undefined {
  // `java -version` writes to standard error, `--version` to standard output.
  const output = readOutput('java', '--version');
  if (output === undefined) return `there is no Java ${minVersion} or newer`;
  const version = Number(/\b(\d+)[.\s]/.exec(output)?.[1]);
  return version >= minVersion ? undefined : `Java is ${version}, not ${minVersion} or newer`;
}

/** Options for programs that run only a few minutes, too short for further optimization of hot code to save time. */
export const JVM_OPTIONS = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/**
 * Runs a program to its end.
 * @returns the output of the program
 * @throws UserError with the program's own error in the first line, and all its output in the others
 */
export async function runToEnd(
  resources: Resources,
  { title, ...command }: Omit<ChildCommand, 'onLine'> & { readonly title?: string },
): Promise<string> {
  const { ending, lines } = await awaitEnd(resources, command);
  const output = lines.join('\n');
  if (ending === describeExit(0)) return output;
  throw new UserError(
    `${title ?? basename(command.command)} ${ending}: ${findError(lines)}\n${output}`,
  );
}

/**
 * Runs a program of this project to its end (see program.ts).
 * @returns the output of the program
 * @throws UserError with the error that the program reported
 */
export async function runNode(
  resources: Resources,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  const environment = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const command = { command: process.execPath, args: [program, ...args], environment };
  const { ending, lines } = await awaitEnd(resources, command);
  if (ending === describeExit(0)) return lines.join('\n');
  const hasReported = ending === describeExit(EXIT.failed) && lines.length > 0;
  throw new UserError(hasReported ? findError(lines) : `${basename(program)} ${ending}`);
}

async function awaitEnd(resources: Resources, command: Omit<ChildCommand, 'onLine'>) {
  const lines: string[] = [];
  const child = resources.startProgram({ ...command, onLine: (line) => lines.push(line) });
  const ending = await child.ended;
  // The last lines of a program may arrive after its end.
  await child.stop();
  return { ending, lines };
}

/** Finds the line that most likely says why a program failed. */
function findError(lines: readonly string[]): string {
  const printedLines = lines.map((line) => line.trim()).filter((line) => line !== '');
  // Some programs print "Error:" as a heading, and the message on the next line.
  const isError = (line: string, index: number) =>
    /^error: ./i.test(line) || /^error:?$/i.test(printedLines[index - 1] ?? '');
  return printedLines.findLast(isError) ?? printedLines.at(-1) ?? 'it printed nothing';
}

export interface PackedPackage {
  /** The name of the package with its version, such as `ms@2.1.3`. */
  readonly name: string;
  /** The file or folder of the archive to unpack. */
  readonly path: string;
  readonly sha512?: string;
}

/** Fetches the archive of an npm package, checks it, and unpacks it into the draft, without installing the package. */
export async function unpackFromNpm(
  draft: string,
  run: RunInDraftFolder,
  { name, path, sha512 }: PackedPackage,
): Promise<void> {
  await run('npm', 'pack', name, '--ignore-scripts', '--silent');
  const archive = (await readdir(draft)).find((file) => file.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm pack left no archive');
  const hash = createHash('sha512').update(await readFile(join(draft, archive)));
  if (sha512 !== undefined && hash.digest('base64') !== sha512)
    throw new Error('its checksum is not the pinned one');
  await run('tar', '-xzf', archive, path);
}

/** Runs a program in the draft folder. */
export type RunInDraftFolder = (command: string, ...args: readonly string[]) => Promise<unknown>;

/**
 * Downloads a program into a draft folder, then moves it into place as a whole.
 * @param name name of the program's folder, including the version, so that each version has its own folder
 * @param fetchInto fills the draft folder, and returns the part of it to keep
 * @throws UserError
 */
export async function fetchOnce(
  resources: Resources,
  name: string,
  fetchInto: (draft: string, run: RunInDraftFolder) => Promise<string>,
): Promise<string> {
  const folder = join(LOCAL_FOLDER, name);
  if (existsSync(folder)) return folder;
  const draft = join(dirname(folder), `draft-${randomUUID()}`);
  const removeDraft = () => rm(draft, { recursive: true, force: true });
  resources.onStop(removeDraft);
  mkdirSync(draft, { recursive: true });
  const run: RunInDraftFolder = (command, ...args) =>
    runToEnd(resources, { command, args, folder: draft });
  try {
    await rename(await fetchInto(draft, run), folder);
  } catch (error) {
    // Another run may have fetched the program in the meantime.
    if (!existsSync(folder)) throw new UserError(`${name} cannot be fetched: ${firstLine(error)}`);
  } finally {
    await removeDraft();
  }
  return folder;
}
