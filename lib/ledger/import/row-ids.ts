// An id for each row of a bank's file that is the same at the next reading, so that no row is imported twice.
import { createHash } from 'node:crypto';
import type { CsvRow } from './csv-table.ts';

/**
 * Of the rows as the bank wrote them: which columns are read, and how, does not matter. Equal rows are numbered.
 * @param account part of the ids: equal rows of two accounts are two transactions
 */
export function rowIds(rows: readonly CsvRow[], account: string | undefined): readonly string[] {
  const number = createNumbering();
  return rows.map(({ cells }) => {
    const width = cells.findLastIndex((cell) => cell !== '') + 1;
    return number(`row-${hashOf({ cells: cells.slice(0, width), account })}`);
  });
}

/** The id that imports of version 0.1.0 made of each row, in the order of the file. */
export function createFormerIds(account: string | undefined) {
  const number = createNumbering();
  return ({ description, amount, type, date, notes, category }: FormerFields): string => {
    const fields = { description, amount, type, date, notes, category, account };
    return number(`csv-${hashOf(fields)}`);
  };
}

export interface FormerFields {
  readonly description: string;
  readonly amount: number;
  readonly type: string;
  readonly date: string;
  readonly notes: string | null;
  readonly category: string | null;
}

/**
 * One of two rows with one id would not be imported. It does not matter for rows that are equal in every column.
 * @param idOf the bank's id
 * @returns for a row, another one with its id and other content
 */
export function findSharedIds(rows: readonly CsvRow[], idOf: (row: CsvRow) => string | null) {
  const rowsById = Map.groupBy(rows, idOf);
  return (row: CsvRow): CsvRow | undefined => {
    const id = idOf(row);
    const text = JSON.stringify(row.cells);
    const others = id === null ? [] : (rowsById.get(id) ?? []);
    return others.find(({ cells }) => JSON.stringify(cells) !== text);
  };
}

function createNumbering(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return `${id}-${count}`;
  };
}

function hashOf(value: object): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}
