// The formats of files besides tables of text. The code of each is loaded only when a file of it comes.
import type { ReadBookings } from './booking.ts';
import type { TableRow } from './csv-text.ts';

/** A sheet is read as a CSV file is; other formats state their bookings. */
export type FileContents =
  | { readonly kind: 'sheet'; readonly rows: readonly TableRow[] }
  | ({ readonly kind: 'bookings' } & ReadBookings);

export interface FileFormat {
  /** As a person knows it, such as OFX. */
  readonly name: string;
  /** @param head the first bytes as Latin text, whatever their encoding */
  readonly recognizes: (head: string) => boolean;
  /** @throws UserError where the file cannot be read, with the way out */
  readonly read: (bytes: Uint8Array) => Promise<FileContents>;
}

const HEAD_BYTES = 4_096;

const FORMATS: readonly FileFormat[] = [];

export function findFormat(bytes: Uint8Array): FileFormat | undefined {
  const head = new TextDecoder('windows-1252').decode(bytes.subarray(0, HEAD_BYTES));
  return FORMATS.find(({ recognizes }) => recognizes(head));
}
