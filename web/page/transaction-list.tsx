// The rows of the scope, grouped by day: opened by click or Enter, walked through with the arrow keys.
import { signal, useComputed } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ScopeLink, Skeleton } from './components.tsx';
import { ConflictRow, EditRow, readInterruptedEdit } from './edit-row.tsx';
import { addUp, addUpRows, pagesAround } from './figures.ts';
import { format } from './format.ts';
import { QuickCategory } from './inbox.tsx';
import { useFocusInList } from './kept-focus.ts';
import {
  canWrite,
  categoriesById,
  categoryName,
  outbox,
  removeRows,
  rows,
  scope,
  unsaved,
  view,
} from './ledger.ts';
import type { Row } from './rows.ts';
import { categoryColor } from './scheme.ts';
import { isPhone } from './screen.ts';
import { isAllSelected, selected, toggleAll, toggleRow } from './selection.ts';

const COLUMNS = 5;

/** The key of the row that the tab key stops at, with all that is in it. */
const current = signal<number | undefined>(undefined);

/** The key of the row that is edited, and the field to begin with. */
export const editing = signal<{ readonly key: number; readonly field: string } | undefined>(
  undefined,
);

export function TransactionList() {
  const table = useRef<HTMLTableElement>(null);
  const isWritable = canWrite.value;
  const days = Map.groupBy(rows.value, ({ transaction_date: date }) => date);
  const hidden = [...outbox.conflicts.value.values()].filter(
    ({ mine }) => !rows.value.some(({ id }) => id === mine.id),
  );
  // The field for a category leaves when the row has one.
  useFocusInList(table, '.entry', (entry, lost) =>
    lost.role === 'combobox' ? entry.querySelector('[role=combobox]') : entry,
  );
  useEffect(() => {
    const stored = readInterruptedEdit();
    if (stored && isWritable)
      editing.value ??= { key: outbox.keyOf(stored.id), field: 'description' };
  }, [isWritable]);
  return (
    <table
      ref={table}
      class="transactions"
      aria-label="Transactions"
      onKeyDown={(event) => moveInList(event, table.current)}
    >
      <thead>
        <tr>
          <th class="pick">
            {!isWritable && <span class="unseen">Selected</span>}
            {isWritable && (
              <label class="box">
                <input
                  type="checkbox"
                  aria-label="Select all"
                  checked={isAllSelected.value}
                  onChange={toggleAll}
                />
              </label>
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
      {hidden.length > 0 && (
        <tbody>
          {hidden.map((conflict) => (
            <ConflictRow key={conflict.mine.id} conflict={conflict} columns={COLUMNS} />
          ))}
        </tbody>
      )}
      {[...days].map(([day, some], n) => (
        <Day key={day} day={day} rows={some} isFirst={n === 0} />
      ))}
    </table>
  );
}

function listEntries(table: HTMLElement | null): readonly HTMLElement[] {
  return [...(table?.querySelectorAll<HTMLElement>('.entry') ?? [])];
}

interface DayProps {
  readonly day: string;
  readonly rows: readonly Row[];
  readonly isFirst: boolean;
}

function Day({ day, rows: some, isFirst }: DayProps) {
  return (
    <tbody>
      <tr class="day">
        <th colSpan={3} scope="rowgroup">
          <time dateTime={day}>{format.day(day)}</time>
        </th>
        <td class="in-amount">{format.signed(addUp(addUpRows(some, 'day')).net)}</td>
        <td />
      </tr>
      {some.map((row, n) => (
        <Transaction key={outbox.keyOf(row.id)} row={row} isFirst={isFirst && n === 0} />
      ))}
    </tbody>
  );
}

function Transaction({ row, isFirst }: { readonly row: Row; readonly isFirst: boolean }) {
  const key = outbox.keyOf(row.id);
  const state = useComputed(() => readState(key)).value;
  const conflict = outbox.conflicts.value.get(row.id);
  if (conflict) return <ConflictRow conflict={conflict} columns={COLUMNS} />;
  const isWritable = canWrite.value;
  if (state & OPEN && isWritable) return <OpenRow row={row} />;
  const tabIndex = state & STOP || (isFirst && state & ANY_STOP) ? 0 : -1;
  const [isPicked, isUnsaved] = [(state & PICKED) > 0, (state & UNSAVED) > 0];
  return (
    <tr
      class={`entry ${isPicked ? 'selected' : ''} ${isUnsaved ? 'unsaved' : ''}`}
      tabIndex={tabIndex}
      data-id={row.id}
      onFocusCapture={() => {
        current.value = key;
      }}
      onClick={({ target }) => target instanceof Element && openAt(target, row)}
      onKeyDown={(event) => onEntryKey(event, row)}
    >
      <td class="pick">{isWritable && drawPick(row, isPicked, tabIndex)}</td>
      <td class="in-description">
        {drawText(row, isUnsaved)}
        {isPhone.value && drawCategory(row, tabIndex)}
      </td>
      <td class="in-category">{!isPhone.value && drawCategory(row, tabIndex)}</td>
      <td class={`in-amount ${row.type}`}>{format.signed(signedAmount(row))}</td>
      <td class="act">{isWritable && drawDelete(row, tabIndex)}</td>
    </tr>
  );
}

const OPEN = 1;
const PICKED = 2;
const UNSAVED = 4;
const STOP = 8;
/** No row is current: the tab key stops at the first. */
const ANY_STOP = 16;

/** The state of a row as one number, so that a row is drawn again only if its own state has changed. */
function readState(key: number): number {
  const stop = current.value;
  return (
    (editing.value?.key === key ? OPEN : 0) |
    (selected.value.has(key) ? PICKED : 0) |
    (unsaved.value.has(key) ? UNSAVED : 0) |
    (stop === key ? STOP : stop === undefined ? ANY_STOP : 0)
  );
}

function open(row: Row, field: string): void {
  if (canWrite.value) editing.value = { key: outbox.keyOf(row.id), field };
}

/** A click opens the row in the field that was clicked. */
function openAt(target: Element, row: Row): void {
  if (target.closest('button, label, input, ul')) return;
  if (target.closest('.in-amount')) open(row, 'amount');
  else open(row, target.closest('.in-category, .note-category') ? 'category' : 'description');
}

function onEntryKey(event: TargetedKeyboardEvent<HTMLElement>, row: Row): void {
  if (event.target !== event.currentTarget || !canWrite.value) return;
  if (event.key === 'Enter') open(row, 'description');
  else if (event.key === ' ' || event.key.toLowerCase() === 'x') toggleRow(row, event.shiftKey);
  else if (event.key === 'Delete' || event.key === 'Backspace') removeRows([row]);
  else return;
  event.preventDefault();
}

// The parts of a row are drawn by functions, not by components: a list has hundreds of each.

function drawPick(row: Row, isPicked: boolean, tabIndex: number) {
  return (
    <label class="box">
      <input
        type="checkbox"
        aria-label="Select"
        checked={isPicked}
        tabIndex={tabIndex}
        onClick={({ shiftKey }) => toggleRow(row, shiftKey)}
      />
    </label>
  );
}

function drawText(row: Row, isUnsaved: boolean) {
  const known = categoriesById.value.get(row.category_id ?? 0);
  return (
    <>
      <span class="line">
        <span
          class={known ? 'dot' : 'dot none'}
          style={known ? { background: categoryColor(known) } : {}}
          aria-hidden="true"
        />
        <span class="text" dir="auto">
          {row.description}
        </span>
        {isUnsaved && <span class="mark">saving</span>}
      </span>
      {row.notes && (
        <small class="text" dir="auto">
          {row.notes}
        </small>
      )}
    </>
  );
}

/** On a phone it stands below the description, and has a field only in the inbox, where a person comes to fill it. */
function drawCategory(row: Row, tabIndex: number) {
  const isFieldShown = !isPhone.value || view.value?.scope.category === 'none';
  if (row.category_id === null && canWrite.value && isFieldShown)
    return <QuickCategory row={row} tabIndex={tabIndex} />;
  if (isPhone.value)
    return <small class="note-category">{categoryName(row) || 'No category'}</small>;
  return (
    <span class="text" dir="auto">
      {categoryName(row)}
    </span>
  );
}

function drawDelete(row: Row, tabIndex: number) {
  return (
    <button
      type="button"
      class="button quiet"
      aria-label="Delete"
      title="Delete"
      tabIndex={tabIndex}
      onClick={() => removeRows([row])}
    >
      <span aria-hidden="true">×</span>
    </button>
  );
}

/** The row keeps its text, so that it can still be found, and has the form over it. */
function OpenRow({ row }: { readonly row: Row }) {
  return (
    <tr class="open">
      <td colSpan={COLUMNS}>
        <span class="unseen">
          {row.description} {format.signed(signedAmount(row))}
        </span>
        <EditRow
          key={outbox.keyOf(row.id)}
          row={row}
          field={editing.value?.field ?? 'description'}
          onClose={() => {
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

function signedAmount({ type, amount }: Row): number {
  return type === 'income' ? amount : -amount;
}

function moveInList(event: KeyboardEvent, table: HTMLTableElement | null): void {
  const entries = listEntries(table);
  const at = entries.indexOf(event.target as HTMLElement);
  if (at < 0) return;
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
  const target = to === undefined ? undefined : entries[to];
  if (!target) return;
  event.preventDefault();
  target.focus();
}

export function Pages() {
  const shown = view.value;
  if (!shown || shown.pages <= 1) return null;
  const { page, pages } = shown;
  const step = (to: number, text: string, label: string) =>
    to < 1 || to > pages ? (
      <span key={label} aria-hidden="true">
        {text}
      </span>
    ) : (
      <ScopeLink key={label} to={{ page: to }} aria-label={label}>
        {text}
      </ScopeLink>
    );
  return (
    <nav class="pages" aria-label="Pages">
      {step(Math.min(page - 1, pages), '‹', 'Previous page')}
      {pagesAround(page, pages).map((each, n) =>
        each === undefined ? (
          <span key={`gap ${n}`} aria-hidden="true">
            …
          </span>
        ) : (
          <ScopeLink
            key={each}
            to={{ page: each }}
            aria-label={`Page ${format.count(each)}`}
            aria-current={each === page ? 'page' : undefined}
          >
            {format.count(each)}
          </ScopeLink>
        ),
      )}
      {step(page + 1, '›', 'Next page')}
    </nav>
  );
}

/** Says why there are no rows, and what can be done. */
export function EmptyList() {
  const shown = view.value;
  if (!shown) return <Skeleton lines={12} />;
  if (rows.value.length > 0) return null;
  if (shown.total > 0 && shown.page > shown.pages)
    return <p class="nothing">There is no such page.</p>;
  const { q, category, type, period } = scope.value;
  const isFiltered = q !== '' || category !== undefined || type !== undefined;
  if (isFiltered) return <p class="nothing">No transactions match.</p>;
  return (
    <div class="nothing">
      <p>
        {period === 'all' ? 'This ledger is empty.' : `No transactions in ${format.scope(period)}.`}
      </p>
      {canWrite.value && (
        <p>Add the first above, or drop a file from your bank anywhere on this page.</p>
      )}
      {period !== 'all' && (
        <p>
          <ScopeLink to={{ period: 'all' }}>Show all dates</ScopeLink>
        </p>
      )}
    </div>
  );
}
