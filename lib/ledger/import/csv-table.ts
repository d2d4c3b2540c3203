// The table in a CSV file: its header, which need not be the first line, and its rows, each with its line. Banks write
// lines before the header and after the rows.
import { parse } from 'csv-parse/sync';
import { UserError } from '../../shared/user-error.ts';

export interface CsvRow {
  /** Of the file, from 1; of a row with line breaks in it, the first one. */
  readonly line: number;
  /** At least one for each named column. */
  readonly cells: readonly string[];
}

export interface RefusedLine {
  readonly line: number;
  readonly message: string;
}

export interface CsvTable {
  readonly headerLine: number;
  readonly headers: readonly string[];
  readonly rows: readonly CsvRow[];
  /** Rows that have too many or too few cells. */
  readonly ragged: readonly RefusedLine[];
}

const DELIMITERS = [',', ';', '\t'] as const;
const LINE_BREAKS = ['\r\n', '\n', '\r'];
const LINE_BREAK = /\r\n|\n|\r/g;
const NO_CELLS = /^["\s,;]*$/;
/** How far down a header is looked for. */
const MOST_LINES_BEFORE = 100;

interface Candidate {
  readonly line: number;
  readonly delimiter: string;
  readonly headers: readonly string[];
  readonly problems: readonly string[];
}

/**
 * @param problemsOf what is wrong with a line as a header; none for the header
 * @throws UserError where no line is a header, or the file is no CSV
 */
export function readTable(
  text: string,
  problemsOf: (headers: readonly string[]) => readonly string[],
): CsvTable {
  if (text.trim() === '')
    throw new UserError('The file is empty. A line of it must name the columns.');
  const { line: headerLine, delimiter, headers } = findHeader(text, problemsOf);
  const [, ...found] = parseRows(textFrom(text, headerLine), delimiter, headerLine - 1);
  const width = headers.findLastIndex((header) => header.trim() !== '') + 1;
  const rows: CsvRow[] = [];
  const ragged: RefusedLine[] = [];
  for (const row of found) {
    const { line, cells } = row;
    const isRegular = cells.length >= width && cells.slice(headers.length).every((cell) => !cell);
    if (isRegular) rows.push(row);
    else
      ragged.push({
        line,
        message: `It has ${counted(cells.length, 'cell')}, the header ${width}.`,
      });
  }
  return { headerLine, headers, rows, ragged };
}

/** The first line that names every column. Of two delimiters, the one that makes more columns. */
function findHeader(
  text: string,
  problemsOf: (headers: readonly string[]) => readonly string[],
): Candidate {
  const head = text.split(LINE_BREAK, MOST_LINES_BEFORE);
  let closest: Candidate | undefined;
  for (let line = 1; line <= head.length; line += 1) {
    if (NO_CELLS.test(head[line - 1] ?? '')) continue;
    const rest = head.slice(line - 1).join('\n');
    for (const delimiter of DELIMITERS) {
      const headers = firstRow(rest, delimiter);
      const candidate = { line, delimiter, headers, problems: problemsOf(headers) };
      if (!closest || isCloser(candidate, closest)) closest = candidate;
    }
    if (closest?.problems.length === 0) return closest;
  }
  if (!closest) throw new UserError('The file has no lines.');
  // A quote that is not closed hides the header.
  parseRows(text, closest.delimiter, 0);
  const { line, headers, problems } = closest;
  throw new UserError(
    `No line names the columns that are needed. In line ${line} (${headers.join(', ')}): ${problems.join(' ')}`,
  );
}

function isCloser(one: Candidate, other: Candidate): boolean {
  const fewer = other.problems.length - one.problems.length;
  return fewer > 0 || (fewer === 0 && one.headers.length > other.headers.length);
}

/** No cells where it cannot be read. */
function firstRow(text: string, delimiter: string): readonly string[] {
  try {
    const [cells = []] = parse(text, { ...optionsOf(delimiter), to: 1 }) as string[][];
    return cells;
  } catch {
    return [];
  }
}

/** As "1 row" and "2 rows". */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** @param before number of lines before the text, in the file */
function parseRows(text: string, delimiter: string, before: number): readonly CsvRow[] {
  try {
    const found = parse('\n'.repeat(before) + text, optionsOf(delimiter)) as string[][];
    let next = 1;
    const rows = found.map((cells) => {
      const line = next;
      next += 1 + (cells.join().match(LINE_BREAK)?.length ?? 0);
      return { line, cells };
    });
    // Empty lines are counted, and left out.
    return rows.filter(({ cells }) => cells.some((cell) => cell.trim() !== ''));
  } catch (cause) {
    const { message } = cause as Error;
    throw new UserError(`The file is not valid CSV: ${message}.`, { cause });
  }
}

function optionsOf(delimiter: string) {
  return {
    delimiter,
    record_delimiter: LINE_BREAKS,
    relax_column_count: true,
    relax_quotes: true,
  };
}

function textFrom(text: string, line: number): string {
  const start = [...text.matchAll(LINE_BREAK).take(line - 1)].at(-1);
  return text.slice(start ? start.index + start[0].length : 0);
}
