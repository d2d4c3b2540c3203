// The rows of the scope, grouped by day. A click or Enter opens a row, and the arrow keys move between rows.
import { signal, useComputed } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { categoriesById, categoryName } from './category-list.ts';
import { ConflictRow } from './conflict-row.tsx';
import { chooseDays, drawAllDays } from './drawn-days.ts';
import { EditRow, readInterruptedEdit } from './edit-row.tsx';
import { addUp, addUpRows } from './figures.ts';
import { format } from './format.ts';
import { QuickCategory } from './inbox.tsx';
import { useKeepFocusInList } from './kept-focus.ts';
import { canWrite, outbox, removeRows, rows, shownList, unsavedKeys, view } from './ledger.ts';
import type { Row } from './rows.ts';
import { categoryColor } from './scheme.ts';
import { isPhone } from './screen.ts';
import { isAllSelected, selected, toggleAll, toggleRow } from './selection.ts';

const COLUMNS = 5;

/** Key of the row at which the Tab key stops, together with the controls in that row. */
const currentKey = signal<number | undefined>(undefined);

/** Key of the row that is edited, and the field that gets the focus first. */
export const editing = signal<{ readonly key: number; readonly field: string } | undefined>(
  undefined,
);

export function TransactionList() {
  const table = useRef<HTMLTableElement>(null);
  const days = [...Map.groupBy(rows.value, ({ transaction_date: date }) => date)];
  // Another scope gets new elements: a row that both scopes have must not visibly jump to its new place.
  const listName = shownList.value;
  // The category field of a row is removed when the row gets a category. A conflict replaces its row, and later the row
  // replaces the conflict; reading the conflicts redraws the list as well, which then moves the focus.
  void outbox.conflicts.value;
  useKeepFocusInList(table, '.entry, .conflict', (item, lost) => {
    if (lost.role === 'combobox') return item.querySelector('[role=combobox]');
    return item.querySelector('section') ?? item;
  });
  useInterruptedEdit();
  return (
    <table
      ref={table}
      class="transactions"
      aria-label="Transactions"
      onClick={onListClick}
      onFocusCapture={onListFocus}
      onKeyDown={onListKey}
    >
      <ListHead />
      <HiddenConflicts />
      {chooseDays(days).map(([day, rowsOfDay], n) => (
        <Day key={`${listName} ${day}`} day={day} rows={rowsOfDay} isFirst={n === 0} />
      ))}
    </table>
  );
}

/** Opens the row whose edit a reload interrupted. */
function useInterruptedEdit(): void {
  const isWritable = canWrite.value;
  useEffect(() => {
    const interruptedEdit = readInterruptedEdit();
    if (!interruptedEdit || !isWritable) return;
    drawAllDays();
    editing.value ??= { key: outbox.keyOf(interruptedEdit.id), field: 'description' };
  }, [isWritable]);
}

function ListHead() {
  return (
    <thead>
      <tr>
        <th class="pick">
          {canWrite.value ? (
            <label class="box">
              <input
                type="checkbox"
                aria-label="Select all"
                checked={isAllSelected.value}
                onChange={toggleAll}
              />
            </label>
          ) : (
            <span class="unseen">Selected</span>
          )}
        </th>
        <th scope="col">Description</th>
        <th scope="col" class="in-category">
          <span>Category</span>
        </th>
        <th scope="col" class="in-amount">
          Amount
        </th>
        <th class="act">
          <span class="unseen">Actions</span>
        </th>
      </tr>
    </thead>
  );
}

/** Shows the conflicts of rows that are not in the list. */
function HiddenConflicts() {
  const hiddenConflicts = [...outbox.conflicts.value.values()].filter(
    ({ mine }) => !rows.value.some(({ id }) => id === mine.id),
  );
  if (hiddenConflicts.length === 0) return null;
  return (
    <tbody>
      {hiddenConflicts.map((conflict) => (
        <ConflictRow key={conflict.mine.id} conflict={conflict} columns={COLUMNS} />
      ))}
    </tbody>
  );
}

interface DayProps {
  readonly day: string;
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
}

function Day({ day, rows: rowsOfDay, isFirst }: DayProps) {
  return (
    <tbody>
      <tr class="day">
        <th colSpan={3} scope="rowgroup">
          <time dateTime={day}>{format.day(day)}</time>
        </th>
        <td class="in-amount">{format.signed(addUp(addUpRows(rowsOfDay, 'day')).net)}</td>
        <td />
      </tr>
      {rowsOfDay.map((row, n) => (
        <Transaction key={outbox.keyOf(row.id)} row={row} isFirst={isFirst && n === 0} />
      ))}
    </tbody>
  );
}

/** Draws one row without listeners: the table listens for all rows. */
function Transaction({ row, isFirst }: { readonly row: Row; readonly isFirst: boolean }) {
  const key = outbox.keyOf(row.id);
  const state = useComputed(() => readState(key)).value;
  const conflict = outbox.conflicts.value.get(row.id);
  if (conflict) return <ConflictRow conflict={conflict} columns={COLUMNS} />;
  const isWritable = canWrite.value;
  if (state & OPEN && isWritable) return <OpenRow row={row} />;
  // Without a current row, the Tab key stops at the first. Only the first row reads `currentKey` here, so that a change redraws
  // no other row.
  const isTabStop = (state & TAB_STOP) > 0 || (isFirst && currentKey.value === undefined);
  const tabIndex = isTabStop ? 0 : -1;
  const [isSelected, isUnsaved] = [(state & SELECTED) > 0, (state & UNSAVED) > 0];
  return (
    <tr
      class={`entry ${isSelected ? 'selected' : ''} ${isUnsaved ? 'unsaved' : ''}`}
      tabIndex={tabIndex}
      data-id={row.id}
    >
      <td class="pick">{isWritable && drawCheckbox(isSelected, tabIndex)}</td>
      {drawDescription(row, isUnsaved)}
      <td class="in-category" dir="auto">
        {drawCategory(row, tabIndex)}
      </td>
      <td class={`in-amount ${row.type}`}>{format.signed(toSignedAmount(row))}</td>
      <td class="act">{isWritable && drawDeleteButton(tabIndex)}</td>
    </tr>
  );
}

const OPEN = 1;
const SELECTED = 2;
const UNSAVED = 4;
const TAB_STOP = 8;

/** Packs the state of a row into one number, so that a row is redrawn only if its own state changes. */
function readState(key: number): number {
  return (
    (editing.value?.key === key ? OPEN : 0) |
    (selected.value.has(key) ? SELECTED : 0) |
    (unsavedKeys.value.has(key) ? UNSAVED : 0) |
    (currentKey.value === key ? TAB_STOP : 0)
  );
}

function startEditing(row: Row, field: string): void {
  if (canWrite.value) editing.value = { key: outbox.keyOf(row.id), field };
}

function findRow(target: EventTarget | null): Row | undefined {
  const entry = target instanceof Element ? target.closest<HTMLElement>('.entry') : null;
  return entry ? rows.peek().find(({ id }) => String(id) === entry.dataset.id) : undefined;
}

function onListFocus({ target }: FocusEvent): void {
  drawAllDays();
  const row = findRow(target);
  if (row) currentKey.value = outbox.keyOf(row.id);
}

/** Opens the row that was clicked, with the focus in the field that was clicked. */
function onListClick({ target, shiftKey, detail }: MouseEvent): void {
  const row = findRow(target);
  if (!row || !canWrite.value || !(target instanceof Element)) return;
  if (target.closest('.pick')) toggleRow(row, shiftKey);
  else if (target.closest('button')) {
    // After the first click of a double click, the next row is under the pointer.
    if (detail <= 1) removeRows([row]);
  } else if (target.closest('.category-box')) return;
  else if (target.closest('.in-amount')) startEditing(row, 'amount');
  else startEditing(row, target.closest('.in-category') ? 'category' : 'description');
}

/** Handles keys only if the row itself has the focus, not a control in it. */
function onListKey(event: TargetedKeyboardEvent<HTMLTableElement>): void {
  const { target, currentTarget, key, shiftKey } = event;
  const row = findRow(target);
  if (!row || !(target instanceof HTMLElement) || !target.matches('.entry')) return;
  if (key in STEPS) {
    if (!moveInList(currentTarget, target, key as keyof typeof STEPS)) return;
  } else if (!canWrite.value) return;
  else if (key === 'Enter') startEditing(row, 'description');
  else if (key === ' ' || key.toLowerCase() === 'x') toggleRow(row, shiftKey);
  else if (key === 'Delete' || key === 'Backspace') removeRows([row]);
  else return;
  event.preventDefault();
}

const STEPS = {
  ArrowDown: (index: number) => index + 1,
  ArrowUp: (index: number) => index - 1,
  Home: () => 0,
  End: (_: number, last: number) => last,
} as const;

/** Moves the focus to another row. @returns false at the end of the list */
function moveInList(table: HTMLElement, entry: HTMLElement, key: keyof typeof STEPS): boolean {
  const entries = [...table.querySelectorAll<HTMLElement>('.entry')];
  const nextEntry = entries[STEPS[key](entries.indexOf(entry), entries.length - 1)];
  nextEntry?.focus();
  return nextEntry !== undefined;
}

// Plain functions instead of components draw the parts of a row, because a list has hundreds of each part.

/** The checkbox needs no listener: a click anywhere in its cell toggles the row. */
function drawCheckbox(isSelected: boolean, tabIndex: number) {
  return <input type="checkbox" aria-label="Select" checked={isSelected} tabIndex={tabIndex} />;
}

/** Draws the description, after the dot of its category. */
function drawDescription({ description, notes, category_id: id }: Row, isUnsaved: boolean) {
  const category = categoriesById.value.get(id ?? 0);
  return (
    <td
      class={category ? 'in-description' : 'in-description unsorted'}
      style={category && { '--category': categoryColor(category) }}
    >
      <span class="text" dir="auto">
        {description}
      </span>
      {isUnsaved && <span class="mark">saving</span>}
      {notes && (
        <small class="text" dir="auto">
          {notes}
        </small>
      )}
    </td>
  );
}

/** On a phone only the inbox has a field for the category, because a person opens the inbox to categorise rows. */
function drawCategory(row: Row, tabIndex: number) {
  const isFieldShown = !isPhone.value || view.value?.scope.category === 'none';
  if (row.category_id === null && canWrite.value && isFieldShown)
    return <QuickCategory row={row} tabIndex={tabIndex} />;
  return categoryName(row) || (isPhone.value ? 'No category' : '');
}

function drawDeleteButton(tabIndex: number) {
  return (
    <button
      type="button"
      class="button quiet"
      aria-label="Delete"
      title="Delete"
      tabIndex={tabIndex}
    />
  );
}

/** Shows the form in the row, and keeps the row's text, visually hidden, so that it can still be found. */
function OpenRow({ row }: { readonly row: Row }) {
  return (
    <tr class="open">
      <td colSpan={COLUMNS}>
        <span class="unseen">
          {row.description} {format.signed(toSignedAmount(row))}
        </span>
        <EditRow
          key={outbox.keyOf(row.id)}
          row={row}
          field={editing.value?.field ?? 'description'}
          onClose={() => {
            // A save that took a while may end after another row was opened.
            if (editing.peek()?.key !== outbox.keyOf(row.id)) return;
            editing.value = undefined;
            requestAnimationFrame(() => findEntry(row.id)?.focus());
          }}
        />
      </td>
    </tr>
  );
}

function findEntry(id: number): HTMLElement | null {
  return document.querySelector(`.entry[data-id="${id}"]`);
}

function toSignedAmount({ type, amount }: Row): number {
  return type === 'income' ? amount : -amount;
}
