// Reads an export of this service, recognized by its header. Texts are read exactly as they were stored.
import { CSV_COLUMNS, fromTextCell } from '../http/transaction-csv.ts';
import { type DecimalSeparator, readAmount } from './amounts.ts';
import type { TableRow } from './csv-text.ts';
import { type DateOrder, type DateReader, readDates } from './dates.ts';
import { findDecimalSeparator } from './decimal-separator.ts';
import { pluralize, type RefusedLine } from './entry.ts';
import { requireValid, type StatementRow } from './transaction-row.ts';

type Column = (typeof CSV_COLUMNS)[number];

export interface ExportOptions {
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  readonly today: string;
}

export interface ParsedExport {
  readonly rows: readonly StatementRow[];
  readonly refused: readonly RefusedLine[];
  readonly dateOrder: DateOrder;
  readonly decimal: DecimalSeparator;
}

export function isExportHeader(cells: readonly string[] | undefined): boolean {
  return cells?.join() === CSV_COLUMNS.join();
}

/** Reads an export even after a spreadsheet has rewritten its dates and amounts. */
export function readExport(records: readonly TableRow[], options: ExportOptions): ParsedExport {
  const amounts = records.map((record) => readRaw(record, 'amount'));
  const decimal = options.decimal ?? findDecimalSeparator(amounts) ?? 'point';
  const dates = readDates(
    records.map((record) => readRaw(record, 'transaction_date')),
    { chosenOrder: options.dateOrder, today: options.today, isDayFirst: decimal === 'comma' },
  );
  const rows: StatementRow[] = [];
  const refused: RefusedLine[] = [];
  for (const record of records) {
    try {
      const row = toRow(record, { decimal, dates });
      requireValid(row);
      rows.push(row);
    } catch (error) {
      refused.push({ line: record.line, message: (error as Error).message });
    }
  }
  return { rows, refused, decimal, dateOrder: dates.order };
}

function readRaw({ cells }: TableRow, column: Column): string {
  return cells[CSV_COLUMNS.indexOf(column)] ?? '';
}

/** @throws Error if the record is not a transaction */
function toRow(
  record: TableRow,
  { decimal, dates }: { readonly decimal: DecimalSeparator; readonly dates: DateReader },
): StatementRow {
  const { cells, line } = record;
  const width = CSV_COLUMNS.length;
  if (cells.length < width || cells.slice(width).some((cell) => cell !== ''))
    throw new Error(`It has ${pluralize(cells.length, 'cell')}, the header ${width}.`);
  const readText = (column: Column) => {
    const cell = readRaw(record, column);
    return cell === '' ? null : fromTextCell(cell);
  };
  const date = dates.read(readRaw(record, 'transaction_date'));
  const { signed } = readAmount(readRaw(record, 'amount'), decimal);
  return {
    line,
    date,
    description: readText('description') ?? '',
    // If the type is stated, the amount keeps its sign: a negative one is a refund or a correction.
    ...readType(readRaw(record, 'type').trim().toLowerCase(), signed),
    category: readText('category_name'),
    notes: readText('notes'),
    externalId: readText('external_id'),
    bankId: null,
    legacyBankId: null,
    exported: {
      id: readRaw(record, 'id'),
      createdAt: readRaw(record, 'created_at'),
      updatedAt: readRaw(record, 'updated_at'),
    },
  };
}

function readType(type: string, amount: number): Pick<StatementRow, 'type' | 'amount'> {
  if (type === 'income' || type === 'expense') return { type, amount };
  if (type !== '') throw new Error(`"${type}" is neither income nor expense`);
  return { type: amount < 0 ? 'expense' : 'income', amount: Math.abs(amount) };
}
