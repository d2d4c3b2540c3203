// Reads a CSV file into transactions: which column is which, dates and amounts as banks write them, and an id for each row
// that is the same at the next reading, so that no row is imported twice. An export of this service is recognized by its
// header, and its texts are read exactly as they were.
import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { isCalendarDate } from '../../lib/domain/calendar-date.ts';
import { TRANSACTION_TYPES, type TransactionType } from '../../lib/domain/transaction.ts';
import { CSV_COLUMNS, fromTextCell } from '../../lib/http/transaction-csv.ts';
import { StartError } from '../start-error.ts';

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

export interface StatementOptions {
  /** Headers of columns that have another name. */
  readonly columns?: Readonly<Partial<Record<Field, string | undefined>>>;
  readonly dateOrder?: DateOrder | undefined;
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
  readonly rows: readonly StatementRow[];
  readonly errors: readonly { readonly line: number; readonly message: string }[];
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
  const dateOrder =
    options.dateOrder ?? dateOrderOf(records.map(({ cells }) => cellOf(cells, 'date') ?? ''));
  const isDecimalComma = records.some(({ cells }) =>
    /,\d{1,2}\D*$/.test(cellOf(cells, 'amount') ?? ''),
  );
  const seen = new Map<string, number>();
  const rows: StatementRow[] = [];
  const errors: { line: number; message: string }[] = [];
  for (const { line, cells } of records) {
    try {
      rows.push(toRow(line, (field) => cellOf(cells, field)));
    } catch (error) {
      errors.push({ line, message: (error as Error).message });
    }
  }
  return { isExport, columns, rows, errors };

  function toRow(line: number, cell: (field: Field) => string | null): StatementRow {
    const signed = toAmount(cell('amount') ?? '', isDecimalComma);
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

  /** Equal rows are numbered. */
  function derivedId(row: object): string {
    const hash = createHash('sha256').update(JSON.stringify(row)).digest('hex').slice(0, 32);
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
    throw new StartError(`The file is not valid CSV: ${(cause as Error).message}`, { cause });
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
    if (header !== undefined) columns[field] = header;
    else if (name !== undefined || REQUIRED.includes(field)) {
      const option = field === 'externalId' ? 'id' : field;
      throw new StartError(
        `No column ${name === undefined ? `for the ${field}` : `"${name}"`} among: ${headers.join(', ')}. Name it with --${option} COLUMN.`,
      );
    }
  }
  return columns;
}

/** @throws StartError where dates can be read in two ways */
function dateOrderOf(dates: readonly string[]): DateOrder {
  const parts = dates.map((date) => date.split(/\D/).map(Number));
  if (dates.every((date) => /^(\d{4}|$)/.test(date))) return 'ymd';
  if (dates.some((date) => date.includes('.')) || parts.some(([first = 0]) => first > 12))
    return 'dmy';
  if (parts.some(([, second = 0]) => second > 12)) return 'mdy';
  throw new StartError('Dates may be day or month first. Say which with --date-order dmy or mdy.');
}

function toDate(text: string, order: DateOrder): string {
  const parts = text.split(/\D/).slice(0, 3);
  const part = (letter: string) => parts[order.indexOf(letter)] ?? '';
  const year = part('y').length === 2 ? `20${part('y')}` : part('y');
  const date = `${year}-${part('m').padStart(2, '0')}-${part('d').padStart(2, '0')}`;
  if (!isCalendarDate(date)) throw new Error(`"${text}" is not a date (${order})`);
  return date;
}

function toAmount(text: string, isDecimalComma: boolean): number {
  const plain = text.replace(/[\s'’]|[A-Z]{3}|\p{Sc}/gu, '').replace('−', '-');
  const decimal = isDecimalComma
    ? plain.replaceAll('.', '').replace(',', '.')
    : plain.replaceAll(',', '');
  if (!/^[+-]?\d+(\.\d{1,2})?$/.test(decimal)) throw new Error(`"${text}" is not an amount`);
  return Number(decimal);
}

function toType(text: string | null, amount: number): TransactionType {
  if (text === null) return amount < 0 ? 'expense' : 'income';
  const type = TRANSACTION_TYPES.find((each) => each === text.toLowerCase());
  if (!type) throw new Error(`"${text}" is neither income nor expense`);
  return type;
}
