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
const byKey = (indexed: readonly Row[]) => new Map(indexed.map((row) => [keyOf(row), row]));

export const isAllSelected = computed(
  () => rows.value.length > 0 && rows.value.every((row) => selected.value.has(keyOf(row))),
);

/** @param isSpan true to include every row between the last toggled row and this one */
export function toggleRow(row: Row, isSpan = false): void {
  const isOn = !selected.value.has(keyOf(row));
  const all = rows.value;
  const [from, to] = [lastKey, keyOf(row)].map((key) =>
    all.findIndex((each) => keyOf(each) === key),
  );
  const span =
    isSpan && from !== undefined && to !== undefined && from >= 0
      ? all.slice(Math.min(from, to), Math.max(from, to) + 1)
      : [row];
  const next = new Map(selected.value);
  for (const each of span) {
    if (isOn) next.set(keyOf(each), each);
    else next.delete(keyOf(each));
  }
  selected.value = next;
  lastKey = keyOf(row);
}

export function toggleAll(): void {
  selected.value = isAllSelected.value ? new Map() : byKey(rows.value);
}

/** Selects every row of the scope, also those on other pages. @throws ApiError */
export async function selectScope(): Promise<void> {
  const requested = scope.value;
  const all = await readScopeRows(requested);
  if (nameList(scope.value) !== nameList(requested)) return;
  selected.value = byKey(all);
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
      const next = new Map(selected.peek());
      for (const key of removedKeys) next.delete(key);
      selected.value = next;
    }
  });
}
