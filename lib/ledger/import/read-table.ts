// Bookings from a table, as its columns state them. What is no booking is left out by its form and said; what cannot be read
// is refused by its line.
import type { DecimalSign } from './amounts.ts';
import type { Booking, LeftOutLine, Need, ReadBookings } from './booking.ts';
import type { ChosenColumns } from './chosen-columns.ts';
import { type Field, isEnglishDate, normalizeName } from './column-names.ts';
import type { TableRow } from './csv-text.ts';
import { currencyOfColumn } from './currencies.ts';
import { type DateOrder, readDates } from './dates.ts';
import { findDecimals } from './decimal-sign.ts';
import type { TypeWords } from './direction.ts';
import { directionOfWord } from './direction-words.ts';
import { addFees, type FeeOptions, findFeeRule } from './fees.ts';
import { createFormerReader } from './former-columns.ts';
import { completeDates, describeCompleted, findPeriod } from './missing-years.ts';
import { readRowAmounts, tryNumber } from './row-amounts.ts';
import { toBankId } from './row-ids.ts';
import { createCellReader, leave, refuse, sortRows } from './sort-rows.ts';
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
  const dateByLine = new Map(records.map(({ line }, n) => [line, dateTexts[n] ?? '']));
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
    needs: [
      ...(need === undefined ? [] : [need]),
      ...amounts.needs,
      ...(table.headerLine > 0 ? [] : findOddEdges(bookings, dateByLine)),
    ],
  };
}

const AMOUNT_FIELDS = ['amount', 'debit', 'credit'] as const;

function listHeaders({ headers, columns }: Table, fields: readonly Field[]): readonly string[] {
  return fields.flatMap((field) => columns[field].map((index) => headers[index] ?? ''));
}

/**
 * Some banks write no header, and begin or end the file with a line that has a balance where a booking has its amount: its date is
 * written in another form, or it has no text.
 */
function findOddEdges(
  bookings: readonly Booking[],
  dateByLine: ReadonlyMap<number, string>,
): readonly Need[] {
  const isOdd = (is: (booking: Booking) => boolean) => {
    const [first, ...others] = bookings.map(is);
    const last = others.pop();
    if (others.length < 2 || others.some((each) => each !== others[0])) return [];
    return [
      ...(first === others[0] ? [] : bookings.slice(0, 1)),
      ...(last === others[0] ? [] : bookings.slice(-1)),
    ];
  };
  const odd = new Set([
    ...isOdd(({ texts }) => texts.length > 0),
    ...isOdd(({ line }) => /^\W*\d{4}/.test(dateByLine.get(line) ?? '')),
  ]);
  return [...odd].slice(0, 1).map(({ line }) => ({
    question: 'columns',
    message: `Line ${line} is written unlike all other rows: it may be a balance. Take it out of the file, or add --as-it-is if it is a booking.`,
  }));
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
  return order.flatMap((index) => {
    const text = cells[index]?.trim() ?? '';
    return text === '' || NO_TEXT.test(text) ? [] : text;
  });
}

/** Banks write these where a booking has no text. */
const NO_TEXT = /^(?:no description|not ?provided|n\/?a|[-–.]+)$/i;
