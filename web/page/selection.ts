// Rows that are selected for a change of all of them at once: by their boxes, a span with shift, or all that the scope has.
import { computed, effect, signal } from '@preact/signals';
import { outbox, rows, scope } from './ledger.ts';
import type { Row } from './rows.ts';
import { scopeHash } from './scope.ts';
import { readScopeRows } from './view.ts';

/** By id, as they were when they were selected: their versions are what a change expects. */
export const selected = signal<ReadonlyMap<number, Row>>(new Map());
let lastId: number | undefined;

export const isAllSelected = computed(
  () => rows.value.length > 0 && rows.value.every(({ id }) => selected.value.has(id)),
);

/** @param isSpan from the row that was selected last to this one */
export function toggleRow(row: Row, isSpan = false): void {
  const isOn = !selected.value.has(row.id);
  const all = rows.value;
  const [from, to] = [lastId, row.id].map((id) => all.findIndex((each) => each.id === id));
  const span =
    isSpan && from !== undefined && to !== undefined && from >= 0
      ? all.slice(Math.min(from, to), Math.max(from, to) + 1)
      : [row];
  const next = new Map(selected.value);
  for (const each of span) {
    if (isOn) next.set(each.id, each);
    else next.delete(each.id);
  }
  selected.value = next;
  lastId = row.id;
}

export function toggleAll(): void {
  selected.value = isAllSelected.value
    ? new Map()
    : new Map(rows.value.map((row) => [row.id, row]));
}

/** @throws ApiError */
export async function selectScope(): Promise<void> {
  const wanted = scope.value;
  const all = await readScopeRows(wanted);
  if (scopeHash(scope.value) !== scopeHash(wanted)) return;
  selected.value = new Map(all.map((row) => [row.id, row]));
}

export function clearSelection(): void {
  selected.value = new Map();
}

/** Another scope has other rows. */
export function watchScope(): void {
  let shown = scope.peek();
  effect(() => {
    const now = scope.value;
    if (now.page === shown.page || now.period !== shown.period) clearSelection();
    shown = now;
  });
  effect(() => {
    // Rows that are being deleted are not selected any more.
    const gone = outbox.undoable.value.flatMap(({ changes }) =>
      changes.map(({ before }) => before?.id),
    );
    if (gone.some((id) => id !== undefined && selected.peek().has(id))) {
      const next = new Map(selected.peek());
      for (const id of gone) next.delete(id ?? 0);
      selected.value = next;
    }
  });
}
