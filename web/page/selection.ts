// The rows that are selected, so that one change applies to all of them: single rows by checkbox, a span with Shift, or every
// row of the scope.
import { computed, effect, signal } from '@preact/signals';
import { outbox, rows, scope, shownList } from './ledger.ts';
import type { Row } from './rows.ts';
import { nameList } from './scope.ts';
import { readScopeRows } from './view.ts';

/** Selected rows by key, as they were when they were selected: a change expects these versions. */
export const selected = signal<ReadonlyMap<number, Row>>(new Map());
let lastKey: number | undefined;

const keyOf = ({ id }: Row) => outbox.keyOf(id);
const mapByKey = (rowsToMap: readonly Row[]) => new Map(rowsToMap.map((row) => [keyOf(row), row]));

export const isAllSelected = computed(
  () => rows.value.length > 0 && rows.value.every((row) => selected.value.has(keyOf(row))),
);

/** @param isSpan true to include every row between the last toggled row and this one */
export function toggleRow(row: Row, isSpan = false): void {
  const isSelecting = !selected.value.has(keyOf(row));
  const allRows = rows.value;
  const [lastIndex, index] = [lastKey, keyOf(row)].map((key) =>
    allRows.findIndex((each) => keyOf(each) === key),
  );
  const span =
    isSpan && lastIndex !== undefined && index !== undefined && lastIndex >= 0
      ? allRows.slice(Math.min(lastIndex, index), Math.max(lastIndex, index) + 1)
      : [row];
  const newSelection = new Map(selected.value);
  for (const each of span) {
    if (isSelecting) newSelection.set(keyOf(each), each);
    else newSelection.delete(keyOf(each));
  }
  selected.value = newSelection;
  lastKey = keyOf(row);
}

export function toggleAll(): void {
  selected.value = isAllSelected.value ? new Map() : mapByKey(rows.value);
}

/** Selects every row of the scope, also those on other pages. @throws ApiError */
export async function selectScope(): Promise<void> {
  const requestedScope = scope.value;
  const allRows = await readScopeRows(requestedScope);
  if (nameList(scope.value) !== nameList(requestedScope)) return;
  selected.value = mapByKey(allRows);
}

export function clearSelection(): void {
  selected.value = new Map();
}

/** Clears the selection when another scope is shown, because it has other rows. Turning the page keeps it. */
export function watchScope(): void {
  shownList.subscribe(clearSelection);
  effect(() => {
    // Rows that are being deleted leave the selection.
    const removedKeys = outbox.undoable.value.flatMap(({ changes }) =>
      changes.flatMap(({ before }) => (before ? keyOf(before) : [])),
    );
    if (removedKeys.some((key) => selected.peek().has(key))) {
      const newSelection = new Map(selected.peek());
      for (const key of removedKeys) newSelection.delete(key);
      selected.value = newSelection;
    }
  });
}
