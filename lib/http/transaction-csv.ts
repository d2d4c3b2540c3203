// Transactions as CSV (RFC 4180), in parts. Concatenated, the parts are one file: only the first has the header, and a Link
// header names the next part.
//
// Formula guard: an apostrophe precedes text that a spreadsheet would run, text that begins with an apostrophe, and empty
// text (an empty cell is null). A spreadsheet that splits cells at semicolons or tabs begins a cell within the text, where
// quotes do not protect it: an apostrophe also follows a semicolon, tab or line break before such text. An importer removes
// exactly one apostrophe in each of these places.
import * as v from 'valibot';
import { isCalendarDate } from '../domain/calendar-date.ts';
import { isAssignableId } from '../domain/record.ts';
import type {
  ExportPart,
  ExportQuery,
  ListPosition,
  NamedTransaction,
} from '../domain/transaction.ts';
import { parseFilter } from './fields.ts';
import { toTransactionSelection, transactionSelection } from './transaction-json.ts';

/** Never rename or reorder: an import recognizes an export by exactly this header. */
export const CSV_COLUMNS = [
  ...['id', 'transaction_date', 'description', 'amount', 'type', 'category_name', 'notes'],
  ...['external_id', 'created_at', 'updated_at'],
] as const;

/** A response of Lambda may have 6 MB of JSON text, in which a control character takes 6 bytes. */
const LARGEST_PART_BYTES = 4_000_000;

const FORMULA = /^(?:$|'|[\t\r\n]|\s*[=+\-@＝＋－＠])/;
/** Quotes around a cell or doubled in it may be taken away. */
const FORMULA_WITHIN = /(?<=[;\t\r\n])(?='|[^\S\t\r\n]*(?:"\s*)*[=+\-@＝＋－＠])/g;
const QUOTED = /[",\r\n]|^\s|\s$/;
const CURSOR = /^(\d{4}-\d{2}-\d{2}) (\d{1,15}) (\d{1,16})$/;

export const exportQuery = v.object({
  ...transactionSelection,
  cursor: v.exactOptional(
    v.pipe(
      v.string(),
      v.transform(toPosition),
      v.check((position) => position !== undefined, 'Must be the cursor of a Link header.'),
      v.description('The cursor in the Link header of the previous part.'),
    ),
  ),
});

type Query = Readonly<Record<string, string | undefined>>;

/** @throws ValidationError with the errors of every parameter */
export function parseExportQuery(query: Query): ExportQuery {
  const { cursor: after, ...sent } = parseFilter(exportQuery, query);
  return { ...toTransactionSelection(sent), after };
}

/** @param query as it was sent: the link repeats its filters */
export function toCsvPart({ items, next }: ExportPart<NamedTransaction>, query: Query) {
  const { start_date = '', end_date = '', cursor } = query;
  const lines = cursor === undefined ? [`${CSV_COLUMNS.join(',')}\r\n`] : [];
  let size = 0;
  let last = next;
  for (const [n, item] of items.entries()) {
    const line = toLine(item);
    size += Buffer.byteLength(JSON.stringify(line));
    if (size > LARGEST_PART_BYTES) {
      last = items[n - 1];
      break;
    }
    lines.push(line);
  }
  const name = ['transactions', start_date, end_date].filter((part) => part !== '').join('_');
  const headers = {
    'content-type': `text/csv; charset=utf-8; header=${cursor === undefined ? 'present' : 'absent'}`,
    'content-disposition': `attachment; filename="${name}.csv"`,
    ...(last && { link: `<?${nextQuery(query, last)}>; rel="next"` }),
  };
  return { text: lines.join(''), headers };
}

/** The text of a cell, as it was before the export. */
export function fromTextCell(cell: string): string {
  return cell.replace(/(?<=^|[;\t\r\n])'/g, '');
}

function toTextCell(text: string | null | undefined): string {
  if (text == null) return '';
  const guarded = text.replace(FORMULA_WITHIN, "'");
  return FORMULA.test(text) ? `'${guarded}` : guarded;
}

function toLine(transaction: NamedTransaction): string {
  const cells: Record<(typeof CSV_COLUMNS)[number], string> = {
    id: String(transaction.id),
    transaction_date: transaction.date,
    description: toTextCell(transaction.description),
    amount: String(transaction.amount),
    type: transaction.type,
    category_name: toTextCell(transaction.categoryName),
    notes: toTextCell(transaction.notes),
    external_id: toTextCell(transaction.externalId),
    created_at: new Date(transaction.createdAt).toISOString(),
    updated_at: new Date(transaction.updatedAt).toISOString(),
  };
  return `${CSV_COLUMNS.map((column) => quoted(cells[column])).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function nextQuery(query: Query, { date, createdAt, id }: ListPosition): string {
  const cursor = Buffer.from(`${date} ${createdAt} ${id}`).toString('base64url');
  const sent = Object.entries(query).map(([name, value = '']) => [name, value]);
  return new URLSearchParams({ ...Object.fromEntries(sent), cursor }).toString();
}

/** Undefined for an invalid cursor. A forged one is harmless: a query reads only the caller's ledger. */
function toPosition(cursor: string): ListPosition | undefined {
  const [, date = '', createdAt, id] = CURSOR.exec(String(Buffer.from(cursor, 'base64url'))) ?? [];
  const isPosition = isCalendarDate(date) && isAssignableId(Number(id));
  return isPosition ? { date, createdAt: Number(createdAt), id: Number(id) } : undefined;
}
