// Recognizes files that are not text tables by their content, because extensions of downloads are often wrong. The code of a
// format is loaded only when a file needs it. A file in an unsupported format is refused, with the name of that format and what
// to do instead.
import { UserError } from '../../shared/user-error.ts';
import type { DecimalSeparator } from './amounts.ts';
import type { DateOrder } from './dates.ts';
import type { ParsedEntries } from './entry.ts';
import { decodeText } from './text-encoding.ts';
import type { Sheet } from './xlsx.ts';

/** A workbook has one sheet or more, each with rows; every other format lists its entries directly. */
export type FileContents =
  | { readonly kind: 'sheets'; readonly sheets: readonly [Sheet, ...Sheet[]] }
  | ({ readonly kind: 'entries' } & ParsedEntries);

export interface FormatOptions {
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  /** `YYYY-MM-DD` */
  readonly today: string;
}

interface FileFormat {
  /** Common name of the format, such as OFX. */
  readonly name: string;
  /** @param head the first bytes, always decoded as windows-1252, without zero bytes */
  readonly recognizes: (head: string) => boolean;
  /** @throws UserError if the file cannot be read; the message says what to do instead */
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

const SAVE_ADVICE = 'Open it in a spreadsheet and save it as XLSX or CSV.';
const DOWNLOAD_ADVICE = "Choose CAMT.053, OFX, QIF or CSV among your bank's downloads.";
const UNPACK_ADVICE = 'Unpack it, and import its contents.';
/**
 * Formats that are recognized only to be refused; the first match decides. A file has a mark if it begins with the string or
 * matches the expression.
 */
const UNSUPPORTED_FORMATS: readonly (readonly [
  mark: RegExp | string,
  what: string,
  remedy: string,
])[] = [
  ['\u00d0\u00cf\u0011\u00e0', 'an old Excel workbook (.xls)', SAVE_ADVICE],
  ['\u001f\u2039', 'a compressed file (gzip)', UNPACK_ADVICE],
  ['%PDF', 'a PDF', DOWNLOAD_ADVICE],
  [/^\s*(?:\{1:[^}]*\}|:20:)[\s\S]*?:(?:25P?|28C?|60[FM]):/, 'an MT940 statement', DOWNLOAD_ADVICE],
  [/<(?:[\w.-]+:)?BkToCstmrDbtCdtNtfctn[\s>]/, 'CAMT.054, single notifications', DOWNLOAD_ADVICE],
  [/<(?:[\w.-]+:)?Cstmr(?:CdtTrf|DrctDbt)Initn[\s>]/, 'a list of payment orders', DOWNLOAD_ADVICE],
  [/urn:schemas-microsoft-com:office:spreadsheet/, 'an Excel 2003 workbook (XML)', SAVE_ADVICE],
  [
    /^[^\w,;]*<(?:!doctype html|html|head|meta|table|body)\b/i,
    'a web page (HTML), which some banks call .xls',
    SAVE_ADVICE,
  ],
  [/^[^\w,;]*<(?:\?xml\b|[\w.:-]+\s+xmlns)/, 'an XML file of an unknown kind', DOWNLOAD_ADVICE],
  [/^\s*(?:\[\s*\{|\{\s*")/, 'JSON', 'Export it as CSV, and import that.'],
];

/**
 * @returns undefined for a table of text
 * @throws UserError for a format that cannot be read
 */
export function findFormat(bytes: Uint8Array): FileFormat | undefined {
  const latinText = new TextDecoder('windows-1252').decode(bytes.subarray(0, HEAD_BYTES));
  // UTF-16 has a zero byte beside each Latin character. Without these bytes, formats in UTF-16 are recognized too.
  const head = latinText.replaceAll('\0', '');
  const format = FORMATS.find(({ recognizes }) => recognizes(head));
  if (format) return format;
  const [, what, remedy] = UNSUPPORTED_FORMATS.find(([mark]) => isMarked(head, mark)) ?? [];
  if (what !== undefined) throw new UserError(`This is ${what}. ${remedy}`);
  return undefined;
}

function isMarked(head: string, mark: RegExp | string): boolean {
  return typeof mark === 'string' ? head.startsWith(mark) : mark.test(head);
}

function toContents(parsed: Partial<ParsedEntries> & Pick<ParsedEntries, 'entries'>): FileContents {
  return { kind: 'entries', refused: [], leftOut: [], findings: [], questions: [], ...parsed };
}

/**
 * Many files declare the encoding of their bank's template instead of their own. If the bytes are valid UTF-8, that decides.
 */
function decodeDeclared(
  bytes: Uint8Array,
  findCharset: (head: string) => string | undefined,
  chosenEncoding: string | undefined,
): string {
  const guessedText = decodeText(bytes, chosenEncoding);
  if (chosenEncoding !== undefined || guessedText.encoding === 'utf-8') return guessedText.text;
  const charset = findCharset(guessedText.text.slice(0, HEAD_BYTES)) ?? '';
  return isEncoding(charset) ? decodeText(bytes, charset).text : guessedText.text;
}

function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== '';
  } catch {
    return false;
  }
}
