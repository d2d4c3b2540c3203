// Reads an Excel workbook (XLSX) as the table that its sheet would be as a CSV file: dates as ISO 8601, numbers with a point.
import { unzipSync, zipSync } from 'fflate';
import readWorkbook from 'read-excel-file/universal';
import { UserError } from '../../shared/user-error.ts';
import type { TableRow } from './csv-text.ts';

/** It is read as a CSV file is. */
export interface Sheet {
  readonly name: string;
  /** Without empty rows. */
  readonly rows: readonly TableRow[];
}

/** Digits that a spreadsheet's number has exactly; later ones are noise of its arithmetic. */
const EXACT_DIGITS = 15;
/** More decimals than any bank writes: a sum of many amounts leaves them behind. */
const DECIMALS_OF_NOISE = /\.\d{9,}$/;
const MAX_DECIMALS = 6;
const SAVE = 'Save it as XLSX or CSV.';
/** Far above the largest statement: a small archive may be made to inflate without end. */
const MAX_UNPACKED_MEBIBYTES = 256;
/** Other ZIP archives, by the names of files in them, which are not compressed. */
const ARCHIVES: readonly (readonly [name: string, what: string])[] = [
  ['opendocument.spreadsheet', `a workbook of LibreOffice (.ods). ${SAVE}`],
  ['Index/Document.iwa', `a workbook of Numbers. ${SAVE}`],
  ['xl/workbook.bin', `a binary workbook of Excel (.xlsb). ${SAVE}`],
];

/**
 * The sheets that have rows.
 * @throws UserError where there is none, or the bytes are another archive, or damaged
 */
export async function readXlsx(bytes: Uint8Array): Promise<readonly [Sheet, ...Sheet[]]> {
  const [first, ...others] = (await readSheets(bytes)).filter(({ rows }) => rows.length > 0);
  if (!first) throw new UserError('The workbook is empty. Choose another file.');
  return [first, ...others];
}

async function readSheets(bytes: Uint8Array) {
  const names = new TextDecoder('latin1').decode(bytes);
  const [, other] = ARCHIVES.find(([name]) => names.includes(name)) ?? [];
  if (other !== undefined) throw new UserError(`This is ${other}`);
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
 * The archive without compression, in a buffer of its own. The reader inflates large sheets in workers that it makes from text,
 * which the policy of the page refuses.
 * @throws UserError where it would unpack to more than MAX_UNPACKED_MEBIBYTES
 */
function unpack(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  let unpacked = 0;
  const filter = ({ originalSize }: { readonly originalSize: number }) => {
    unpacked += originalSize;
    if (unpacked <= MAX_UNPACKED_MEBIBYTES * 2 ** 20) return true;
    const size = `more than ${MAX_UNPACKED_MEBIBYTES} MiB`;
    throw new UserError(`The workbook unpacks to ${size}. Save its sheet as CSV.`);
  };
  return Uint8Array.from(zipSync(unzipSync(bytes, { filter }), { level: 0 }));
}

/** Without empty rows; the others keep their numbers. */
function toRows(data: readonly (readonly unknown[])[]): readonly TableRow[] {
  return data
    .map((row, n) => ({ line: n + 1, cells: row.map(writeCell) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

/** Formulas have the values that they had when the workbook was saved. */
function writeCell(cell: unknown): string {
  if (cell === null || cell === undefined) return '';
  if (cell instanceof Date) return writeDate(cell);
  return String(cell).replace(/\s+/g, ' ').trim();
}

function writeDate(date: Date): string {
  const [day = '', time = ''] = date.toISOString().split('T');
  return time.startsWith('00:00:00') ? day : `${day} ${time.slice(0, 8)}`;
}

/** 45.099999999999994 is 45.10 that was calculated. A whole number keeps all digits: it may be an id. */
function writeNumber(written: string): string {
  if (/^-?\d+$/.test(written)) return written;
  const exact = String(Number(Number(written).toPrecision(EXACT_DIGITS)));
  return DECIMALS_OF_NOISE.test(exact)
    ? String(Number(Number(exact).toFixed(MAX_DECIMALS)))
    : exact;
}
