// The data folder of the local service. One process at a time has the folder locked. Other users cannot read the folder.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { firstLine, UserError } from '../lib/shared/user-error.ts';

export interface DataFolder {
  readonly path: string;
  /** Records the address of the database, for commands that run while the folder is locked. */
  recordEndpoint(endpoint: string): void;
  release(): void;
}

/** Thrown when another process has locked the folder. */
export class FolderInUseError extends UserError {
  /** Address of the other process's database; undefined until that database runs. */
  readonly endpoint: string | undefined;

  constructor(message: string, endpoint: string | undefined) {
    super(message);
    this.endpoint = endpoint;
  }
}

/**
 * Creates the folder if it is missing, and locks it.
 * @throws UserError if the path is not a writable folder, or another process has locked the folder
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  try {
    createFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new UserError(`The data folder ${folder} cannot be used: ${firstLine(error)}`);
  }
  const release = lock(path, folder);
  const recordEndpoint = (endpoint: string) => writeFileSync(nameEndpointFile(path), endpoint);
  recordEndpoint('');
  denyOtherUsers(path);
  return { path, recordEndpoint, release };
}

// Does not use `recursive: true`: it never returns if a file system refuses new folders with ENOENT, as /proc does.
function createFolder(path: string): void {
  if (!existsSync(path)) {
    createFolder(dirname(path));
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      // Another process may have created the folder meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
}

// Names of files that the engines, SQLite and this module create.
const OWN_FILE_NAME = /^(endpoint|.+\.db(-\w+)?)$/;

/**
 * Revokes the access that an earlier release gave to other users. In a folder that also has other files, such as /tmp, changes
 * only the files of this service.
 */
function denyOtherUsers(path: string): void {
  const entries = readdirSync(path, { withFileTypes: true });
  const ownFiles = entries.filter((entry) => entry.isFile() && OWN_FILE_NAME.test(entry.name));
  for (const { name } of ownFiles) chmodSync(join(path, name), 0o600);
  if (ownFiles.length === entries.length) chmodSync(path, 0o700);
}

// The engine itself would let two processes share its file. SQLite's lock is one of the operating system, which releases it when
// the process ends, even after a SIGKILL. A file with a process id could be out of date.
function lock(path: string, folder: string): () => void {
  try {
    const database = new DatabaseSync(join(path, 'lock.db'), { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    const isBusy = (error as { errcode?: number }).errcode === 5;
    if (!isBusy)
      throw new UserError(`The data folder ${folder} cannot be used: ${firstLine(error)}`);
    throw new FolderInUseError(
      `The data folder ${folder} is in use by another process; choose another one with DATA_DIR`,
      readRecordedEndpoint(path),
    );
  }
}

function readRecordedEndpoint(path: string): string | undefined {
  return existsSync(nameEndpointFile(path))
    ? readFileSync(nameEndpointFile(path), 'utf8') || undefined
    : undefined;
}

function nameEndpointFile(path: string): string {
  return join(path, 'endpoint');
}
