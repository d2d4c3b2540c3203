// Cursors: opaque strings for the position of the last row of a page or part. The next page or part begins after that row. A
// forged cursor is harmless, because a query reads only the caller's ledger. A cursor of the wrong kind is refused, because the
// next page would lack rows.
import * as v from 'valibot';
import { isCalendarDate } from '../domain/calendar-date.ts';
import type { ImportPosition } from '../domain/import-part.ts';
import {
  type ListPosition,
  type PageEnd,
  ROW_ORDERS,
  type RowOrder,
} from '../domain/pagination.ts';
import { isAssignableId } from '../domain/record.ts';

/**
 * A page cursor also has an amount and a sort order, because a search may be sorted by amount. In the export of a single month,
 * the cursor of a part also has the digest of the parts so far.
 */
const CURSOR =
  /^(\d{4}-\d{2}-\d{2}) (\d{1,15}) (\d{1,16})(?: (-?\d{1,12}(?:\.\d{1,2})?) (-?(?:date|amount))| digest (\d{1,38}))?$/;
const IMPORT_CURSOR = /^(\d{1,4}) (.{1,64})$/u;

/** Creates the cursor after which the next page begins. */
export function toPageCursor({ amount, order, ...position }: PageEnd): string {
  return encodeText(`${formatPosition(position)} ${amount} ${order}`);
}

/** Creates the cursor after which the next part of an export begins. */
export function toPartCursor(position: ListPosition, digest?: bigint): string {
  const suffix = digest === undefined ? '' : ` digest ${digest}`;
  return encodeText(formatPosition(position) + suffix);
}

/** Creates the cursor after which the next page of imports begins. */
export function toImportCursor({ importId, part }: ImportPosition): string {
  return encodeText(`${part} ${importId}`);
}

export const pageCursor = v.pipe(
  v.string(),
  v.transform(decodeCursor),
  v.check((position) => position?.amount !== undefined, 'Must be the next_cursor of a page.'),
  v.transform((position) => position as PageEnd),
);

export const partCursor = v.pipe(
  v.string(),
  v.transform(decodeCursor),
  v.check(
    (position) => position !== undefined && position.amount === undefined,
    'Must be the cursor of the previous part.',
  ),
);

export const importCursor = v.pipe(
  v.string(),
  v.transform(decodeImportCursor),
  v.check((position) => position !== undefined, 'Must be the cursor of the previous page.'),
);

function formatPosition({ date, createdAt, id }: ListPosition): string {
  return `${date} ${createdAt} ${id}`;
}

function encodeText(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/**
 * Decodes a cursor. Returns an empty string if the cursor does not come from `encodeText`. Buffer alone would skip characters
 * that are not base64.
 */
function decodeText(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  return encodeText(text) === cursor ? text : '';
}

interface DecodedCursor extends ListPosition {
  readonly amount: number | undefined;
  readonly order: RowOrder | undefined;
  readonly digest: bigint | undefined;
}

function decodeCursor(cursor: string): DecodedCursor | undefined {
  const match = CURSOR.exec(decodeText(cursor));
  const [, date = '', createdAt, id, amount, order, digest] = match ?? [];
  if (!isCalendarDate(date) || !isAssignableId(Number(id))) return undefined;
  return {
    date,
    createdAt: Number(createdAt),
    id: Number(id),
    amount: amount === undefined ? undefined : Number(amount),
    order: ROW_ORDERS.find((each) => each === order),
    digest: digest === undefined ? undefined : BigInt(digest),
  };
}

function decodeImportCursor(cursor: string): ImportPosition | undefined {
  const [, part, importId] = IMPORT_CURSOR.exec(decodeText(cursor)) ?? [];
  return importId === undefined ? undefined : { importId, part: Number(part) };
}
