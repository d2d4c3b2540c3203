// The text of a file that a bank or a spreadsheet wrote, whatever its encoding.
import { readFileSync } from 'node:fs';
import { CSV_COLUMNS } from '../../../lib/ledger/http/transaction-csv.ts';
import { UserError } from '../../../lib/shared/user-error.ts';

export interface EncodedText {
  readonly text: string;
  readonly encoding: 'UTF-8' | 'UTF-16' | 'ISO-8859-1 (Windows-1252)';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};
/** A UTF-16 file without a byte order mark has a zero byte in most of its Latin characters. */
const SAMPLE_BYTES = 1_000;
const UTF16_SHARE = 0.3;
const EXPORT_HEADER = CSV_COLUMNS.join();

/** @throws UserError where the file cannot be read, or is no text */
export function readText(file: string): EncodedText {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new UserError(`The file ${file} cannot be read: ${REASONS[code] ?? message}.`, {
      cause,
    });
  }
  const decoded = decodeText(bytes);
  // A text of the ledger may have a zero character, a bank's has none.
  if (!decoded.text.includes('\0') || decoded.text.startsWith(EXPORT_HEADER)) return decoded;
  throw new UserError(`${file} is not a text file. Save or download it as CSV.`);
}

/** Without a byte order mark. */
export function decodeText(bytes: Uint8Array): EncodedText {
  const isExport = Buffer.from(bytes.subarray(0, EXPORT_HEADER.length)).equals(
    Buffer.from(EXPORT_HEADER),
  );
  const utf16 = isExport ? undefined : utf16Of(bytes);
  if (utf16) return { text: new TextDecoder(utf16).decode(bytes), encoding: 'UTF-16' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'UTF-8' };
  } catch {
    // Windows-1252 is ISO-8859-1 with printable characters, such as the euro, in place of control characters.
    const text = new TextDecoder('windows-1252').decode(bytes);
    return { text, encoding: 'ISO-8859-1 (Windows-1252)' };
  }
}

function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const sample = [...bytes.subarray(0, SAMPLE_BYTES)];
  const zerosAt = (remainder: number) =>
    sample.filter((byte, n) => byte === 0 && n % 2 === remainder).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  if (Math.max(even, odd) < sample.length * UTF16_SHARE) return undefined;
  if (even > 0 && odd > 0) return undefined;
  return odd > 0 ? 'utf-16le' : 'utf-16be';
}
