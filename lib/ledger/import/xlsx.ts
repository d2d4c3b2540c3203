// Reads an Excel workbook (XLSX) as if its sheets were CSV files: dates as ISO 8601, numbers with a decimal point.
import { unzipSync, zipSync } from 'fflate';
import readWorkbook from 'read-excel-file/universal';
import { UserError } from '../../shared/user-error.ts';
import type { TableRow } from './csv-text.ts';

/** A sheet of a workbook, with the rows of the equivalent CSV file. */
export interface Sheet {
  readonly name: string;
  /** The rows of the sheet that are not empty. */
  readonly rows: readonly TableRow[];
}

/** Number of digits that a spreadsheet keeps exactly; further digits are rounding errors. */
const EXACT_DIGITS = 15;
/** More decimals than any bank writes: rounding errors of long sums. */
const NOISY_DECIMALS = /\.\d{9,}$/;
const MAX_DECIMALS = 6;
const SAVE_ADVICE = 'Save it as XLSX or CSV.';
/** Far above the largest statement. Without a limit, a small archive could fill the memory. */
const MAX_UNPACKED_MEBIBYTES = 256;
/** ZIP archives of other programs, recognized by the names of the files inside, which are not compressed. */
const ARCHIVES: readonly (readonly [name: string, what: string])[] = [
  ['opendocument.spreadsheet', `a LibreOffice workbook (.ods). ${SAVE_ADVICE}`],
  ['Index/Document.iwa', `a Numbers workbook. ${SAVE_ADVICE}`],
  ['xl/workbook.bin', `a binary Excel workbook (.xlsb). ${SAVE_ADVICE}`],
];

/**
 * Reads the sheets that have rows.
 * @throws UserError if no sheet has one, or the bytes are damaged or another archive
 */
export async function readXlsx(bytes: Uint8Array): Promise<readonly [Sheet, ...Sheet[]]> {
  const [first, ...others] = (await readSheets(bytes)).filter(({ rows }) => rows.length > 0);
  if (!first) throw new UserError('The workbook is empty. Choose another file.');
  return [first, ...others];
}

async function readSheets(bytes: Uint8Array) {
  const names = new TextDecoder('latin1').decode(bytes);
  const [, otherFormat] = ARCHIVES.find(([name]) => names.includes(name)) ?? [];
  if (otherFormat !== undefined) throw new UserError(`This is ${otherFormat}`);
  if (!names.includes('xl/'))
    throw new UserError('This is a ZIP archive. Unpack it, and import each file in it.');
  try {
    const { buffer } = unpack(bytes);
    const sheets = await readWorkbook<string>(buffer, { parseNumber: writeNumber });
    return sheets.map(({ sheet, data }) => ({ name: sheet, rows: toRows(data) }));
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const message = 'The workbook cannot be read. Open it and save it again as XLSX or CSV.';
    throw new UserError(message, { cause });
  }
}

/**
 * Repacks the archive without compression, into a new buffer. Otherwise the reader would inflate large sheets in workers
 * that it creates from text, which the page's security policy forbids.
 * @throws UserError if the archive unpacks to more than MAX_UNPACKED_MEBIBYTES
 */
function unpack(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  let unpackedBytes = 0;
  const filter = ({ originalSize }: { readonly originalSize: number }) => {
    unpackedBytes += originalSize;
    if (unpackedBytes <= MAX_UNPACKED_MEBIBYTES * 2 ** 20) return true;
    const size = `more than ${MAX_UNPACKED_MEBIBYTES} MiB`;
    throw new UserError(`The workbook unpacks to ${size}. Save its sheet as CSV.`);
  };
  return Uint8Array.from(zipSync(unzipSync(bytes, { filter }), { level: 0 }));
}

/** Drops empty rows; the others keep their line numbers. */
function toRows(data: readonly (readonly unknown[])[]): readonly TableRow[] {
  return data
    .map((row, n) => ({ line: n + 1, cells: row.map(writeCell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

/** Writes a cell as text. A formula counts as the value that was saved with it. */
function writeCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return writeDate(cell);
  return String(cell).replace(/\s+/g, ' ').trim();
}

function writeDate(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 8)}`;
}

/**
 * Writes a number without rounding errors: 45.099999999999994 is a calculated 45.10. A whole number keeps all digits, because it
 * may be an id.
 */
function writeNumber(source: string): string {
  if (/^-?\d+$/.test(source)) return source;
  const exactText = String(Number(Number(source).toPrecision(EXACT_DIGITS)));
  return NOISY_DECIMALS.test(exactText)
    ? String(Number(Number(exactText).toFixed(MAX_DECIMALS)))
    : exactText;
}
