// Reads a CSV file into transactions: which column is which, dates and amounts as banks write them, and an id for each row
// that is the same at the next reading, so that no row is imported twice. An export of this service is recognized by its
// header, and its texts are read exactly as they were.
import { createHash } from 'node:crypto';
import type { TransactionType } from '../../lib/domain/transaction.ts';
import { ValidationError } from '../../lib/errors.ts';
import { parseNewCategory } from '../../lib/http/category-json.ts';
import { CSV_COLUMNS, fromTextCell } from '../../lib/http/transaction-csv.ts';
import { parseNewTransaction } from '../../lib/http/transaction-json.ts';
import {
  type ChosenColumns,
  type Field,
  findColumns,
  optionOf,
  requireUniqueHeaders,
} from './columns.ts';
import { type CsvRow, type RefusedLine, readTable } from './csv-table.ts';
import { type TypeWords, typingOf } from './typing.ts';
import {
  type DateOrder,
  type DecimalSign,
  dateOrderOf,
  decimalOf,
  toAmount,
  toDate,
} from './values.ts';

export interface StatementOptions {
  /** Headers of columns that have another name. */
  readonly columns?: ChosenColumns;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSign | undefined;
  /** Words of the type column. */
  readonly words?: Partial<TypeWords>;
  /** Expenses are positive, as on credit cards. */
  readonly isInverted?: boolean | undefined;
  /** Equal rows of two accounts are two transactions. */
  readonly account?: string | undefined;
}

/** What an import keeps of a transaction. */
export interface TransactionRow {
  readonly description: string;
  readonly amount: number;
  readonly type: TransactionType;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
  /** Null in an export, for a transaction that has none. */
  readonly externalId: string | null;
}

export interface StatementRow extends TransactionRow {
  /** Of the file, from 1. */
  readonly line: number;
  /** The id that imports before 24 November 2026 made, from the mapped columns. */
  readonly formerId: string | null;
  /** Of the transaction, in an export. */
  readonly exported: ExportedRecord | null;
}

/** As in the file. */
export interface ExportedRecord {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Statement {
  readonly headerLine: number;
  /** The file is an export of this service. */
  readonly isExport: boolean;
  /** Headers by field. */
  readonly columns: Readonly<Partial<Record<Field, string>>>;
  /** Headers of the other columns. */
  readonly ignored: readonly string[];
  readonly dateOrder: DateOrder;
  readonly decimal: DecimalSign;
  readonly rows: readonly StatementRow[];
  readonly errors: readonly RefusedLine[];
}

/** As the API takes it, without its category. */
export function toTransactionBody(row: TransactionRow) {
  const { description, amount, type, notes, date, externalId } = row;
  return { description, amount, type, notes, transaction_date: date, external_id: externalId };
}

/** @throws StartError where a column cannot be found, or the file is no CSV */
export function readStatement(text: string, options: StatementOptions = {}): Statement {
  const { account, columns: chosen = {} } = options;
  const table = readTable(text, (headers) => findColumns(headers, chosen).problems);
  const { headers, rows: records, ragged } = table;
  const isExport = headers.join() === CSV_COLUMNS.join();
  const { columns } = findColumns(headers, chosen);
  requireUniqueHeaders(headers, columns);
  const cellOf = ({ cells }: CsvRow, field: Field): string | null => {
    const cell = cells[columns[field] ?? headers.length] ?? '';
    if (isExport) return cell === '' ? null : fromTextCell(cell);
    return cell.trim() || null;
  };
  const textsOf = (field: Field) => records.map((record) => cellOf(record, field) ?? '');
  const dateOrder = options.dateOrder ?? dateOrderOf(textsOf('date'));
  const amountFields = (['amount', 'debit', 'credit'] as const).filter(
    (field) => columns[field] !== undefined,
  );
  const decimal = options.decimal ?? decimalOf(amountFields.flatMap(textsOf));
  const signedAmountOf = signedAmounts();
  const readings = records.map((record) => {
    const cell = cellOf(record, 'type');
    try {
      return { cell, signed: signedAmountOf(record) };
    } catch (error) {
      return { cell, signed: undefined, error: error as Error };
    }
  });
  const typing = typingOf(readings, options.words ?? {}, columns.type !== undefined);
  const ids = isExport ? [] : numbered(records.map((record) => idOfRow(record, account)));
  const recordsById = Map.groupBy(records, (record) => cellOf(record, 'externalId'));
  const formerIds = new Map<string, number>();
  const rows: StatementRow[] = [];
  const errors: RefusedLine[] = [...ragged];
  for (const [n, record] of records.entries()) {
    try {
      requireOwnId(record);
      const row = toRow(record, n);
      requireValid(row);
      rows.push(row);
    } catch (error) {
      errors.push({ line: record.line, message: (error as Error).message });
    }
  }
  const used = new Set(
    Object.entries(columns).flatMap(([field, index]) =>
      field === 'type' && !typing.usesColumn ? [] : index,
    ),
  );
  return {
    ...{ headerLine: table.headerLine, isExport, dateOrder, decimal, rows },
    columns: Object.fromEntries(
      Object.entries(columns).map(([field, index]) => [field, headers[index] ?? '']),
    ),
    ignored: headers.filter((header, index) => header.trim() !== '' && !used.has(index)),
    errors: errors.toSorted((one, other) => one.line - other.line),
  };

  function signedAmounts(): (record: CsvRow) => number {
    const read = (record: CsvRow, field: Field) => toAmount(cellOf(record, field) ?? '', decimal);
    const inverted = (signed: number) => (options.isInverted ? 0 - signed : signed);
    if (columns.debit === undefined) return (record) => inverted(read(record, 'amount'));
    const debits = records.flatMap((record) => cellOf(record, 'debit') ?? []);
    // Some banks also write a minus before what is in the column of debits.
    const isNegative = debits.filter((text) => /[-−(]/.test(text)).length * 2 > debits.length;
    return (record) => {
      const [debit, credit] = (['debit', 'credit'] as const).map((field) =>
        cellOf(record, field) === null ? null : read(record, field),
      );
      if (debit == null && credit == null) throw new Error('It has neither a debit nor a credit.');
      if (debit && credit) throw new Error('It has a debit and a credit.');
      return inverted((credit ?? 0) - (isNegative ? 0 - (debit ?? 0) : (debit ?? 0)));
    };
  }

  function toRow(record: CsvRow, n: number): StatementRow {
    const reading = readings[n];
    if (reading?.signed === undefined) throw reading?.error ?? new Error('It has no amount.');
    const cell = (field: Field) => cellOf(record, field);
    const { amount, type } = typing.read(reading.cell, reading.signed);
    const row = {
      ...{ description: cell('description') ?? '', amount, type },
      ...{ date: toDate(cell('date') ?? '', dateOrder), notes: cell('notes') },
      category: cell('category'),
    };
    const externalId = cell('externalId') ?? ids[n] ?? null;
    const formerId = externalId === ids[n] ? formerIdOf(row) : null;
    const exported = isExport ? exportedRecordOf(record) : null;
    return { line: record.line, ...row, externalId, formerId, exported };
  }

  /** One of two rows with one id would not be imported. It does not matter for rows that are equal in every column. */
  function requireOwnId(record: CsvRow): void {
    const id = cellOf(record, 'externalId');
    const text = JSON.stringify(record.cells);
    const others = id === null ? [] : (recordsById.get(id) ?? []);
    const other = others.find(({ cells }) => JSON.stringify(cells) !== text);
    if (other) {
      throw new Error(
        `line ${other.line} has the same id "${id}" and other content. Name a column of unique ids with ${optionOf('externalId')}, or ${optionOf('externalId')} none`,
      );
    }
  }

  /** From the fields in this order. */
  function formerIdOf(row: object): string | null {
    if (isExport) return null;
    const hash = hashOf({ ...row, account });
    const count = (formerIds.get(hash) ?? 0) + 1;
    formerIds.set(hash, count);
    return `csv-${hash}-${count}`;
  }
}

function exportedRecordOf({ cells }: CsvRow): ExportedRecord {
  const cell = (column: (typeof CSV_COLUMNS)[number]) => cells[CSV_COLUMNS.indexOf(column)] ?? '';
  return { id: cell('id'), createdAt: cell('created_at'), updatedAt: cell('updated_at') };
}

/** Of the row as the bank wrote it: which columns are read, and how, does not matter. */
function idOfRow({ cells }: CsvRow, account: string | undefined): string {
  const width = cells.findLastIndex((cell) => cell !== '') + 1;
  return `row-${hashOf({ cells: cells.slice(0, width), account })}`;
}

/** Equal rows have ids of their own. */
function numbered(ids: readonly string[]): readonly string[] {
  const seen = new Map<string, number>();
  return ids.map((id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return `${id}-${count}`;
  });
}

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

/** @throws Error where the API would refuse the row, or its category */
function requireValid(row: TransactionRow): void {
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
