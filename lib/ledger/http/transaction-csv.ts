// Transactions as lines of CSV (RFC 4180).
//
// Formula guard: an apostrophe precedes text that a spreadsheet would run as a formula, text that begins with an apostrophe, and
// empty text (an empty cell is null). A spreadsheet may split cells at semicolons or tabs within the text, even between quotes.
// Therefore an apostrophe is also inserted after a semicolon, tab or line break, if such text follows. An importer removes
// exactly one apostrophe in each of these places.
import type { TransactionWithCategoryName } from '../domain/transaction.ts';

/** Never rename or reorder: an import recognizes an export by exactly this header. */
export const CSV_COLUMNS = [
  ...['id', 'transaction_date', 'description', 'amount', 'type', 'category_name', 'notes'],
  ...['external_id', 'created_at', 'updated_at'],
] as const;

const FORMULA = /^(?:$|'|[\t\r\n]|\s*[=+\-@＝＋－＠])/;
const FORMULA_SIGN = /[=+\-@＝＋－＠]/;
const BLANK = /\s/;
const LINE_OR_TAB = /[\t\r\n]/;
const CELL_BREAK = /[;\t\r\n]/;
const QUOTED = /[",\r\n]|^\s|\s$/;
export const CSV_HEADER = `${CSV_COLUMNS.join(',')}\r\n`;

/** Restores the text of an exported cell. */
export function fromTextCell(cell: string): string {
  return cell.replace(/(?<=^|[;\t\r\n])'/g, '');
}

function toTextCell(text: string | null | undefined): string {
  if (text == null) return '';
  const guardedText = guardInnerCells(text);
  return FORMULA.test(text) ? `'${guardedText}` : guardedText;
}

/**
 * Guards the cells that a spreadsheet may find within the text. A spreadsheet may remove blanks and quotes at the beginning of a
 * cell, so the cell would run if a formula sign follows them. After the first quote, line breaks and tabs are blanks too. The
 * text is read once, from its end, because a search from each break to its sign would take quadratic time.
 */
function guardInnerCells(text: string): string {
  const parts: string[] = [];
  let end = text.length;
  let wouldRun = false;
  let wouldRunAfterQuote = false;
  for (let index = text.length - 1; index > 0; index -= 1) {
    const character = text.charAt(index);
    if (FORMULA_SIGN.test(character)) wouldRun = wouldRunAfterQuote = true;
    else if (character === '"') wouldRun = wouldRunAfterQuote;
    else if (!BLANK.test(character)) wouldRun = wouldRunAfterQuote = false;
    else if (LINE_OR_TAB.test(character)) wouldRun = false;
    if ((wouldRun || character === "'") && CELL_BREAK.test(text.charAt(index - 1))) {
      parts.push(text.slice(index, end));
      end = index;
    }
  }
  return [...parts, text.slice(0, end)].reverse().join("'");
}

export function toCsvLine(transaction: TransactionWithCategoryName): string {
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
  return `${CSV_COLUMNS.map((column) => quote(cells[column])).join(',')}\r\n`;
}

function quote(cell: string): string {
  return QUOTED.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
