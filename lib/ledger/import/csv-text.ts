// Splits text into rows and cells at commas, semicolons, tabs or bars. Banks write quotes carelessly: an unclosed quote must cost
// at most its own row, not all rows up to the next quote.

export interface TableRow {
  /** Line in the file, from 1; the first of several if a quoted cell has line breaks. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface CsvText {
  /** The rows of the text; empty lines are skipped. */
  readonly rows: readonly TableRow[];
  /** Lines with an unclosed quote, which was read as text. */
  readonly openQuoteLines: readonly number[];
}

export const DELIMITERS = [',', ';', '\t', '~|~', '|'] as const;
/** More lines than any bank writes into one cell. */
const MAX_CELL_LINES = 40;
const DATE = /(?<!\d)(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{8})(?!\d)/;
const AMOUNT =
  /^\s*"?[-+(]?\s*\p{Sc}?\s*\d[\d.,' ]*[.,]\d{1,2}\s*(?:\p{Sc}|[A-Z]{2,3})?[-)]?"?\s*$/u;
const TEXT_FORMULA = /^\s*="((?:[^"]|"")*)"\s*$/;

interface Line {
  readonly text: string;
  readonly lineBreak: string;
}

interface SplitOptions {
  /** Reads at most this many lines. */
  readonly maxLines?: number;
  /** Trusts every quote, for a file that this service wrote: its quotes are right, and a cell may have any number of lines. */
  readonly trustsQuotes?: boolean;
}

export function splitCsv(
  text: string,
  delimiter: string,
  { maxLines, trustsQuotes = false }: SplitOptions = {},
): CsvText {
  const lines = splitLines(text, maxLines);
  const rows: TableRow[] = [];
  const openQuoteLines: number[] = [];
  for (let n = 0; n < lines.length; ) {
    const { text: line = '' } = lines[n] ?? {};
    const row = line.includes('"')
      ? readQuotedRow({ lines, delimiter, trustsQuotes }, n)
      : { cells: line.split(delimiter), nextLine: n + 1, hasOpenQuote: false };
    if (row.hasOpenQuote) openQuoteLines.push(n + 1);
    const cells = unwrapQuotedRow(row.cells, delimiter).map(readTextFormula);
    if (cells.some((cell) => cell.trim() !== '')) rows.push({ line: n + 1, cells });
    n = row.nextLine;
  }
  return { rows, openQuoteLines };
}

function splitLines(text: string, limit = Number.POSITIVE_INFINITY): readonly Line[] {
  const lines: Line[] = [];
  const findFeed = createFinder(text, '\n');
  const findReturn = createFinder(text, '\r');
  for (let start = 0; lines.length < limit; ) {
    const [feed, carriage] = [findFeed(start), findReturn(start)];
    const end = Math.min(feed, carriage);
    if (end === Number.POSITIVE_INFINITY) {
      lines.push({ text: text.slice(start), lineBreak: '' });
      break;
    }
    const lineBreak = carriage > feed ? '\n' : feed === carriage + 1 ? '\r\n' : '\r';
    lines.push({ text: text.slice(start, end), lineBreak });
    start = end + lineBreak.length;
  }
  return lines;
}

/** Returns a function that finds a character at or after a position. Call it with ascending positions. */
function createFinder(text: string, character: string): (from: number) => number {
  let nextPosition = -1;
  return (from) => {
    if (nextPosition < from) nextPosition = text.indexOf(character, from);
    if (nextPosition < 0) nextPosition = Number.POSITIVE_INFINITY;
    return nextPosition;
  };
}

/** Reads a line whose only cell is a whole row: some spreadsheets put quotes around whole lines. */
function unwrapQuotedRow(cells: readonly string[], delimiter: string): readonly string[] {
  if (cells.length !== 1) return cells;
  const [onlyCell = ''] = cells;
  if (!onlyCell.includes(delimiter) || /[\r\n]/.test(onlyCell)) return cells;
  const lines = [{ text: onlyCell, lineBreak: '' }];
  const innerRow = readQuotedRow({ lines, delimiter, trustsQuotes: false }, 0);
  return innerRow.cells;
}

/** Reads the text of a formula such as ="0042". Exports write it so that a spreadsheet does not drop the zeros. */
function readTextFormula(cell: string): string {
  const text = TEXT_FORMULA.exec(cell)?.[1];
  return text === undefined ? cell : unescapeQuotes(text);
}

interface CsvSource {
  readonly lines: readonly Line[];
  readonly delimiter: string;
  readonly trustsQuotes: boolean;
}

interface QuotedRow {
  readonly cells: readonly string[];
  /** Index of the line after the row. */
  readonly nextLine: number;
  readonly hasOpenQuote: boolean;
}

function readQuotedRow(source: CsvSource, firstLine: number): QuotedRow {
  const { lines, delimiter, trustsQuotes } = source;
  const cells: string[] = [];
  let hasOpenQuote = false;
  let n = firstLine;
  let offset = 0;
  for (;;) {
    const line = lines[n]?.text ?? '';
    if (!trustsQuotes) offset += countSpacesBeforeQuote(line, offset);
    if (line[offset] === '"') {
      const cell = readQuotedCell(source, { n, offset });
      if (cell) {
        cells.push(cell.value);
        n = cell.n;
        offset = cell.offset;
      } else {
        hasOpenQuote = true;
        offset = pushPlainCell(cells, line, offset, delimiter);
      }
    } else offset = pushPlainCell(cells, line, offset, delimiter);
    if (offset > (lines[n]?.text.length ?? 0)) return { cells, nextLine: n + 1, hasOpenQuote };
  }
}

/** Counts the spaces before a quote: some programs write a space before and after each separator. */
function countSpacesBeforeQuote(line: string, offset: number): number {
  const spaces = countSpaces(line, offset);
  return line[offset + spaces] === '"' ? spaces : 0;
}

function countSpaces(line: string, offset: number): number {
  let end = offset;
  while (line[end] === ' ') end += 1;
  return end - offset;
}

/** @returns the position of the next cell; past the end of the line after the last cell */
function pushPlainCell(cells: string[], line: string, offset: number, delimiter: string): number {
  const delimiterIndex = line.indexOf(delimiter, offset);
  const end = delimiterIndex < 0 ? line.length : delimiterIndex;
  cells.push(line.slice(offset, end));
  return end + 1;
}

interface Position {
  readonly n: number;
  readonly offset: number;
}

/** @returns undefined for a quote that is not closed */
function readQuotedCell(
  { lines, delimiter, trustsQuotes }: CsvSource,
  start: Position,
): (Position & { readonly value: string }) | undefined {
  let value = '';
  let from = start.offset + 1;
  const end = trustsQuotes ? lines.length : Math.min(lines.length, start.n + MAX_CELL_LINES);
  for (let n = start.n; n < end; n += 1) {
    const { text, lineBreak } = lines[n] ?? { text: '', lineBreak: '' };
    for (let quote = text.indexOf('"', from); ; quote = text.indexOf('"', quote + 2)) {
      if (quote < 0) {
        if (!trustsQuotes && n > start.n && looksLikeRow(text, delimiter)) return undefined;
        value += unescapeQuotes(text.slice(from)) + lineBreak;
        break;
      }
      if (text[quote + 1] === '"') continue;
      const spaces = trustsQuotes ? 0 : countSpaces(text, quote + 1);
      const afterQuote = quote + 1 + spaces;
      const isClosed = afterQuote === text.length || text.startsWith(delimiter, afterQuote);
      const isLaterLine = !trustsQuotes && n > start.n;
      if (isClosed && !(isLaterLine && isReopened(text.slice(from, quote), delimiter)))
        return {
          value: value + unescapeQuotes(text.slice(from, quote)),
          n,
          offset: afterQuote + delimiter.length,
        };
      if (n > start.n) return undefined;
      // The quotes are part of a longer text, such as "Old" Pub.
      const delimiterIndex = text.indexOf(delimiter, quote + 1);
      const cellEnd = delimiterIndex < 0 ? text.length : delimiterIndex;
      return {
        value: `"${unescapeQuotes(text.slice(from, quote))}${text.slice(quote, cellEnd)}`,
        n,
        offset: cellEnd + 1,
      };
    }
    from = 0;
  }
  return undefined;
}

/** True if the text before a closing quote opens another quoted cell: the quote then closes that cell, not this one. */
function isReopened(text: string, delimiter: string): boolean {
  return text.startsWith('"') || text.includes(`${delimiter}"`);
}

function looksLikeRow(line: string, delimiter: string): boolean {
  const cells = line.split(delimiter);
  return cells.length > 2 && DATE.test(line.slice(0, 1_000)) && cells.some(isAmountText);
}

function isAmountText(cell: string): boolean {
  return cell.length < 40 && AMOUNT.test(cell);
}

function unescapeQuotes(text: string): string {
  return text.replaceAll('""', '"');
}
