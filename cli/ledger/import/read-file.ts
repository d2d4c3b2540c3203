// A file that a bank or a spreadsheet wrote, as a statement.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  readStatement,
  type Statement,
  type StatementOptions,
} from '../../../lib/ledger/import/statement.ts';
import { UserError } from '../../../lib/shared/user-error.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};

/** @throws UserError where the file cannot be read */
export function readBytes(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new UserError(`The file ${file} cannot be read: ${REASONS[code] ?? message}.`, {
      cause,
    });
  }
}

/** @throws UserError that names the file where it cannot be read as a statement */
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
