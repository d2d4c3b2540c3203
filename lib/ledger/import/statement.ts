// Reads a CSV file into transactions: which column is which, dates and amounts as banks write them, and an id for each row
// that is the same at the next reading, so that no row is imported twice. An export of this service is recognized by its
// header, and its texts are read exactly as they were.

import { UserError } from '../../shared/user-error.ts';
import type { TransactionType } from '../domain/transaction.ts';
import { ValidationError } from '../errors.ts';
import { parseNewCategory } from '../http/category-json.ts';
import { CSV_COLUMNS, fromTextCell } from '../http/transaction-csv.ts';
import { parseNewTransaction } from '../http/transaction-json.ts';
import {
  type ChosenColumns,
  type Field,
  findColumns,
  optionOf,
  requireUniqueHeaders,
} from './columns.ts';
import { type CsvRow, type RefusedLine, readTable } from './csv-table.ts';
import { type TypeWords, typingOf } from './direction.ts';
import { createFormerIds, findSharedIds, rowIds } from './row-ids.ts';
import {
  type DateOrder,
  type DecimalSign,
  dateOrderOf,
  decimalOf,
  readSignedAmounts,
  toDate,
} from './values.ts';

const AMOUNT_FIELDS = ['amount', 'debit', 'credit'] as const;

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
  /** The id that imports of version 0.1.0 made, from the mapped columns. */
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
  /** How many rows repeat an earlier one with the bank's id: they are one transaction. */
  readonly repeated: number;
}

/** As the API takes it, without its category. */
export function toTransactionBody(row: TransactionRow) {
  const { description, amount, type, notes, date, externalId } = row;
  return { description, amount, type, notes, transaction_date: date, external_id: externalId };
}

/** @throws UserError where a column cannot be found, or the file is no CSV */
export function readStatement(text: string, options: StatementOptions = {}): Statement {
  const { account, columns: chosen = {}, isInverted = false } = options;
  const table = readTable(text, (headers) => findColumns(headers, chosen).problems);
  const { headerLine, headers, rows: records, ragged } = table;
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
  const decimal = options.decimal ?? decimalOf(AMOUNT_FIELDS.flatMap(textsOf));
  const amounts = readSignedAmounts(
    records.map((record) => {
      const [amount, debit, credit] = AMOUNT_FIELDS.map((field) => cellOf(record, field));
      return columns.debit === undefined ? { amount } : { debit, credit };
    }),
    { decimal, isInverted },
  );
  const hasTypes = columns.type !== undefined;
  const cells = records.map((record, n) => ({ cell: cellOf(record, 'type'), ...amounts[n] }));
  const typing = typingOf(cells, options.words ?? {}, hasTypes);
  const ids = isExport ? [] : rowIds(records, account);
  const formerId = createFormerIds(account);
  const sharedWith = findSharedIds(records, (record) => cellOf(record, 'externalId'));

  function toRow(record: CsvRow, n: number): StatementRow {
    const shared = sharedWith(record);
    if (shared) throw new Error(sharedId(shared, cellOf(record, 'externalId')));
    const { signed, error } = amounts[n] ?? {};
    if (signed === undefined) throw error ?? new Error('It has no amount.');
    const row = {
      description: cellOf(record, 'description') ?? '',
      notes: cellOf(record, 'notes'),
      ...typing.read(cellOf(record, 'type'), signed),
      date: toDate(cellOf(record, 'date') ?? '', dateOrder),
      category: cellOf(record, 'category'),
    };
    const externalId = cellOf(record, 'externalId');
    const made = externalId === null && !isExport;
    const read = {
      line: record.line,
      ...row,
      externalId: externalId ?? ids[n] ?? null,
      formerId: made ? formerId(row) : null,
      exported: exportedRecordOf(record, isExport),
    };
    requireValid(read);
    return read;
  }

  const rows: StatementRow[] = [];
  const errors: RefusedLine[] = [...ragged];
  const bankIds = new Set<string>();
  let repeated = 0;
  for (const [n, record] of records.entries()) {
    try {
      const row = toRow(record, n);
      const bankId = cellOf(record, 'externalId');
      if (bankId !== null && !isExport && bankIds.has(bankId)) repeated += 1;
      else rows.push(row);
      if (bankId !== null) bankIds.add(bankId);
    } catch (error) {
      errors.push({ line: record.line, message: (error as Error).message });
    }
  }
  const used = Object.entries(columns).filter(([field]) => field !== 'type' || typing.usesColumn);
  const indexes = new Set(used.map(([, index]) => index));
  return {
    headerLine,
    isExport,
    dateOrder,
    decimal,
    rows,
    repeated,
    columns: Object.fromEntries(used.map(([field, index]) => [field, headers[index] ?? ''])),
    ignored: headers.filter((header, index) => header.trim() !== '' && !indexes.has(index)),
    errors: errors.toSorted((one, other) => one.line - other.line),
  };
}

/**
 * What is refused and what is not, where the bank ends its files with lines that are no rows, such as a balance.
 * @param lines how many; undefined where it is not known
 * @throws UserError where there are more or fewer: the file may be cut
 */
export function splitTrailer({ rows, errors }: Statement, lines: number | undefined) {
  const last = rows.at(-1)?.line ?? Number.POSITIVE_INFINITY;
  const trailer = errors.filter(({ line }) => line > last);
  if (lines === undefined) return { trailer, refused: errors };
  if (trailer.length === lines) return { trailer, refused: errors.slice(0, -lines || undefined) };
  throw new UserError(
    `The file has ${trailer.length} unreadable lines after its rows, not ${lines} (--trailer). Is it complete?`,
  );
}

function sharedId({ line }: CsvRow, id: string | null): string {
  const option = optionOf('externalId');
  return `line ${line} has the same id "${id}" and other content. Name a column of unique ids with ${option}, or ${option} none`;
}

function exportedRecordOf({ cells }: CsvRow, isExport: boolean): ExportedRecord | null {
  if (!isExport) return null;
  const cell = (column: (typeof CSV_COLUMNS)[number]) => cells[CSV_COLUMNS.indexOf(column)] ?? '';
  return { id: cell('id'), createdAt: cell('created_at'), updatedAt: cell('updated_at') };
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
