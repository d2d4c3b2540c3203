// Decides what kind of content a column has by its cells in the first rows.
import { isEmptyAmount, looksLikeAmount } from './amounts.ts';
import type { TableRow } from './csv-text.ts';

/** Number of rows that are sampled below a header. */
export const MAX_SAMPLED_ROWS = 300;
/** Minimum share of a column's cells that must be of one kind. */
export const MIN_KIND_SHARE = 0.8;

/** The non-empty cells of a column, and the number of rows that were sampled. */
export interface Sample {
  readonly cells: readonly string[];
  readonly rows: number;
}

export function sampleRows(rows: readonly TableRow[]): readonly TableRow[] {
  return rows.slice(0, MAX_SAMPLED_ROWS);
}

export function sampleColumn(rows: readonly TableRow[], index: number): Sample {
  const cells = rows.flatMap((row) => row.cells[index]?.trim() || []);
  return { cells, rows: rows.length };
}

export function measureShare(sample: Sample | undefined, test: (cell: string) => boolean): number {
  if (!sample || sample.cells.length === 0) return 0;
  return sample.cells.filter(test).length / sample.cells.length;
}

export function isNumeric(sample: Sample | undefined): boolean {
  return (
    measureShare(sample, looksLikeAmountOrDash) >= MIN_KIND_SHARE &&
    (sample?.cells.some(looksLikeAmount) ?? false)
  );
}

function looksLikeAmountOrDash(cell: string): boolean {
  return looksLikeAmount(cell) || isEmptyAmount(cell);
}

export function isMostlyFilled(sample: Sample | undefined): boolean {
  return sample !== undefined && sample.cells.length >= sample.rows / 2;
}

export function isPartlyFilled(sample: Sample | undefined): boolean {
  return sample !== undefined && sample.cells.length > 0 && sample.cells.length < sample.rows;
}

export function isText(sample: Sample | undefined): boolean {
  if (!sample) return false;
  return sample.cells.length === 0 || measureShare(sample, (cell) => /\p{L}/u.test(cell)) > 0.2;
}
