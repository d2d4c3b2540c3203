// The rows of the list: the service's response with the writes of this page applied to it. A list may lag behind a write, so the
// write stays applied until the list includes it.
import type { Transaction } from '../../lib/ledger/http/api-types.ts';
import type { Change } from './figures.ts';
import { type Dates, periodDates, type Scope } from './scope.ts';

/** A row that is being created has a negative id, and no etag. */
export type Row = Transaction;

export interface Page {
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
}

/** Fields that a person edits. */
export interface Fields {
  readonly description: string;
  readonly amount: number;
  readonly type: Row['type'];
  readonly category_id: number | null;
  readonly transaction_date: string;
  readonly notes: string | null;
}

export function readFields(row: Row): Fields {
  const { description, amount, type, category_id, transaction_date, notes } = row;
  return { description, amount, type, category_id, transaction_date, notes };
}

/** Returns the fields of `after` that differ, for an update to send. */
export function changedFields(before: Row, after: Row): Partial<Fields> {
  const [oldFields, newFields] = [readFields(before), readFields(after)];
  const names = Object.keys(newFields) as (keyof Fields)[];
  return Object.fromEntries(
    names
      .filter((name) => oldFields[name] !== newFields[name])
      .map((name) => [name, newFields[name]]),
  );
}

/** Applies the changes to a page of the list. @param changes in the order in which they were made */
export function applyChanges(
  { rows, page, pages }: Page,
  changes: readonly Change[],
  isIn: (row: Row) => boolean,
): readonly Row[] {
  const rowsById = new Map(rows.map((row) => [row.id, row]));
  const addedIds = new Set<number>();
  for (const { before, after } of changes) {
    const id = (after ?? before)?.id;
    if (id === undefined) continue;
    const listedRow = rowsById.get(id);
    if (after && listedRow && readVersion(listedRow) > readVersion(after)) continue;
    rowsById.delete(id);
    if (before) rowsById.delete(before.id);
    const changedRow = after && before && listedRow ? mergeChange(listedRow, before, after) : after;
    if (changedRow && isIn(changedRow)) rowsById.set(id, changedRow);
    if (after && !listedRow) addedIds.add(after.id);
  }
  const [first, last] = [rows[0], rows.at(-1)];
  const isOnPage = (row: Row) =>
    (page <= 1 || !first || compareRows(first, row) <= 0) &&
    (page >= pages || !last || compareRows(row, last) <= 0);
  return [...rowsById.values()]
    .filter((row) => !addedIds.has(row.id) || isOnPage(row))
    .toSorted(compareRows);
}

/**
 * Applies only the changed fields: the row may have been changed since `before` was read, such as a row that was selected
 * earlier.
 */
function mergeChange(listedRow: Row, before: Row, after: Row): Row {
  const changes = changedFields(before, after);
  const { category_name } = 'category_id' in changes ? after : listedRow;
  return {
    ...after,
    ...readFields(listedRow),
    ...(category_name && { category_name }),
    ...changes,
  };
}

/** Orders rows as the API lists them, newest first. A row that is being created counts as created now. */
function compareRows(first: Row, second: Row): number {
  const [a, b] = [first, second].map(
    ({ transaction_date, created_at }) => `${transaction_date} ${created_at}`,
  );
  if (a !== b) return (a ?? '') > (b ?? '') ? -1 : 1;
  return second.id - first.id;
}

/** Reads the version of a record from its ETag, such as `"t7.3.0f3a9c21"`; 0 before the first response. */
export function readVersion({ etag }: { readonly etag: string }): number {
  return Number(/^"[a-z]\d+\.(\d+)\./.exec(etag)?.[1] ?? 0);
}

/**
 * Returns a predicate for the rows of the scope. Sums cover all categories, so they pass a scope without a category.
 */
export function isInScope(
  scope: Pick<Scope, 'period' | 'type' | 'q'> & { readonly category?: Scope['category'] },
  dates: Dates | undefined = periodDates(scope.period, new Date()),
): (row: Row) => boolean {
  const words = scope.q === '' ? [] : normalize(scope.q).split(/\s+/);
  return (row) => {
    const { transaction_date: date, type, category_id, description, notes } = row;
    if (dates && (date < dates.start_date || date > dates.end_date)) return false;
    if (scope.type !== undefined && type !== scope.type) return false;
    if (scope.category !== undefined && (category_id ?? 'none') !== scope.category) return false;
    const text = words.length > 0 ? normalize(`${description} ${notes ?? ''}`) : '';
    return words.every((word) => text.includes(word));
  };
}

/**
 * Removes case and accents, so that texts can be compared. The vowel signs of scripts such as Devanagari stay, because words
 * differ in them.
 */
export function normalize(text: string): string {
  return text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase();
}

/**
 * Returns the same text for descriptions that differ only in case, digits and signs, because card and reference numbers change
 * each time.
 */
export function toSimilarityKey(description: string): string {
  return normalize(description)
    .replace(/[^\p{L}\p{M}]+/gu, ' ')
    .trim();
}
