// Transactions as lines of CSV (RFC 4180).
//
// Formula guard: an apostrophe precedes text that a spreadsheet would run, text that begins with an apostrophe, and empty
// text (an empty cell is null). A spreadsheet that splits cells at semicolons or tabs begins a cell within the text, where
// quotes do not protect it: an apostrophe also follows a semicolon, tab or line break before such text. An importer removes
// exactly one apostrophe in each of these places.
import type { NamedTransaction } from '../domain/transaction.ts';

/** Never rename or reorder: an import recognizes an export by exactly this header. */
export const CSV_COLUMNS = [
  ...['id', 'transaction_date', 'description', 'amount', 'type', 'category_name', 'notes'],
  ...['external_id', 'created_at', 'updated_at'],
] as const;

const FORMULA = /^(?:$|'|[\t\r\n]|\s*[=+\-@＝＋－＠])/;
/** Quotes around a cell or doubled in it may be taken away. */
const FORMULA_WITHIN = /(?<=[;\t\r\n])(?='|[^\S\t\r\n]*(?:"\s*)*[=+\-@＝＋－＠])/g;
const QUOTED = /[",\r\n]|^\s|\s$/;
export const CSV_HEADER = `${CSV_COLUMNS.join(',')}\r\n`;

/** The text of a cell, as it was before the export. */
export function fromTextCell(cell: string): string {
  return cell.replace(/(?<=^|[;\t\r\n])'/g, '');
}

function toTextCell(text: string | null | undefined): string {
  if (text == null) return '';
  const guarded = text.replace(FORMULA_WITHIN, "'");
  return FORMULA.test(text) ? `'${guarded}` : guarded;
}

export function toCsvLine(transaction: NamedTransaction): string {
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
