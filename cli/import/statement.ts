// Reads a CSV file into transactions: which column is which, dates and amounts as banks write them, and an id for each row
// that is the same at the next reading, so that no row is imported twice. An export of this service is recognized by its
// header, and its texts are read exactly as they were.
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { isCalendarDate } from '../../lib/domain/calendar-date.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../../lib/domain/transaction.ts';
import { ValidationError } from '../../lib/errors.ts';
import { parseNewCategory } from '../../lib/http/category-json.ts';
import { CSV_COLUMNS, fromTextCell } from '../../lib/http/transaction-csv.ts';
import { parseNewTransaction } from '../../lib/http/transaction-json.ts';
import { StartError } from '../../local/processes/start-error.ts';

/** Headers that banks use, in lower case. */
const KNOWN_HEADERS = {
  date: [
    'transaction_date',
    'date',
    'booking date',
    'posting date',
    'transaction date',
    'datum',
    'buchungstag',
  ],
  description: [
    'description',
    'payee',
    'merchant',
    'name',
    'details',
    'text',
    'memo',
    'verwendungszweck',
  ],
  amount: ['amount', 'value', 'sum', 'betrag', 'umsatz'],
  type: ['type'],
  category: ['category_name', 'category', 'kategorie'],
  notes: ['notes', 'note', 'comment'],
  externalId: ['external_id', 'transaction id', 'reference'],
} as const;
export type Field = keyof typeof KNOWN_HEADERS;
const REQUIRED: readonly Field[] = ['date', 'description', 'amount'];

export const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const;
type DateOrder = (typeof DATE_ORDERS)[number];
export const DECIMAL_SIGNS = ['point', 'comma'] as const;
type DecimalSign = (typeof DECIMAL_SIGNS)[number];

/** Groups of three digits have one separator. A text that fits both has one value: the wrong sign scales no amount. */
const AMOUNTS = {
  point: /^([-+−]?)\s*([1-9]\d{0,2}(?:([,'’\s])\d{3}(?:\3\d{3})*)?|\d+)(?:\.(\d{1,2}))?$/,
  comma: /^([-+−]?)\s*([1-9]\d{0,2}(?:([.'’\s])\d{3}(?:\3\d{3})*)?|\d+)(?:,(\d{1,2}))?$/,
};
const CURRENCY = /(?:[A-Z]{3}|\p{Sc})(?!\s*\d)|(?<!\d\s*)(?:[A-Z]{3}|\p{Sc})/gu;

export interface StatementOptions {
  /** Headers of columns that have another name. */
  readonly columns?: Readonly<Partial<Record<Field, string | undefined>>>;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSign | undefined;
  /** Equal rows of two accounts are two transactions. */
  readonly account?: string | undefined;
}

export interface StatementRow {
  /** Of the file, from 1. */
  readonly line: number;
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
  /** Null in an export, for a transaction that has none. */
  readonly externalId: string | null;
}

export interface Statement {
  /** The file is an export of this service. */
  readonly isExport: boolean;
  /** Headers by field. */
  readonly columns: Readonly<Partial<Record<Field, string>>>;
  readonly dateOrder: DateOrder;
  readonly decimal: DecimalSign;
  readonly rows: readonly StatementRow[];
  readonly errors: readonly { readonly line: number; readonly message: string }[];
}

/** As the API takes it, without its category. */
export function toTransactionBody(row: StatementRow) {
  const { line: _, category: _name, date, externalId, ...fields } = row;
  return { ...fields, transaction_date: date, external_id: externalId };
}

type Cells = Readonly<Record<string, string>>;

/** @throws StartError where a column cannot be found, or the file is no CSV */
export function readStatement(text: string, options: StatementOptions = {}): Statement {
  const { headers, records } = parseCsv(text);
  const isExport = headers.join() === CSV_COLUMNS.join();
  const columns = findColumns(headers, options.columns ?? {});
  const cellOf = (cells: Cells, field: Field): string | null => {
    const cell = cells[columns[field] ?? ''] ?? '';
    if (isExport) return cell === '' ? null : fromTextCell(cell);
    return cell.trim() || null;
  };
  const textsOf = (field: Field) => records.map(({ cells }) => cellOf(cells, field) ?? '');
  const dateOrder = options.dateOrder ?? dateOrderOf(textsOf('date'));
  const decimal = options.decimal ?? decimalOf(textsOf('amount'));
  const recordsById = Map.groupBy(records, ({ cells }) => cellOf(cells, 'externalId'));
  const seen = new Map<string, number>();
  const rows: StatementRow[] = [];
  const errors: { line: number; message: string }[] = [];
  for (const { line, cells } of records) {
    try {
      requireOwnId(cells);
      const row = toRow(line, (field) => cellOf(cells, field));
      requireValid(row);
      rows.push(row);
    } catch (error) {
      errors.push({ line, message: (error as Error).message });
    }
  }
  return { isExport, columns, dateOrder, decimal, rows, errors };

  function toRow(line: number, cell: (field: Field) => string | null): StatementRow {
    const signed = toAmount(cell('amount') ?? '', decimal);
    const type = toType(cell('type'), signed);
    const row = {
      description: cell('description') ?? '',
      amount: cell('type') === null ? Math.abs(signed) : signed,
      type,
      date: toDate(cell('date') ?? '', dateOrder),
      notes: cell('notes'),
      category: cell('category'),
    };
    const externalId = cell('externalId');
    return { line, ...row, externalId: isExport ? externalId : (externalId ?? derivedId(row)) };
  }

  /** One of two rows with one id would not be imported. It does not matter for rows that are equal in every column. */
  function requireOwnId(cells: Cells): void {
    const id = cellOf(cells, 'externalId');
    const text = JSON.stringify(cells);
    const others = id === null ? [] : (recordsById.get(id) ?? []);
    const other = others.find((each) => JSON.stringify(each.cells) !== text);
    if (other) {
      throw new Error(
        `line ${other.line} has the same id "${id}" and other content. Name a column of unique ids with --id, or rename the column "${columns.externalId}"`,
      );
    }
  }

  /** Equal rows are numbered. */
  function derivedId(row: object): string {
    const named = JSON.stringify({ ...row, account: options.account });
    const hash = createHash('sha256').update(named).digest('hex').slice(0, 32);
    const count = (seen.get(hash) ?? 0) + 1;
    seen.set(hash, count);
    return `csv-${hash}-${count}`;
  }
}

function parseCsv(text: string) {
  if (text.trim() === '')
    throw new StartError('The file is empty. Its first line must name the columns.');
  const [header = ''] = text.split('\n', 1);
  const columnsBy = (delimiter: string) => header.split(delimiter).length;
  const [delimiter = ','] = [',', ';', '\t'].toSorted(
    (one, other) => columnsBy(other) - columnsBy(one),
  );
  let headers: string[] = [];
  const columns = (found: string[]) => {
    headers = found;
    return found;
  };
  try {
    const records = parse(text, {
      ...{ bom: true, columns, info: true, skip_empty_lines: true, delimiter },
    }) as unknown as { record: Cells; info: { lines: number } }[];
    return {
      headers,
      records: records.map(({ record, info }) => ({ line: info.lines, cells: record })),
    };
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(
      `The file is not valid CSV: ${message}. Its first line must name the columns.`,
      { cause },
    );
  }
}

function findColumns(headers: readonly string[], chosen: NonNullable<StatementOptions['columns']>) {
  const columns: Partial<Record<Field, string>> = {};
  for (const [field, known] of Object.entries(KNOWN_HEADERS) as [Field, readonly string[]][]) {
    const name = chosen[field];
    const header =
      name === undefined
        ? known.flatMap((each) => headers.find((one) => one.trim().toLowerCase() === each) ?? [])[0]
        : headers.find((one) => one === name);
    if (headers.filter((one) => one === header).length > 1)
      throw new StartError(`Two columns are named "${header}". Rename one in the first line.`);
    if (header !== undefined) columns[field] = header;
    else if (name !== undefined || REQUIRED.includes(field)) {
      const option = field === 'externalId' ? 'id' : field;
      throw new StartError(
        `No column ${name === undefined ? `for the ${field}` : `"${name}"`} in the first line: ${headers.join(', ')}. Name it with --${option} COLUMN.`,
      );
    }
  }
  return columns;
}

/** The one in which most dates can be read. @throws StartError where there are two */
function dateOrderOf(dates: readonly string[]): DateOrder {
  const isLikely = (date: string, order: DateOrder) => {
    if (order === 'ymd' ? !/^\d{4}/.test(date) : order === 'mdy' && date.includes('.'))
      return false;
    return isCalendarDate(reorder(date, order));
  };
  const counts = DATE_ORDERS.map((order) => dates.filter((date) => isLikely(date, order)).length);
  const most = Math.max(...counts);
  const [order = 'ymd', other] = DATE_ORDERS.filter((_, n) => counts[n] === most);
  if (most === 0 || other === undefined) return order;
  throw new StartError(
    `Dates may be ${order} or ${other}. Say which with --date-order ${order} or ${other}.`,
  );
}

function reorder(text: string, order: DateOrder): string {
  const parts = text.split(/\D/).slice(0, 3);
  const part = (letter: string) => parts[order.indexOf(letter)] ?? '';
  const year = part('y').length === 2 ? `20${part('y')}` : part('y');
  return `${year}-${part('m').padStart(2, '0')}-${part('d').padStart(2, '0')}`;
}

function toDate(text: string, order: DateOrder): string {
  const date = reorder(text, order);
  if (!isCalendarDate(date)) throw new Error(`"${text}" is not a date (${order})`);
  return date;
}

/** The sign before the one or two last digits of most amounts. */
function decimalOf(amounts: readonly string[]): DecimalSign {
  const count = (pattern: RegExp) => amounts.filter((amount) => pattern.test(amount)).length;
  return count(/,\d{1,2}\D*$/) > count(/\.\d{1,2}\D*$/) ? 'comma' : 'point';
}

function toAmount(text: string, decimal: DecimalSign): number {
  const plain = text
    .replace(CURRENCY, '')
    .trim()
    .replace(/^\((.*?)\s*\)$|^(.*?)\s*[-−]$/, '-$1$2');
  const [, sign = '', whole, , cents = '0'] = AMOUNTS[decimal].exec(plain) ?? [];
  if (whole === undefined) {
    const message = `"${text}" is not an amount with a decimal ${decimal} (--decimal chooses it)`;
    throw new Error(message);
  }
  const amount = Number(`${whole.replace(/\D/g, '')}.${cents}`);
  return /[-−]/.test(sign) ? -amount : amount;
}

function toType(text: string | null, amount: number): TransactionType {
  if (text === null) return amount < 0 ? 'expense' : 'income';
  const type = TRANSACTION_TYPES.find((each) => each === text.toLowerCase());
  if (!type) throw new Error(`"${text}" is neither income nor expense`);
  return type;
}

/** @throws Error where the API would refuse the row, or its category */
function requireValid(row: StatementRow): void {
  try {
    parseNewTransaction(toTransactionBody(row));
    if (row.category !== null) parseNewCategory({ name: row.category });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { details = {} } = error;
    const [[field = '', sentences = []] = []] = Object.entries(details);
    throw new Error(`${field === 'name' ? 'category' : field}: ${sentences.join(' ')}`);
  }
}
