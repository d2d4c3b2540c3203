// Reads a statement from any bank or app: takes bytes and options, returns rows, findings and open questions. It is pure, so both
// the page and the command can use it.
import { UserError } from '../../shared/user-error.ts';
import type { DecimalSeparator } from './amounts.ts';
import type { Field } from './column-names.ts';
import { DELIMITERS, splitCsv, type TableRow } from './csv-text.ts';
import type { DateOrder } from './dates.ts';
import type { ParsedEntries } from './entry.ts';
import { isExportHeader, readExport } from './export-file.ts';
import { findFormat } from './formats.ts';
import { describeLayout, type LayoutOptions, type Layouts, recallLayout } from './layouts.ts';
import { readTable } from './read-table.ts';
import { makeRows, type StatementRows } from './statement-rows.ts';
import { findTable, type Table } from './table.ts';
import { decodeText } from './text-encoding.ts';
import type { Sheet } from './xlsx.ts';

export interface StatementOptions extends LayoutOptions {
  /** A name for the account: equal rows of two accounts are two transactions. */
  readonly account?: string | undefined;
  /** Imports only the entries of this account, if the file has several. */
  readonly onlyAccount?: string | undefined;
  /** The user has accepted the preview: only a question about currencies is still asked. */
  readonly isPreviewAccepted?: boolean | undefined;
  /** `YYYY-MM-DD`; two-digit years are read relative to this day. */
  readonly today?: string;
  /** @internal The encoding in which the text was read, chosen or guessed. */
  readonly usedEncoding?: string;
  /** Layouts remembered from earlier imports. */
  readonly layouts?: Layouts;
}

export interface Statement extends StatementRows {
  /** Name of the format, such as CSV or OFX. */
  readonly format: string;
  /** The encoding, by a name that TextDecoder knows; null for a format that states its own. */
  readonly encoding: string | null;
  /** True if the file is an export of this service. */
  readonly isExport: boolean;
  /** True if the file states the account of each entry. Equal rows are then of the same account. */
  readonly namesAccount: boolean;
  /** Line of the header; 0 without one. */
  readonly headerLine: number;
  /** Headers of the used columns, by field. The first text of a row is the description, the others are notes. */
  readonly columns: Readonly<Partial<Record<Field, readonly string[]>>>;
  /** Headers of the unused columns. */
  readonly ignored: readonly string[];
  /** Null for a format that writes dates and amounts in one way only; so is `decimal`. */
  readonly dateOrder: DateOrder | null;
  readonly decimal: DecimalSeparator | null;
  /** Options to remember after an import, and options remembered from an earlier one; null without a table. */
  readonly layout: Layout | null;
}

export interface Layout {
  readonly key: string;
  readonly used: LayoutOptions;
  readonly recalled: LayoutOptions | null;
}

const HEAD_LINES = 400;
const MAX_SHOWN = 5;

/**
 * Reads a file. A caller needs only this function and `planImport`:
 *
 *     const statement = await readStatement(bytes, { account: 'Giro' });
 *     // Show statement.rows, leftOut, refused, findings and questions. Import only if questions is empty.
 *     const plan = planImport(statement.rows, ledgerRows);
 *
 * @throws UserError if the file cannot be read; the message names the option that helps
 */
export async function readStatement(
  bytes: Uint8Array,
  options: StatementOptions = {},
): Promise<Statement> {
  const format = findFormat(bytes);
  if (!format) return readText(bytes, options);
  const today = options.today ?? new Date().toISOString().slice(0, 10);
  const contents = await format.read(bytes, { ...options, today });
  if (contents.kind === 'sheets')
    return { ...readWorkbook(contents.sheets, options), format: format.name, encoding: null };
  return {
    ...makeStatementRows(contents, { ...options, today }, { hasColumns: false }),
    ...{ format: format.name, encoding: null, isExport: false, headerLine: 0, columns: {} },
    ...{ ignored: [], dateOrder: null, decimal: null, layout: null },
    namesAccount: contents.entries.every(({ account }) => account !== null),
  };
}

/** Reads the first sheet that has a table, and names the others in a finding. */
function readWorkbook(
  sheets: readonly [Sheet, ...Sheet[]],
  options: StatementOptions,
): ParsedSheet {
  const chosenSheet = sheets.find(({ rows }) => hasTable(rows, options)) ?? sheets[0];
  const parsedSheet = readSheet(chosenSheet.rows, options, false);
  const otherNames = sheets.filter((sheet) => sheet !== chosenSheet).map(({ name }) => `"${name}"`);
  if (otherNames.length === 0) return parsedSheet;
  const finding = `the sheet "${chosenSheet.name}" is read. To import another, save it as a separate file: ${otherNames.join(', ')}`;
  return { ...parsedSheet, findings: [finding, ...parsedSheet.findings] };
}

function readText(bytes: Uint8Array, options: StatementOptions): Statement {
  const guessedText = decodeText(bytes);
  const { encoding = recallEncoding(guessedText.text, options) } = options;
  const {
    text,
    damagedLines,
    encoding: usedEncoding,
  } = encoding === undefined ? guessedText : decodeText(bytes, encoding);
  const findings =
    damagedLines.length === 0
      ? []
      : [`unreadable characters in line ${damagedLines.slice(0, MAX_SHOWN).join(', ')}`];
  const statement = readCsv(text, { ...options, usedEncoding });
  return { ...statement, encoding: usedEncoding, findings: [...findings, ...statement.findings] };
}

/** @internal Exported for tests of rows, which need no encoding. */
export function readCsv(text: string, options: StatementOptions = {}): Statement {
  // A text in the ledger, and so in its export, may contain a null character; a bank's file never does.
  if (text.includes('\0') && !isExportHeader(splitCsv(text, ',', { maxLines: 1 }).rows[0]?.cells))
    throw new UserError('This is not a text file. Save or download it as CSV.');
  if (text.trim() === '')
    throw new UserError('The file is empty. One of its lines must name the columns.');
  const delimiter = chooseDelimiter(text, options);
  const trustsQuotes = isExportHeader(splitCsv(text, delimiter, { maxLines: 1 }).rows[0]?.cells);
  const { rows, openQuoteLines } = splitCsv(text, delimiter, { trustsQuotes });
  const statement = readSheet(rows, options, delimiter === ';');
  const findings = openQuoteLines
    .slice(0, MAX_SHOWN)
    .map((line) => `line ${line}: a quote is never closed; it was read as a character`);
  return {
    ...statement,
    format: 'CSV',
    encoding: 'utf-8',
    findings: [...findings, ...statement.findings],
  };
}

function recallEncoding(text: string, options: StatementOptions): string | undefined {
  if (options.layouts === undefined) return undefined;
  const { rows } = splitCsv(text, chooseDelimiter(text, options), { maxLines: HEAD_LINES });
  return recallLayout(rows, options.layouts)?.encoding;
}

/** Chooses the delimiter that yields a table, with the most cells in rows of equal width. */
function chooseDelimiter(text: string, options: StatementOptions): string {
  const candidates = DELIMITERS.map((delimiter) => {
    const { rows } = splitCsv(text, delimiter, { maxLines: HEAD_LINES });
    return { delimiter, rows, weight: countCells(rows) };
  }).toSorted((a, b) => b.weight - a.weight);
  // A delimiter that yields only one cell in each row does not separate columns.
  const separatingCandidates = candidates.filter(({ weight }) => weight > 0);
  const bestCandidate =
    separatingCandidates.length > 1 &&
    separatingCandidates.find(({ rows }) => hasTable(rows, options));
  return (bestCandidate || candidates[0])?.delimiter ?? ',';
}

function hasTable(rows: readonly TableRow[], options: StatementOptions): boolean {
  if (isExportHeader(rows[0]?.cells)) return true;
  const { columns = {} } = { ...recallLayout(rows, options.layouts), ...options };
  return !(findTable(rows, columns) instanceof Error);
}

function countCells(rows: readonly TableRow[]): number {
  const widths = Map.groupBy(rows, ({ cells }) => cells.length);
  return [...widths]
    .map(([width, group]) => (width - 1) * group.length)
    .reduce((a, b) => Math.max(a, b), 0);
}

type ParsedSheet = Omit<Statement, 'format' | 'encoding'>;

function readSheet(
  rows: readonly TableRow[],
  givenOptions: StatementOptions,
  isSemicolon: boolean,
): ParsedSheet {
  const today = givenOptions.today ?? new Date().toISOString().slice(0, 10);
  const [header, ...records] = rows;
  if (isExportHeader(header?.cells)) return readOwnExport(records, { ...givenOptions, today });
  const recalledOptions = recallLayout(rows, givenOptions.layouts);
  const options = { ...recalledOptions, ...omitEmpty(givenOptions) };
  const columns = { ...recalledOptions?.columns, ...omitEmpty(givenOptions.columns ?? {}) };
  const table = findTable(rows, columns);
  if (table instanceof Error) throw table;
  const { words = {}, leaveOut = [] } = options;
  const parsedTable = readTable(table, {
    ...options,
    columns,
    words,
    leaveOut,
    today,
    isSemicolon,
  });
  const { dateOrder, decimal, usesTypeColumn } = parsedTable;
  return {
    ...makeStatementRows(parsedTable, { ...options, today }, { hasColumns: true }),
    ...describeColumns(table, usesTypeColumn, columns.description !== undefined),
    ...{ isExport: false, headerLine: table.headerLine, dateOrder, decimal, namesAccount: false },
    layout: {
      ...describeLayout(table, { ...options, columns }),
      recalled: recalledOptions ?? null,
    },
  };
}

function makeStatementRows(
  parsed: ParsedEntries,
  options: StatementOptions & { readonly today: string },
  { hasColumns }: { readonly hasColumns: boolean },
): StatementRows {
  const {
    account,
    isInverted = false,
    isPreviewAccepted = false,
    usedEncoding: encoding,
  } = options;
  const { currency, leaveOut = [], onlyAccount, today } = options;
  return makeRows(parsed, {
    ...{ account, encoding, isInverted, isPreviewAccepted, currency, leaveOut, onlyAccount, today },
    hasColumns,
  });
}

function omitEmpty<Options extends object>(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).filter(
      ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  ) as Options;
}

function readOwnExport(
  records: readonly TableRow[],
  options: StatementOptions & { readonly today: string },
): ParsedSheet {
  const { rows, refused, dateOrder, decimal } = readExport(records, options);
  return {
    ...{ rows, refused, dateOrder, decimal, isExport: true, headerLine: 1 },
    ...{
      columns: {},
      namesAccount: false,
      ignored: [],
      leftOut: [],
      findings: [],
      questions: [],
      layout: null,
    },
  };
}

function describeColumns(
  { headers, columns }: Table,
  usesTypeColumn: boolean,
  isJoined: boolean,
): Pick<Statement, 'columns' | 'ignored'> {
  const { description, notes } = columns;
  const shownColumns = {
    ...columns,
    notes: isJoined ? notes : [...notes, ...description.slice(1)],
  };
  const usedColumns = (Object.entries(shownColumns) as [Field, readonly number[]][]).filter(
    ([field, indexes]) =>
      indexes.length > 0 && (field !== 'type' || usesTypeColumn) && !HELPER_FIELDS.has(field),
  );
  const usedIndexes = new Set(usedColumns.flatMap(([, indexes]) => indexes));
  return {
    columns: Object.fromEntries(
      usedColumns.map(([field, indexes]) => [field, indexes.map((index) => headers[index] ?? '')]),
    ),
    ignored: headers.filter((header, index) => header.trim() !== '' && !usedIndexes.has(index)),
  };
}

/**
 * Separates the refused rows from the trailer, the lines that a bank writes after the last row, such as a note. A line with a
 * date and an amount is never part of the trailer.
 * @param lines number of lines in the trailer, with or without those that were left out anyway; undefined if unknown
 * @throws UserError if the trailer has more or fewer lines: the file may be incomplete
 */
export function splitTrailer(
  { rows, refused, leftOut }: Pick<Statement, 'rows' | 'refused' | 'leftOut'>,
  lines: number | undefined,
) {
  const lastLine = rows.at(-1)?.line ?? Number.POSITIVE_INFINITY;
  const trailer = refused.filter(({ line, mayBeEntry }) => line > lastLine && !mayBeEntry);
  if (lines === undefined) return { trailer, refused };
  const lineCount = trailer.length + leftOut.filter(({ line }) => line > lastLine).length;
  if (lines === trailer.length || lines === lineCount)
    return { trailer, refused: refused.filter((each) => !trailer.includes(each)) };
  throw new UserError(
    `The file has ${lineCount} unreadable lines after its rows, not ${lines} (--trailer). Is it complete?`,
  );
}

/** Fields that help to read a row, but are not part of the transaction. */
const HELPER_FIELDS: ReadonlySet<Field> = new Set(['entryType', 'reference', 'balance', 'account']);
