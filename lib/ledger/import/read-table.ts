// Bookings from a table, as its columns state them. What is no booking is left out by its form and said; what cannot be read
// is refused by its line.
import { type DecimalSign, looksLikeAmount } from './amounts.ts';
import {
  type Booking,
  counted,
  type LeftOutLine,
  type ReadBookings,
  type RefusedLine,
} from './booking.ts';
import { describeState, isBalanceText, mentionsBalance } from './booking-words.ts';
import type { ChosenColumns } from './chosen-columns.ts';
import { type Field, isEnglishDate, normalizeName } from './column-names.ts';
import type { TableRow } from './csv-text.ts';
import { currencyOfColumn } from './currencies.ts';
import { type DateOrder, looksLikeDate, NO_YEAR, readDates } from './dates.ts';
import { findDecimals } from './decimal-sign.ts';
import type { TypeWords } from './direction.ts';
import { directionOfWord } from './direction-words.ts';
import { derivePerText } from './distinct-texts.ts';
import { addFees, type FeeOptions, findFeeRule } from './fees.ts';
import { createFormerReader } from './former-columns.ts';
import { completeDates, describeCompleted, findPeriod } from './missing-years.ts';
import { readRowAmounts, tryNumber } from './row-amounts.ts';
import { toBankId } from './row-ids.ts';
import type { Table } from './table.ts';

export interface TableOptions {
  readonly columns: ChosenColumns;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSign | undefined;
  readonly words: Partial<TypeWords>;
  /** Words of the status column whose rows are left out, besides those that are known. */
  readonly leaveOut: readonly string[];
  readonly today: string;
  /** The file separates its cells as countries with a decimal comma do. */
  readonly isSemicolon: boolean;
}

export interface ReadTable extends ReadBookings {
  readonly dateOrder: DateOrder;
  readonly decimal: DecimalSign;
  /** The words of the column of directions decide. */
  readonly usesType: boolean;
}

/** @throws UserError where dates can be read in two orders */
export function readTable(table: Table, options: TableOptions): ReadTable {
  const { columns } = table;
  const readCell = createCellReader(table);
  const { records, refused, leftOut } = sortRows(table, readCell, options.leaveOut);
  const readColumn = (field: Field) =>
    columns[field].length === 0 ? [] : records.flatMap((record) => readCell(record, field) ?? []);
  const amountTexts = AMOUNT_FIELDS.flatMap(readColumn);
  const { decimal, trim, need } = findDecimals({
    amounts: amountTexts,
    others: (['balance', 'fee'] as const).flatMap(readColumn),
    texts: [...listHeaders(table, AMOUNT_FIELDS), ...readColumn('currency'), ...amountTexts],
    chosen: options.decimal,
  });
  const dateOptions = {
    chosen: options.dateOrder,
    today: options.today,
    isDayFirst: decimal === 'comma' || options.isSemicolon || isOfOtherLanguage(table),
  };
  const dateTexts = records.map((record) => readCell(record, 'date') ?? '');
  const dates = readDates(dateTexts, dateOptions);
  const completed = completeDates(dateTexts, dates, () => findPeriod(table.above, dateOptions));
  const trimmed = (record: TableRow, field: Field) => {
    const cell = readCell(record, field);
    return cell === null ? null : trim(cell);
  };
  const isReceived = (record: TableRow) =>
    readCell(record, 'receivedAmount') !== null &&
    directionOfWord(readCell(record, 'type') ?? '') === 'income';
  const read = readRowAmounts(
    records.map((record) => ({
      amount: trimmed(record, isReceived(record) ? 'receivedAmount' : 'amount'),
      debit: trimmed(record, 'debit'),
      credit: trimmed(record, 'credit'),
      type: readCell(record, 'type'),
      balance: trimmed(record, 'balance'),
    })),
    {
      decimal,
      words: options.words,
      isSplit: columns.amount.length === 0,
      hasType: columns.type.length > 0,
    },
  );
  const fees =
    columns.fee.length === 0
      ? []
      : records.map((record) =>
          isReceived(record) ? null : tryNumber(trimmed(record, 'fee'), decimal),
        );
  const amounts = addFees(read.rows, fees, describeFees(table, options.columns.fee));
  const former = createFormerReader(table.headers, options.columns);
  const currencyOfHeader = createHeaderCurrencyReader(table);
  const isJoined = options.columns.description !== undefined;

  function toBooking(record: TableRow, n: number): Booking | LeftOutLine {
    const { line, cells } = record;
    const cell = (field: Field) => readCell(record, field);
    const amount = amounts.rows[n] ?? new Error('It has no amount.');
    if (amount instanceof Error) throw amount;
    if (amount.isNeutral) return leave(record, `"${cell('type')}": neither income nor expense`);
    const texts = readTexts(record, table, amount.signed > 0);
    return {
      line,
      cells,
      date: completed[n] ?? dates.read(dateTexts[n] ?? ''),
      signed: amount.signed,
      isDirectionStated: amount.isStated,
      writtenAmount: amount.written,
      texts: isJoined ? texts.slice(0, 1).map(() => [...new Set(texts)].join(', ')) : texts,
      bookingType: cell('bookingType'),
      notes: cell('notes'),
      category: cell('category'),
      bankId: toBankId(cell('externalId')),
      account: cell('account'),
      currency:
        cell(isReceived(record) ? 'receivedCurrency' : 'currency') ??
        amount.currency ??
        currencyOfHeader(record),
      status: cell('status'),
      balance: amount.balance,
      reference: cell('reference'),
      former: former(cells),
    };
  }

  const bookings: Booking[] = [];
  for (const [n, record] of records.entries()) {
    try {
      const read = toBooking(record, n);
      if ('reason' in read) leftOut.push(read);
      else bookings.push(read);
    } catch (error) {
      refused.push({ ...refuse(record), message: (error as Error).message });
    }
  }
  return {
    ...{ bookings, refused, leftOut, decimal, dateOrder: dates.order },
    usesType: read.usesType,
    findings: [...amounts.findings, ...describeCompleted(completed)],
    needs: [...(need === undefined ? [] : [need]), ...amounts.needs],
  };
}

const AMOUNT_FIELDS = ['amount', 'debit', 'credit'] as const;

function listHeaders({ headers, columns }: Table, fields: readonly Field[]): readonly string[] {
  return fields.flatMap((field) => columns[field].map((index) => headers[index] ?? ''));
}

/** In a column of texts of their own, such as a category, these say nothing. */
const GENERIC = /^(?:balance|saldo|solde|kontostand|turnover)$/i;
/** Also the name of a shop. */
const POSSIBLE_NAME = /^(?:totals?|totale|totaal|sum|suma|summa|summe|gesamt|razem)\b/i;

type CellReader = (record: TableRow, field: Field) => string | null;

/** The first text in the columns of a field. */
function createCellReader({ columns }: Table): CellReader {
  return ({ cells }, field) => {
    for (const index of columns[field]) {
      const cell = cells[index]?.trim();
      if (cell) return cell;
    }
    return null;
  };
}

/** The currency that the header of the row's amount names. */
function createHeaderCurrencyReader({ headers, columns }: Table): (row: TableRow) => string | null {
  const currencies = columns.amount.map((index) => ({
    index,
    currency: currencyOfColumn(headers[index] ?? ''),
  }));
  if (currencies.every(({ currency }) => currency === null)) return () => null;
  return ({ cells }) => currencies.find(({ index }) => cells[index]?.trim())?.currency ?? null;
}

function describeFees({ headers, columns }: Table, chosen: string | undefined): FeeOptions {
  const header = (field: Field) => headers[columns[field][0] ?? -1] ?? '';
  const column = { fee: normalizeName(header('fee')), amount: normalizeName(header('amount')) };
  const rule = findFeeRule(headers.map(normalizeName), column);
  return { rule, isChosen: chosen !== undefined, column: header('fee') };
}

/** Only English has countries that write the month first. */
function isOfOtherLanguage({ headers, columns, headerLine }: Table): boolean {
  return headerLine > 0 && !isEnglishDate(normalizeName(headers[columns.date[0] ?? -1] ?? ''));
}

function readTexts({ cells }: TableRow, { columns }: Table, isIncome: boolean): readonly string[] {
  const order = isIncome ? [...columns.payer, ...columns.description] : columns.description;
  return order.flatMap((index) => cells[index]?.trim() || []);
}

interface SortedRows {
  readonly records: readonly TableRow[];
  readonly refused: RefusedLine[];
  readonly leftOut: LeftOutLine[];
}

/** Parts rows that can be bookings from those that are known by their form. */
function sortRows(table: Table, readCell: CellReader, leaveOut: readonly string[]): SortedRows {
  const { rows, headers, columns, width } = table;
  const describe = derivePerText((text) => describeState(text, leaveOut));
  const isDate = derivePerText((text) => looksLikeDate(text) || NO_YEAR.test(text));
  const sorted: Record<'records', TableRow[]> & SortedRows = {
    records: [],
    refused: [],
    leftOut: [],
  };
  const lastLine = rows.findLast(({ cells }) => isDated(cells))?.line ?? 0;
  for (const row of rows) {
    const { cells, line } = row;
    const date = readCell(row, 'date');
    const hasDate = date !== null && isDate(date);
    const status = readCell(row, 'status') ?? date;
    const state = status === null ? undefined : describe(status);
    const isRegular = cells.length >= width && isBlankFrom(cells, headers.length);
    if (isHeader(cells, headers)) sorted.leftOut.push(leave(row, 'the header again'));
    else if (isBalanceRow(cells, columns.description, hasDate))
      sorted.leftOut.push(leave(row, 'a balance or total'));
    else if (isRegular && state !== undefined) sorted.leftOut.push(leave(row, state));
    else if (
      !hasDate &&
      (isNote(row) || isContinuation(row, readCell) || (line < lastLine && isTitle(cells)))
    )
      sorted.leftOut.push(leave(row, 'without date and amount'));
    else if (isRegular) sorted.records.push(row);
    else
      sorted.refused.push({
        ...refuse(row),
        message: `It has ${counted(cells.length, 'cell')}, the header ${width}.`,
      });
  }
  return sorted;
}

function isHeader(cells: readonly string[], headers: readonly string[]): boolean {
  return cells.length === headers.length && cells.every((cell, index) => cell === headers[index]);
}

function isBlankFrom(cells: readonly string[], first: number): boolean {
  return cells.every((cell, index) => index < first || cell.trim() === '');
}

function leave({ line, cells }: TableRow, reason: string): LeftOutLine {
  return {
    line,
    reason,
    text: cells
      .filter((cell) => cell.trim() !== '')
      .join(' | ')
      .slice(0, 200),
  };
}

/** A row with a date and an amount may be a booking that was written wrongly. */
function refuse({ line, cells }: TableRow): Omit<RefusedLine, 'message'> {
  // A file may be cut after the decimal sign.
  const texts = cells.map((cell) => cell.trim().replace(/[.,]$/, ''));
  const hasAmount = texts.some((text) => looksLikeAmount(text) && !looksLikeDate(text));
  return { line, mayBeBooking: isDated(cells) && hasAmount };
}

function isDated(cells: readonly string[]): boolean {
  return cells.some((cell) => looksLikeDate(cell.trim()));
}

/** Such as the title of a section, or a note below the rows; a row that was cut off has digits. */
function isNote({ cells }: TableRow): boolean {
  const filled = cells.filter((cell) => cell.trim() !== '');
  const [only = ''] = filled;
  return (
    filled.length === 1 &&
    (!/\d/.test(only) || /^\s*[#*]|\s\S+\s\S+\s/.test(only)) &&
    !isDated(cells)
  );
}

/** Such as "Account;Savings" above the rows of an account. */
function isTitle(cells: readonly string[]): boolean {
  return cells.every((cell) => !/\d/.test(cell));
}

/** Such as the second line of a text. */
function isContinuation(row: TableRow, readCell: CellReader): boolean {
  const fields = ['date', 'amount', 'debit', 'credit'] as const;
  return fields.every((field) => readCell(row, field) === null);
}

/** "Total" alone is also a name: with a date and an amount it is one. */
function isBalanceRow(
  cells: readonly string[],
  descriptions: readonly number[],
  hasDate: boolean,
): boolean {
  if (hasDate)
    return cells.some((cell, index) => {
      if (!isBalanceText(cell)) return false;
      const text = cell.trim();
      return !POSSIBLE_NAME.test(text) && (descriptions.includes(index) || !GENERIC.test(text));
    });
  const first = cells.find((cell) => cell.trim() !== '') ?? '';
  const texts = descriptions.map((index) => cells[index] ?? '');
  return [first, ...texts].some(isBalanceText) || cells.some(mentionsBalance);
}
