// Finds the table in a file: banks write lines before the header and after the rows, and one bank in six writes no header.
import { UserError } from '../../shared/user-error.ts';
import { looksLikeAmount } from './amounts.ts';
import { type ChosenColumns, isChosenByNumber } from './chosen-columns.ts';
import { MAX_SAMPLED_ROWS } from './column-samples.ts';
import type { TableRow } from './csv-text.ts';
import { looksLikeDate } from './dates.ts';
import { type Columns, findColumns } from './table-columns.ts';

export interface Table {
  /** Line of the header; 0 in a file without one. */
  readonly headerLine: number;
  /** Cells of the header; "column 1" and so on without one. */
  readonly headers: readonly string[];
  readonly columns: Columns;
  /** Rows above the header, or above the first entry. */
  readonly above: readonly TableRow[];
  readonly rows: readonly TableRow[];
  /** Number of cells that every row must have. */
  readonly width: number;
}

/** The header and the first entry must be among this many rows. */
const MAX_ROWS_BEFORE_HEADER = 100;
/** More columns than any bank writes. */
const MAX_COLUMNS = 500;
const USUAL_SHARE = 0.75;

interface Candidate {
  readonly index: number;
  readonly headers: readonly string[];
  readonly problems: readonly string[];
  readonly columns: Columns;
  /** True if known names say which columns contain the date and the amount. */
  readonly isNamed: boolean;
}

/**
 * Finds the header: a line whose cells are known names or, failing that, the line above the first entry if the cells below
 * show what the columns contain. Failing both, the file has none.
 * @param rows all rows of the file, without empty ones
 * @returns an error with the reason if there is no table
 */
export function findTable(rows: readonly TableRow[], chosen: ChosenColumns): Table | UserError {
  const firstIndex = findFirstEntry(rows);
  const areColumnsNumbered = isChosenByNumber(chosen.date) || isChosenByNumber(chosen.amount);
  const candidates = rows
    .slice(0, MAX_ROWS_BEFORE_HEADER)
    .flatMap(({ cells: headers }, index): Candidate[] => {
      // A row that contains a date or an amount is not a header.
      if (headers.length > MAX_COLUMNS || headers.filter(isFilled).length < 2) return [];
      if (headers.some(isValue)) return [];
      if (areColumnsNumbered && index !== firstIndex - 1) return [];
      return [{ index, headers, ...findColumns(headers, sampleBelow(rows, index), chosen) }];
    });
  const completeCandidates = candidates.filter(({ problems }) => problems.length === 0);
  const headerCandidate =
    completeCandidates.find(({ isNamed }) => isNamed) ??
    completeCandidates.findLast(({ index }) => index < firstIndex);
  if (headerCandidate)
    return refuseSharedName(headerCandidate, chosen) ?? createTable(rows, headerCandidate);
  const headerlessCandidate =
    firstIndex < 0 ? undefined : findWithoutHeader(rows, firstIndex, chosen);
  if (headerlessCandidate && headerlessCandidate.problems.length === 0)
    return createTable(rows, headerlessCandidate);
  return explainMissingTable(rows, candidates, headerlessCandidate, chosen);
}

function isValue(cell: string): boolean {
  const text = cell.trim();
  return looksLikeDate(text) || (looksLikeAmount(text) && !isNumberedName(text));
}

/** True for a name such as "Text 1", "(2)Date" or "E2E", which could be an amount in a currency. */
function isNumberedName(text: string): boolean {
  return /\p{L}/u.test(text) && text.replace(/\D/g, '').length <= 2;
}

/** Refuses two amount columns with the same name: only their numbers tell them apart. */
function refuseSharedName(
  { headers, columns }: Candidate,
  chosen: ChosenColumns,
): UserError | undefined {
  for (const field of ['amount', 'debit', 'credit'] as const) {
    const name = headers[columns[field][0] ?? -1];
    const numbers = headers.flatMap((header, index) => (header === name ? [index + 1] : []));
    if (name && numbers.length > 1 && chosen[field] === undefined)
      return new UserError(
        `Two columns are named "${name}". Name one by its number: --${field} ${numbers.slice(0, 3).join(` or --${field} `)}.`,
      );
  }
  return undefined;
}

function isFilled(cell: string): boolean {
  return cell.trim() !== '';
}

function sampleBelow(rows: readonly TableRow[], index: number): readonly TableRow[] {
  const width = rows[index]?.cells.length ?? 0;
  const rowsBelow = rows.slice(index + 1, index + 1 + MAX_SAMPLED_ROWS);
  const header = rows[index]?.cells.join('\n');
  // Each page of a statement may repeat the header.
  return rowsBelow.filter(({ cells }) => cells.length * 2 > width && cells.join('\n') !== header);
}

function createTable(rows: readonly TableRow[], { index, headers, columns }: Candidate): Table {
  const hasHeader = index >= 0;
  const width = headers.findLastIndex((header) => header.trim() !== '') + 1;
  return {
    headerLine: hasHeader ? (rows[index]?.line ?? 0) : 0,
    headers,
    columns,
    above: rows.slice(0, hasHeader ? index : -index - 1),
    rows: hasHeader ? rows.slice(index + 1) : rows.slice(-index - 1),
    width: hasHeader ? width : findWidth(rows.slice(-index - 1), columns),
  };
}

/** Finds the width of a table without a header, which is that of most rows: a shorter row may be a balance. */
function findWidth(rows: readonly TableRow[], columns: Columns): number {
  const neededWidth = Math.max(...Object.values(columns).flat(), 0) + 1;
  const widths = Map.groupBy(rows, ({ cells }) => cells.length);
  const usualWidth = [...widths].find(([, group]) => group.length >= rows.length * USUAL_SHARE);
  return Math.max(neededWidth, usualWidth?.[0] ?? 0);
}

/** Finds the first row with a date and an amount. */
function findFirstEntry(rows: readonly TableRow[]): number {
  return rows.slice(0, MAX_ROWS_BEFORE_HEADER).findIndex(({ cells }, index) => {
    const date = cells.findIndex((cell) => looksLikeDate(cell.trim()));
    if (date < 0 || cells.length < 2 || cells.length > MAX_COLUMNS) return false;
    const hasAmount = cells.some((cell, n) => n !== date && looksLikeAmount(cell.trim()));
    // A line such as "Balance;31.12.2025;1.000,00" before the header is followed by rows of another form.
    const nextRow = rows[index + 1];
    const nextDate = nextRow?.cells.findIndex((cell) => looksLikeDate(cell.trim())) ?? -1;
    return (
      hasAmount &&
      (nextDate < 0 || nextDate === date || nextRow?.cells.length === cells.length) &&
      (!nextRow ||
        nextRow.cells.length === cells.length ||
        nextRow.cells.some((each) => looksLikeDate(each.trim()))) &&
      !isNamedBalance(cells)
    );
  });
}

function isNamedBalance(cells: readonly string[]): boolean {
  return /:\s*$/.test(cells[0] ?? '');
}

/**
 * Reads the file without a header. The candidate's index is negative, -1 minus the index of the first row, so it never equals
 * that of a header.
 */
function findWithoutHeader(
  rows: readonly TableRow[],
  firstIndex: number,
  chosen: ChosenColumns,
): Candidate {
  const width = rows[firstIndex]?.cells.length ?? 0;
  const headers = Array.from({ length: width }, (_, n) => `column ${n + 1}`);
  const body = rows.slice(firstIndex);
  return { index: -firstIndex - 1, headers, ...findColumns(headers, body, chosen) };
}

function explainMissingTable(
  rows: readonly TableRow[],
  candidates: readonly Candidate[],
  headerlessCandidate: Candidate | undefined,
  chosen: ChosenColumns,
): UserError {
  const closestCandidate = candidates.reduce<Candidate | undefined>(
    (bestCandidate, each) =>
      !bestCandidate || isCloser(each, bestCandidate) ? each : bestCandidate,
    undefined,
  );
  const isHeaderless =
    headerlessCandidate &&
    !candidates.some(({ index }) => rows[index + 1] === rows[-headerlessCandidate.index - 1]);
  if (isHeaderless) {
    const cells = rows[-headerlessCandidate.index - 1]?.cells ?? [];
    const numberedCells = shorten(cells.map((cell, n) => `${n + 1} "${cell.trim()}"`).join(', '));
    const value = Object.values(chosen).find(
      (name) => name && cells.some((cell) => cell.trim() === name.trim()),
    );
    const explanation =
      value === undefined
        ? headerlessCandidate.problems.join(' ')
        : `"${value}" is a value, not the name of a column.`;
    return new UserError(
      `The file has no header. ${explanation} Name the columns by their numbers, such as --date 1 --amount 2 --description 3. The first row has ${numberedCells}.`,
    );
  }
  if (!closestCandidate)
    return new UserError(
      'The file has no table: no line names columns, and no row has a date and an amount. Save or download it as CSV.',
    );
  const line = rows[closestCandidate.index]?.line ?? 0;
  return new UserError(
    `No line names the required columns. In line ${line} (${shorten(closestCandidate.headers.join(', '))}): ${closestCandidate.problems.join(' ')}`,
  );
}

const MAX_SHOWN_LENGTH = 300;

function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}...` : text;
}

function isCloser(candidate: Candidate, bestCandidate: Candidate): boolean {
  const fewerProblems = bestCandidate.problems.length - candidate.problems.length;
  return (
    fewerProblems > 0 ||
    (fewerProblems === 0 && candidate.headers.length > bestCandidate.headers.length)
  );
}
