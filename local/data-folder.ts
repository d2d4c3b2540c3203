// The folder of the embedded database, held by one start at a time.
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { firstLine, StartError } from './start-error.ts';

export interface DataFolder {
  readonly databaseFile: string;
  release(): void;
}

/**
 * Makes the folder where it is missing and locks it.
 * @throws StartError when it is no writable folder, or another start holds it
 */
export function openDataFolder(folder: string): DataFolder {
  const path = resolve(folder);
  try {
    makeFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StartError(`The data folder ${folder} cannot be used: ${firstLine(error)}`);
  }
  return { databaseFile: join(path, 'ledger.db'), release: lock(path, folder) };
}

// Not `recursive: true`: where a file system refuses new folders with ENOENT, as /proc does, that never returns.
function makeFolder(path: string): void {
  if (!existsSync(path)) {
    makeFolder(dirname(path));
    try {
      mkdirSync(path);
    } catch (error) {
      // Another start may have made it just now.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
}

// The engine itself lets two processes share a file. SQLite's lock is one of the operating system, so that it
// goes away with its holder, however that ends; a file with a process id in it would have to be doubted.
function lock(path: string, folder: string): () => void {
  try {
    const database = new DatabaseSync(join(path, 'lock.db'), { timeout: 0 });
    database.exec('BEGIN EXCLUSIVE');
    return () => database.close();
  } catch (error) {
    const busy = (error as { errcode?: number }).errcode === 5;
    throw new StartError(
      busy
        ? `The data folder ${folder} is in use by another start; choose another one with DATA_DIR`
        : `The data folder ${folder} cannot be used: ${firstLine(error)}`,
    );
  }
}
