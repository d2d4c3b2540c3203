// The formats of files besides tables of text. The code of each is loaded only when a file of it comes. A file of a format that
// is not read is refused with its name and the way out: names and endings of downloads often lie.
import { UserError } from '../../shared/user-error.ts';
import type { DecimalSign } from './amounts.ts';
import type { ReadBookings } from './booking.ts';
import type { DateOrder } from './dates.ts';
import { decodeText } from './text-encoding.ts';
import type { Sheet } from './xlsx.ts';

/** A workbook has one sheet or more, each with rows; other formats state their bookings. */
export type FileContents =
  | { readonly kind: 'sheets'; readonly sheets: readonly [Sheet, ...Sheet[]] }
  | ({ readonly kind: 'bookings' } & ReadBookings);

export interface FormatOptions {
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSign | undefined;
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  /** `YYYY-MM-DD` */
  readonly today: string;
}

interface FileFormat {
  /** Common name of the format, such as OFX. */
  readonly name: string;
  /** @param head the first bytes, always decoded as Latin-1 */
  readonly recognizes: (head: string) => boolean;
  /** @throws UserError where the file cannot be read, with the way out */
  readonly read: (bytes: Uint8Array, options: FormatOptions) => Promise<FileContents>;
}

const HEAD_BYTES = 4_096;

const FORMATS: readonly FileFormat[] = [
  {
    name: 'OFX',
    recognizes: (head) => /^\W*OFXHEADER\s*:|<\?OFX\s|<OFX>/i.test(head),
    async read(bytes, { encoding }) {
      const { findOfxCharset, readOfx } = await import('./ofx.ts');
      return toContents(readOfx(decodeDeclared(bytes, findOfxCharset, encoding)));
    },
  },
  {
    name: 'CAMT.053',
    recognizes: (head) => /<(?:[\w.-]+:)?(?:BkToCstmrStmt|BkToCstmrAcctRpt)[\s/>]/.test(head),
    async read(bytes, { encoding }) {
      const { findXmlCharset, readCamt } = await import('./camt.ts');
      return toContents(readCamt(decodeDeclared(bytes, findXmlCharset, encoding)));
    },
  },
  {
    name: 'QIF',
    recognizes: (head) => /^[^\w,;]*!(?:Type|Account|Option|Clear)\b/i.test(head),
    async read(bytes, options) {
      const { readQif } = await import('./qif.ts');
      return toContents(readQif(decodeText(bytes, options.encoding).text, options));
    },
  },
  {
    name: 'Excel',
    recognizes: (head) => head.startsWith('PK\u0003\u0004'),
    async read(bytes) {
      const { readXlsx } = await import('./xlsx.ts');
      return { kind: 'sheets', sheets: await readXlsx(bytes) };
    },
  },
];

const SAVE = 'Open it in a spreadsheet and save it as XLSX or CSV.';
const DOWNLOAD = "Choose CAMT.053, OFX, QIF or CSV among your bank's downloads.";
const UNPACK = 'Unpack it, and import what is in it.';
/** The first mark that fits names the format; a text is how the file begins. */
const UNREAD: readonly (readonly [mark: RegExp | string, what: string, wayOut: string])[] = [
  ['\u00d0\u00cf\u0011\u00e0', 'a workbook of old Excel (.xls)', SAVE],
  ['\u001f\u2039', 'a compressed file (gzip)', UNPACK],
  ['%PDF', 'a PDF', DOWNLOAD],
  [/^\s*(?:\{1:[^}]*\}|:20:)[\s\S]*?:(?:25P?|28C?|60[FM]):/, 'an MT940 statement', DOWNLOAD],
  [/<(?:[\w.-]+:)?BkToCstmrDbtCdtNtfctn[\s>]/, 'CAMT.054, single notifications', DOWNLOAD],
  [/<(?:[\w.-]+:)?Cstmr(?:CdtTrf|DrctDbt)Initn[\s>]/, 'a list of payment orders', DOWNLOAD],
  [/urn:schemas-microsoft-com:office:spreadsheet/, 'a workbook of Excel 2003 (XML)', SAVE],
  [
    /^[^\w,;]*<(?:!doctype html|html|head|meta|table|body)\b/i,
    'a web page (HTML), which some banks call .xls',
    SAVE,
  ],
  [/^[^\w,;]*<(?:\?xml\b|[\w.:-]+\s+xmlns)/, 'an XML file of a kind that is not known', DOWNLOAD],
  [/^\s*(?:\[\s*\{|\{\s*")/, 'JSON', 'Export it as CSV, and import that.'],
];

/** Undefined for a table of text. @throws UserError for a format that is not read */
export function findFormat(bytes: Uint8Array): FileFormat | undefined {
  const latin = new TextDecoder('windows-1252').decode(bytes.subarray(0, HEAD_BYTES));
  // UTF-16 has a zero beside each Latin character.
  const head = latin.replaceAll('\0', '');
  const found = FORMATS.find(({ recognizes }) => recognizes(head));
  if (found) return found;
  const [, what, wayOut] = UNREAD.find(([mark]) => isMarked(head, mark)) ?? [];
  if (what !== undefined) throw new UserError(`This is ${what}. ${wayOut}`);
  return undefined;
}

function isMarked(head: string, mark: RegExp | string): boolean {
  return typeof mark === 'string' ? head.startsWith(mark) : mark.test(head);
}

function toContents(read: Partial<ReadBookings> & Pick<ReadBookings, 'bookings'>): FileContents {
  return { kind: 'bookings', refused: [], leftOut: [], findings: [], needs: [], ...read };
}

/** Many files declare what their bank's template says: bytes that are UTF-8 are UTF-8. */
function decodeDeclared(
  bytes: Uint8Array,
  findCharset: (head: string) => string | undefined,
  chosen: string | undefined,
): string {
  const guessed = decodeText(bytes, chosen);
  if (chosen !== undefined || guessed.encoding === 'utf-8') return guessed.text;
  const charset = findCharset(guessed.text.slice(0, HEAD_BYTES)) ?? '';
  return isEncoding(charset) ? decodeText(bytes, charset).text : guessed.text;
}

function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== '';
  } catch {
    return false;
  }
}
