// Separates the rows of a table that can be entries from those whose form shows that they are not: headers, balances, notes,
// and entries that never happened or are still pending.
import { looksLikeAmount } from './amounts.ts';
import { type Field, findNamedColumns, isPostingDate, normalizeName } from './column-names.ts';
import type { TableRow } from './csv-text.ts';
import { looksLikeDate, NO_YEAR } from './dates.ts';
import { memoizeByText } from './distinct-texts.ts';
import { type LeftOutLine, pluralize, type RefusedLine } from './entry.ts';
import {
  findFlagReason,
  findLeaveOutReason,
  isBalanceText,
  isCountedFlag,
  isDoubtfulFlag,
  isYes,
  isYesOrNo,
  mentionsBalance,
} from './entry-words.ts';
import type { Table } from './table.ts';

/** Words that mean a balance only in a description, not in another column such as a category. */
const GENERIC_BALANCE = /^(?:balance|saldo|solde|kontostand|turnover)$/i;
/** Words that may also begin the name of a shop. */
const POSSIBLE_NAME = /^(?:totals?|totale|totaal|sum|suma|summa|summe|gesamt|razem)\b/i;

export type CellReader = (record: TableRow, field: Field) => string | null;

/** Reads the first non-empty cell among the columns of a field. */
export function createCellReader({ columns }: Table): CellReader {
  return ({ cells }, field) => {
    for (const index of columns[field]) {
      const cell = cells[index]?.trim();
      if (cell) return cell;
    }
    return null;
  };
}

interface SeparatedRows {
  readonly records: readonly TableRow[];
  readonly refused: RefusedLine[];
  readonly leftOut: LeftOutLine[];
  /** Finds the header of the column that marks the row as one that may not count. */
  readonly findDoubtfulColumn: (row: TableRow) => string | undefined;
}

export function separateRows(
  table: Table,
  readCell: CellReader,
  leaveOut: readonly string[],
): SeparatedRows {
  const isDate = memoizeByText((text) => looksLikeDate(text) || NO_YEAR.test(text));
  const flags = findFlags(table, leaveOut);
  const judgeRow = createRowJudge({ table, readCell, leaveOut, isDate, flags });
  const records: TableRow[] = [];
  const leftOut: LeftOutLine[] = [];
  const refused = [...refuseEntriesAbove(table, readCell, isDate)];
  for (const row of table.rows) {
    const verdict = judgeRow(row);
    if (verdict === undefined) records.push(row);
    else if ('reason' in verdict) leftOut.push(toLeftOutLine(row, verdict.reason));
    else refused.push({ ...locateRefused(row), ...verdict });
  }
  const findDoubtfulColumn = (row: TableRow) => findMarkingFlag(row, flags)?.header;
  return { records, leftOut, refused, findDoubtfulColumn };
}

/** Reason why a row is left out, or message why it is refused; undefined if it may be an entry. */
type Verdict = { readonly reason: string } | { readonly message: string } | undefined;

interface Criteria {
  readonly table: Table;
  readonly readCell: CellReader;
  /** Words of the status column whose rows the user leaves out. */
  readonly leaveOut: readonly string[];
  readonly isDate: (text: string) => boolean;
  readonly flags: readonly Flag[];
}

function createRowJudge({
  table,
  readCell,
  leaveOut,
  isDate,
  flags,
}: Criteria): (row: TableRow) => Verdict {
  const { rows, headers, columns, width } = table;
  const findReason = memoizeByText((text) => findLeaveOutReason(text, leaveOut));
  const isUnposted = createUnpostedTest(table);
  const lastLine = rows.findLast(({ cells }) => isDated(cells))?.line ?? 0;
  let otherHeaderLine: number | undefined;
  return (row) => {
    const { cells, line } = row;
    const date = readCell(row, 'date');
    const hasDate = date !== null && isDate(date);
    const status = readCell(row, 'status') ?? date;
    const reason =
      findMarkingFlag(row, flags)?.reason ?? (status === null ? undefined : findReason(status));
    const isRegularRow = cells.length >= width && isBlankFrom(cells, headers.length);
    if (isHeader(cells, headers)) {
      otherHeaderLine = undefined;
      return { reason: 'the header again' };
    }
    if (!hasDate && isOtherHeader(cells)) otherHeaderLine = line;
    if (otherHeaderLine !== undefined) return { message: describeOtherTable(otherHeaderLine) };
    if (isBalanceRow(cells, columns.description, hasDate)) return { reason: 'a balance or total' };
    if (isRegularRow && reason !== undefined) return { reason };
    if (isRegularRow && hasDate && isUnposted(row)) return { reason: UNPOSTED };
    const isTextRow = isNote(row) || isContinuation(row, readCell);
    if (!hasDate && (isTextRow || (line < lastLine && isTitle(cells))))
      return { reason: 'without date and amount' };
    if (isRegularRow) return undefined;
    return { message: `It has ${pluralize(cells.length, 'cell')}, the header ${width}.` };
  };
}

const UNPOSTED = 'without the posting date that other rows have: not booked yet';

function describeOtherTable(line: number): string {
  return `Line ${line} names other columns: it belongs to another table. Import that table from a separate file.`;
}

/**
 * Refuses entries above the header, so that none is lost: they belong to another table, or the line taken for a header
 * is not one. Without a header, the table begins at the first row that can be read, so a row above it may have an unreadable date.
 */
function refuseEntriesAbove(
  { above, width, headerLine, columns }: Table,
  readCell: CellReader,
  isDate: (text: string) => boolean,
): readonly RefusedLine[] {
  const amounts = ['amount', 'debit', 'credit'] as const;
  const hasHeader = headerLine > 0;
  const mayBeDate = hasHeader ? isDate : (text: string) => isDate(text) || /\d/.test(text);
  const message = hasHeader
    ? 'It is above the line that names the columns.'
    : 'It is above the first row with a readable date.';
  return above
    .filter((row) => row.cells.length >= width && mayBeDate(readCell(row, 'date') ?? ''))
    .filter((row) => amounts.some((field) => looksLikeAmount(readCell(row, field) ?? '')))
    .filter(({ cells }) => hasHeader || !isBalanceRow(cells, columns.description, false))
    .map((row) => ({ ...locateRefused(row), message }));
}

/** A yes/no column for one state, such as "pending". */
interface Flag {
  readonly index: number;
  readonly header: string;
  /** True if "no" marks a row, instead of "yes". */
  readonly isMarkedByNo: boolean;
  /** Why marked rows are left out; undefined if the user must decide. */
  readonly reason: string | undefined;
}

function findFlags({ headers, rows }: Table, leaveOut: readonly string[]): readonly Flag[] {
  const chosenNames = leaveOut.map(normalizeName);
  return headers.flatMap((header, index) => {
    const knownReason = findFlagReason(header);
    const isMarkedByNo = isCountedFlag(header);
    if (knownReason === undefined && !isMarkedByNo && !isDoubtfulFlag(header)) return [];
    const cells = rows.map((row) => row.cells[index] ?? '').filter((cell) => cell !== header);
    if (!cells.every(isYesOrNo)) return [];
    const isNamedByUser = chosenNames.includes(normalizeName(header));
    const reason = knownReason ?? (isNamedByUser ? `"${header}"` : undefined);
    return { index, header, isMarkedByNo, reason };
  });
}

function findMarkingFlag({ cells }: TableRow, flags: readonly Flag[]): Flag | undefined {
  if (flags.length === 0) return undefined;
  const markingFlags = flags.filter(
    ({ index, isMarkedByNo }) => isYes(cells[index] ?? '') !== isMarkedByNo,
  );
  return markingFlags.find(({ reason }) => reason !== undefined) ?? markingFlags[0];
}

/** Returns a test for rows that are not booked yet: an authorised purchase has no posting date, while most rows have one. */
function createUnpostedTest({ headers, rows }: Table): (row: TableRow) => boolean {
  const postingColumn = headers.findIndex((header) => isPostingDate(normalizeName(header)));
  const otherDateColumns = headers.flatMap((header, index) =>
    index !== postingColumn && findNamedColumns([normalizeName(header)], 'date').length > 0
      ? index
      : [],
  );
  if (postingColumn < 0 || otherDateColumns.length === 0) return () => false;
  const isPosted = ({ cells }: TableRow) => looksLikeDate(cells[postingColumn]?.trim() ?? '');
  if (rows.filter(isPosted).length * 2 < rows.length) return () => false;
  return (row) =>
    (row.cells[postingColumn] ?? '').trim() === '' &&
    otherDateColumns.some((index) => looksLikeDate(row.cells[index]?.trim() ?? ''));
}

function isHeader(cells: readonly string[], headers: readonly string[]): boolean {
  return cells.length === headers.length && cells.every((cell, index) => cell === headers[index]);
}

/** True for the header of another table below the rows of this one. */
function isOtherHeader(cells: readonly string[]): boolean {
  if (cells.some((cell) => /\d/.test(cell))) return false;
  const names = cells.map(normalizeName);
  const amounts = (['amount', 'debit', 'credit'] as const).flatMap((field) =>
    findNamedColumns(names, field),
  );
  return findNamedColumns(names, 'date').length > 0 && amounts.length > 0;
}

function isBlankFrom(cells: readonly string[], first: number): boolean {
  return cells.every((cell, index) => index < first || cell.trim() === '');
}

export function toLeftOutLine({ line, cells }: TableRow, reason: string): LeftOutLine {
  return {
    line,
    reason,
    text: cells
      .filter((cell) => cell.trim() !== '')
      .join(' | ')
      .slice(0, 200),
  };
}

/** Locates a refused row. One with a date and an amount may be an entry with a mistake. */
export function locateRefused({ line, cells }: TableRow): Omit<RefusedLine, 'message'> {
  // A truncated file may end after the decimal separator.
  const texts = cells.map((cell) => cell.trim().replace(/[.,]$/, ''));
  const hasAmount = texts.some((text) => looksLikeAmount(text) && !looksLikeDate(text));
  return { line, mayBeEntry: isDated(cells) && hasAmount };
}

function isDated(cells: readonly string[]): boolean {
  return cells.some((cell) => looksLikeDate(cell.trim()));
}

/** True for the title of a section, or a note below the rows. A short text with digits is a row that was cut off. */
function isNote({ cells }: TableRow): boolean {
  const filledCells = cells.filter((cell) => cell.trim() !== '');
  const [onlyCell = ''] = filledCells;
  return (
    filledCells.length === 1 &&
    (!/\d/.test(onlyCell) || /^\s*[#*]|\s\S+\s\S+\s/.test(onlyCell)) &&
    !isDated(cells)
  );
}

/** True for a line such as "Account;Savings" above the rows of an account. */
function isTitle(cells: readonly string[]): boolean {
  return cells.every((cell) => !/\d/.test(cell));
}

/** True for a row that continues the one before, such as the second line of a text. */
function isContinuation(row: TableRow, readCell: CellReader): boolean {
  const fields = ['date', 'amount', 'debit', 'credit'] as const;
  return fields.every((field) => readCell(row, field) === null);
}

/** True for a row with a balance or a total. Beside a date, "Total" counts as the name of a shop. */
function isBalanceRow(
  cells: readonly string[],
  descriptions: readonly number[],
  hasDate: boolean,
): boolean {
  if (hasDate)
    return cells.some((cell, index) => {
      if (!isBalanceText(cell)) return false;
      const text = cell.trim();
      return (
        !POSSIBLE_NAME.test(text) && (descriptions.includes(index) || !GENERIC_BALANCE.test(text))
      );
    });
  const firstText = cells.find((cell) => cell.trim() !== '') ?? '';
  const texts = descriptions.map((index) => cells[index] ?? '');
  return [firstText, ...texts].some(isBalanceText) || cells.some(mentionsBalance);
}
