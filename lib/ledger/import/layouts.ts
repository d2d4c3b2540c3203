// Remembers the options for each file layout, so that next month's file needs none.

import type { DecimalSeparator } from './amounts.ts';
import { looksLikeAmount } from './amounts.ts';
import type { ChosenColumns } from './chosen-columns.ts';
import type { TableRow } from './csv-text.ts';
import { type DateOrder, looksLikeDate } from './dates.ts';
import type { TypeWords } from './direction.ts';
import type { Table } from './table.ts';

/** Options for reading a file of one layout. */
export interface LayoutOptions {
  /** For a field whose column is not recognized: its header, its number from 1, or "none". */
  readonly columns?: ChosenColumns | undefined;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimal?: DecimalSeparator | undefined;
  /** Words of the direction column. */
  readonly words?: Partial<TypeWords> | undefined;
  /** True if expenses are positive, as on credit cards. */
  readonly isInverted?: boolean | undefined;
  /** A name that TextDecoder knows. */
  readonly encoding?: string | undefined;
  /** Imports only the entries in this currency. */
  readonly currency?: string | undefined;
  /** Words of the status column whose rows are left out. */
  readonly leaveOut?: readonly string[] | undefined;
}

/** Options by the key of their layout. */
export type Layouts = Readonly<Record<string, LayoutOptions>>;

const MAX_ROWS_BEFORE_HEADER = 100;
const MAX_KEY_LENGTH = 2_000;

/** Identifies a layout by its header or, without one, by the number of columns and the kinds of their cells. */
export function describeLayout(
  { headerLine, headers, rows }: Table,
  options: LayoutOptions,
): { readonly key: string; readonly used: LayoutOptions } {
  const { columns, dateOrder, decimal, words, isInverted, encoding, currency, leaveOut } = options;
  const allOptions = {
    columns,
    dateOrder,
    decimal,
    words,
    isInverted,
    encoding,
    currency,
    leaveOut,
  };
  return {
    key: headerLine > 0 ? toHeaderKey(headers) : toHeaderlessKey(rows[0]?.cells ?? []),
    used: keepChosen(allOptions) ?? {},
  };
}

/**
 * Recalls the options of the first line that is a known header or, failing that, of a first row with the same kinds of cells.
 */
export function recallLayout(
  rows: readonly TableRow[],
  layouts: Layouts = {},
): LayoutOptions | undefined {
  if (Object.keys(layouts).length === 0) return undefined;
  // Only the first row counts: the same kinds of cells below a header are another layout.
  const headerlessKey = toHeaderlessKey(rows[0]?.cells ?? []);
  const headerKeys = rows.slice(0, MAX_ROWS_BEFORE_HEADER).map(({ cells }) => toHeaderKey(cells));
  const key = [...headerKeys, headerlessKey].find((each) => Object.hasOwn(layouts, each));
  return key === undefined ? undefined : layouts[key];
}

function toHeaderKey(headers: readonly string[]): string {
  return headers
    .map((header) => header.trim())
    .join('|')
    .slice(0, MAX_KEY_LENGTH);
}

function toHeaderlessKey(cells: readonly string[]): string {
  const findKind = (cell: string) => {
    if (looksLikeDate(cell)) return 'date';
    if (looksLikeAmount(cell)) return 'amount';
    return cell === '' ? 'empty' : 'text';
  };
  return `no header: ${cells.map((cell) => findKind(cell.trim())).join(' ')}`.slice(
    0,
    MAX_KEY_LENGTH,
  );
}

/** Keeps only the options that were chosen. */
function keepChosen<Value>(value: Value): Value | undefined {
  if (value === false || value === '' || value === undefined) return undefined;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value;
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const chosenValue: unknown = keepChosen(each);
    return chosenValue === undefined ? [] : [[name, chosenValue] as const];
  });
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Value);
}
