// Reads the entries of a table from its columns. Rows whose form shows that they are not entries are left out, each with the
// reason; rows that cannot be read are refused, each with its line.
import { isGross, isNet } from './amount-columns.ts';
import type { DecimalSeparator } from './amounts.ts';
import type { ChosenColumns } from './chosen-columns.ts';
import {
  type Field,
  findNamedColumns,
  isEnglishDate,
  isRecipient,
  normalizeName,
} from './column-names.ts';
import type { TableRow } from './csv-text.ts';
import { findCurrencyCodes } from './currencies.ts';
import { type DateOrder, readDates } from './dates.ts';
import { type DecimalDecision, decideDecimals } from './decimal-separator.ts';
import type { TypeWords } from './direction.ts';
import { findDirection } from './direction-words.ts';
import type { Entry, ParsedEntries, Question } from './entry.ts';
import { addFees, type FeeOptions, findFeeRule } from './fees.ts';
import { createLegacyReader } from './legacy-columns.ts';
import { completeDates, describeCompleted, findPeriod } from './missing-years.ts';
import { type RowAmount, readRowAmounts, tryReadNumber } from './row-amounts.ts';
import { createRoundedIdTest, toBankId } from './row-ids.ts';
import {
  type CellReader,
  createCellReader,
  locateRefused,
  separateRows,
  toLeftOutLine,
} from './separate-rows.ts';
import type { Table } from './table.ts';

export interface TableOptions {
  readonly columns: ChosenColumns;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  readonly words: Partial<TypeWords>;
  /** Further words of the status column whose rows are left out. */
  readonly leaveOut: readonly string[];
  readonly today: string;
  readonly isInverted?: boolean | undefined;
  /** True if semicolons separate the cells, as in countries with a decimal comma. */
  readonly isSemicolon: boolean;
}

export interface ParsedTable extends ParsedEntries {
  readonly dateOrder: DateOrder;
  readonly decimal: DecimalSeparator;
  /** True if the words of the direction column decide. */
  readonly usesTypeColumn: boolean;
}

/** @throws UserError if dates can be read in two orders */
export function readTable(table: Table, options: TableOptions): ParsedTable {
  const readCell = createCellReader(table);
  const { records, refused, leftOut, findDoubtfulColumn } = separateRows(
    table,
    readCell,
    options.leaveOut,
  );
  const source = { table, options, records, readCell, findDoubtfulColumn };
  const amounts = readAmounts(source);
  const dates = readRowDates(source, amounts.decimal);
  const toEntry = createEntryReader(source);
  const entries: Entry[] = [];
  for (const [n, record] of records.entries()) {
    try {
      const { amount, isReceived } = amounts.read(n);
      if (amount.isNeutral)
        leftOut.push(
          toLeftOutLine(record, `"${readCell(record, 'type')}": neither income nor expense`),
        );
      else entries.push(toEntry(record, { date: dates.read(n), amount, isReceived }));
    } catch (error) {
      refused.push({ ...locateRefused(record), message: (error as Error).message });
    }
  }
  return {
    ...{ entries, refused, leftOut, decimal: amounts.decimal, dateOrder: dates.order },
    usesTypeColumn: amounts.usesTypeColumn,
    currencies: findAccountCurrencies(source),
    findings: [...amounts.findings, ...dates.findings],
    questions: [
      ...amounts.questions,
      ...askAboutGross(source, amounts.decimal),
      ...(table.headerLine > 0 ? [] : findOddEdges(entries, dates.textByLine)),
    ],
  };
}

/** Rows of a table that may be entries, with the functions that read their cells. */
interface TableSource {
  readonly table: Table;
  readonly options: TableOptions;
  readonly records: readonly TableRow[];
  readonly readCell: CellReader;
  readonly findDoubtfulColumn: (row: TableRow) => string | undefined;
}

interface FoundAmount {
  readonly amount: RowAmount;
  /** True if the account is the receiving side of a transfer, so the received amount is the account's. */
  readonly isReceived: boolean;
}

/** Reads the amount of each row, including its fee. */
function readAmounts(source: TableSource) {
  const { table, options, records, readCell } = source;
  const { decimal, trim, question } = findTableDecimals(source);
  const isReceivedByRow = records.map(
    (record) =>
      readCell(record, 'receivedAmount') !== null &&
      findDirection(readCell(record, 'type') ?? '') === 'income',
  );
  const readTrimmed = (record: TableRow, field: Field) => {
    const cell = readCell(record, field);
    return cell === null ? null : trim(cell);
  };
  const { rows, usesTypeColumn } = readRowAmounts(
    records.map((record, n) => ({
      amount: readTrimmed(record, isReceivedByRow[n] ? 'receivedAmount' : 'amount'),
      ...{ debit: readTrimmed(record, 'debit'), credit: readTrimmed(record, 'credit') },
      ...{ type: readCell(record, 'type'), balance: readTrimmed(record, 'balance') },
    })),
    {
      ...{ decimal, words: options.words },
      isSplit: table.columns.amount.length === 0,
      hasType: table.columns.type.length > 0,
      isInverted: options.isInverted ?? false,
    },
  );
  const fees = (table.columns.fee.length > 0 ? records : []).map((record, n) =>
    isReceivedByRow[n] ? null : tryReadNumber(readTrimmed(record, 'fee'), decimal),
  );
  const amounts = addFees(rows, fees, describeFees(table, options.columns.fee));
  return {
    ...{ decimal, usesTypeColumn, findings: amounts.findings },
    questions: [...(question === undefined ? [] : [question]), ...amounts.questions],
    /** @throws Error if the row has no amount */
    read: (n: number): FoundAmount => {
      const amount = amounts.rows[n] ?? new Error('It has no amount.');
      if (amount instanceof Error) throw amount;
      return { amount, isReceived: isReceivedByRow[n] ?? false };
    },
  };
}

/**
 * Asks which column has the paid amount if the gross amount is used and another column has different amounts. A column that the
 * user named needs no question.
 */
function askAboutGross(
  { table: { headers, columns }, options, records }: TableSource,
  decimal: DecimalSeparator,
): readonly Question[] {
  const [grossColumn = -1] = columns.amount;
  const names = headers.map(normalizeName);
  if (options.columns.amount !== undefined || !isGross(names[grossColumn])) return [];
  const readSize = ({ cells }: TableRow, index: number) =>
    Math.abs(tryReadNumber(cells[index], decimal) ?? 0);
  const otherColumn = findNamedColumns(names, 'amount')
    .filter((index) => index !== grossColumn && !isNet(names[index]))
    .find((index) =>
      records.some((row) => ![0, readSize(row, grossColumn)].includes(readSize(row, index))),
    );
  if (otherColumn === undefined) return [];
  const [firstHeader, secondHeader] = [headers[grossColumn], headers[otherColumn]];
  const message = `The columns "${firstHeader}" and "${secondHeader}" have different amounts. Choose what the account paid: --amount "${firstHeader}" or --amount "${secondHeader}".`;
  return [{ topic: 'columns', message }];
}

function findTableDecimals({ table, options, records, readCell }: TableSource): DecimalDecision {
  const readColumn = (field: Field) =>
    table.columns[field].length === 0
      ? []
      : records.flatMap((record) => readCell(record, field) ?? []);
  const amounts = AMOUNT_FIELDS.flatMap(readColumn);
  return decideDecimals({
    amountCells: amounts,
    otherCells: (['balance', 'fee'] as const).flatMap(readColumn),
    currencyTexts: [...listHeaders(table, AMOUNT_FIELDS), ...readColumn('currency'), ...amounts],
    bankTexts: [...table.headers, ...table.above.flatMap(({ cells }) => cells)],
    chosenSeparator: options.decimal,
  });
}

/** Lists the codes of the account's currency: those in headers of amounts, above the rows, or beside balances. */
function findAccountCurrencies({ table, records, readCell }: TableSource): readonly string[] {
  const texts = [
    ...listHeaders(table, [...AMOUNT_FIELDS, 'balance']),
    ...table.above.flatMap(({ cells }) => cells),
    ...records.slice(0, 1).map((record) => readCell(record, 'balance') ?? ''),
  ];
  return texts.flatMap(findCurrencyCodes);
}

/** Reads the date of each row, and completes those without a year. */
function readRowDates(
  { table, options, records, readCell }: TableSource,
  decimal: DecimalSeparator,
) {
  const dateOptions = {
    chosenOrder: options.dateOrder,
    today: options.today,
    isDayFirst: decimal === 'comma' || options.isSemicolon || isDateHeaderForeign(table),
  };
  const texts = records.map((record) => readCell(record, 'date') ?? '');
  const dates = readDates(texts, dateOptions);
  const completedDates = completeDates(texts, dates, () => findPeriod(table.above, dateOptions));
  return {
    order: dates.order,
    findings: describeCompleted(completedDates),
    textByLine: new Map(records.map(({ line }, n) => [line, texts[n] ?? ''])),
    /** @throws Error if the row has no date */
    read: (n: number): string => completedDates[n] ?? dates.read(texts[n] ?? ''),
  };
}

function createEntryReader({ table, options, records, readCell, findDoubtfulColumn }: TableSource) {
  const readLegacy = createLegacyReader(table.headers, options.columns);
  const readHeaderCurrency = createHeaderCurrencyReader(table);
  const readTexts = createTextReader(table, options.columns);
  const isRoundedId = createRoundedIdTest(records.map((record) => readCell(record, 'externalId')));
  const readSideCurrency = createSideCurrencyReader(table);

  return (
    record: TableRow,
    { date, amount, isReceived }: FoundAmount & { date: string },
  ): Entry => {
    const { line, cells } = record;
    const readField = (field: Field) => readCell(record, field);
    const id = toBankId(readField('externalId'));
    const hasRoundedId = id !== null && isRoundedId(id);
    const { texts, notes } = readTexts(record, amount.signed > 0);
    return {
      line,
      cells,
      date,
      signed: amount.signed,
      isDirectionStated: amount.isStated,
      writtenAmount: amount.writtenAmount,
      texts,
      notes,
      entryType: readField('entryType'),
      category: readField('category'),
      bankId: hasRoundedId ? null : id,
      roundedId: hasRoundedId ? id : null,
      account: readField('account'),
      currency:
        readHeaderCurrency(record, amount) ??
        readSideCurrency(record, amount) ??
        readField(isReceived ? 'receivedCurrency' : 'currency') ??
        amount.currency,
      status: readField('status'),
      doubtfulColumn: findDoubtfulColumn(record),
      balance: amount.balance,
      reference: readField('reference'),
      legacy: readLegacy(cells),
    };
  };
}

const AMOUNT_FIELDS = ['amount', 'debit', 'credit'] as const;

function listHeaders({ headers, columns }: Table, fields: readonly Field[]): readonly string[] {
  return fields.flatMap((field) => columns[field].map((index) => headers[index] ?? ''));
}

/**
 * Asks about a first or last line that differs in form from all others. Some banks write no header, and begin or end the file
 * with a balance in the amount column. The date of such a line has another form, or the line has no text.
 */
function findOddEdges(
  entries: readonly Entry[],
  dateByLine: ReadonlyMap<number, string>,
): readonly Question[] {
  const findOdd = (test: (entry: Entry) => boolean) => {
    const [first, ...others] = entries.map(test);
    const last = others.pop();
    if (others.length < 2 || others.some((each) => each !== others[0])) return [];
    return [
      ...(first === others[0] ? [] : entries.slice(0, 1)),
      ...(last === others[0] ? [] : entries.slice(-1)),
    ];
  };
  const oddEntries = new Set([
    ...findOdd(({ texts }) => texts.length > 0),
    ...findOdd(({ line }) => /^\W*\d{4}/.test(dateByLine.get(line) ?? '')),
  ]);
  return [...oddEntries].slice(0, 1).map(({ line }) => ({
    topic: 'columns',
    message: `Line ${line} differs in form from all other rows: it may be a balance. Remove it from the file, or add --as-it-is if it is a transaction.`,
  }));
}

/** A currency code in brackets or at the end of a header. Elsewhere it may be another word: "ALL AMOUNT" is not in lek. */
const HEADER_CURRENCY = /[([][A-Z]{3}[)\]]|(?<![\p{L}\p{N}])[A-Z]{3}\W*$/u;

/**
 * Reads the currency from the header of the row's amount. If that header names one, a currency column belongs to another
 * amount.
 */
function createHeaderCurrencyReader({ headers, columns }: Table) {
  const currencies = columns.amount.map((index) => {
    const header = headers[index] ?? '';
    const currencyText =
      columns.currency.length === 0 ? header : (HEADER_CURRENCY.exec(header)?.[0] ?? '');
    const [code = null, ...others] = findCurrencyCodes(currencyText);
    return { index, currency: others.length > 0 ? null : code };
  });
  return ({ cells }: TableRow, amount: RowAmount): string | null => {
    const currency = currencies.find(({ index }) => cells[index]?.trim())?.currency ?? null;
    return currency === null ? null : (amount.currency ?? currency);
  };
}

/** Reads the currency from one of two currency columns: the first is for debits, the second for credits. */
function createSideCurrencyReader({ columns }: Table) {
  const [debitColumn, creditColumn] = columns.currency;
  return ({ cells }: TableRow, { side }: RowAmount): string | null => {
    if (debitColumn === undefined || creditColumn === undefined || side === null) return null;
    return cells[side === 'debit' ? debitColumn : creditColumn]?.trim() || null;
  };
}

function describeFees({ headers, columns }: Table, chosenColumn: string | undefined): FeeOptions {
  const findHeader = (field: Field) => headers[columns[field][0] ?? -1] ?? '';
  const column = {
    fee: normalizeName(findHeader('fee')),
    amount: normalizeName(findHeader('amount')),
  };
  const rule = findFeeRule(headers.map(normalizeName), column);
  return { rule, isChosen: chosenColumn !== undefined, column: findHeader('fee') };
}

/**
 * True if the date's header is not English. Only English-speaking countries write the month first. "Data" beside an "Amount"
 * may be English too.
 */
function isDateHeaderForeign({ headers, columns, headerLine }: Table): boolean {
  if (headerLine === 0 || columns.amount.some((index) => /amount/i.test(headers[index] ?? '')))
    return false;
  return !isEnglishDate(normalizeName(headers[columns.date[0] ?? -1] ?? ''));
}

/** Reads the texts and notes of a row. Several columns that the user named for the description become one text. */
function createTextReader({ headers, columns }: Table, chosenColumns: ChosenColumns) {
  const recipients = new Set(
    columns.description.filter((index) => isRecipient(normalizeName(headers[index] ?? ''))),
  );
  const withoutRecipients = columns.description.filter((index) => !recipients.has(index));
  const joinsTexts = chosenColumns.description !== undefined;
  return ({ cells }: TableRow, isIncome: boolean): Pick<Entry, 'texts' | 'notes'> => {
    const read = (indexes: readonly number[]) =>
      indexes.flatMap((index) => {
        const text = cells[index]?.trim() ?? '';
        return text === '' || NO_TEXT.test(text) ? [] : text;
      });
    const payers =
      isIncome && columns.payer.length > 0
        ? read(columns.payer).filter((text) => !ACCOUNT_NUMBER.test(text))
        : [];
    // For money received, the other party is the payer: the recipient is the account's owner.
    const otherTexts = read(payers.length === 0 ? columns.description : withoutRecipients);
    const texts = payers.length === 0 ? otherTexts : [...payers, ...otherTexts];
    return {
      texts: joinsTexts ? joinTexts(texts) : texts,
      notes: columns.notes.length === 0 ? null : (joinTexts(read(columns.notes))[0] ?? null),
    };
  };
}

function joinTexts(texts: readonly string[]): readonly string[] {
  return texts.length < 2 ? texts : [[...new Set(texts)].join(', ')];
}

/** An account number, which some banks write instead of the payer's name. */
const ACCOUNT_NUMBER = /^[A-Z]{2}\d\d[\dA-Z ]{10,}$/;

/** Placeholders that banks write for an entry without text. */
const NO_TEXT = /^(?:no description|not ?provided|n\/?a|[-–.'"]+)$/i;
