// Reads a file that a bank or a spreadsheet wrote as a statement.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  readStatement,
  type Statement,
  type StatementOptions,
} from '../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../lib/shared/user-error.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'this user may not read it',
};

/** Far above the largest statement: a larger file must have been named by mistake. */
const MAX_MEBIBYTES = 256;

/** @throws UserError if the file cannot be read */
export function readBytes(file: string): Uint8Array {
  const descriptor = open(file);
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw createReadError(file, 'it is a folder');
    // A device or a pipe may have no end.
    if (!stats.isFile())
      throw createReadError(file, 'it is a device or a pipe. Save its contents as a file first');
    if (stats.size > MAX_MEBIBYTES * 2 ** 20)
      throw createReadError(
        file,
        `it has more than ${MAX_MEBIBYTES} MiB. Download a shorter period`,
      );
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Opens the file without waiting for the writer of a pipe. */
function open(file: string): number {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw createReadError(file, REASONS[code] ?? message, cause);
  }
}

function createReadError(file: string, reason: string, cause?: unknown): UserError {
  return new UserError(`The file ${file} cannot be read: ${reason}.`, { cause });
}

/** @throws UserError that names the file, if the file cannot be read as a statement */
export async function readFile(
  file: string,
  bytes: Uint8Array,
  options: StatementOptions,
): Promise<Statement> {
  try {
    return await readStatement(bytes, options);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${basename(file)}: ${error.message}`, { cause: error });
  }
}
