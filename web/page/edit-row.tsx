// A row of the list while it is edited in place, and the question which of two versions to keep when it was changed elsewhere.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ApiError } from './api-error.ts';
import { resolveCategory } from './category-box.tsx';
import { Button } from './components.tsx';
import { format, readAmount } from './format.ts';
import { dropDraft, keepDraft, readDraft } from './kept-drafts.ts';
import { announcement, categoriesById, notice, outbox, refresh } from './ledger.ts';
import type { Conflict } from './outbox.ts';
import { changedFields, type Row } from './rows.ts';
import {
  type Draft,
  draftOf,
  findErrors,
  focusError,
  TransactionFields,
  useDraft,
} from './transaction-form.tsx';

const KEPT = 'edit';

/** The row whose edit a reload has interrupted. */
export function readInterruptedEdit(): { readonly id: number; readonly draft: Draft } | undefined {
  return readDraft(KEPT);
}

interface EditRowProps {
  readonly row: Row;
  /** The field to begin with. */
  readonly field: string;
  readonly onClose: () => void;
}

export function EditRow({ row, field, onClose }: EditRowProps) {
  const form = useRef<HTMLFormElement>(null);
  const open = useDraft(
    () => {
      const interrupted = readInterruptedEdit();
      return interrupted?.id === row.id ? interrupted.draft : draftOf(row);
    },
    (draft) => keepDraft(KEPT, { id: row.id, draft }),
  );
  // In the frame that draws the form: a key pressed right after it is text of the field.
  useLayoutEffect(() => {
    const input = form.current?.querySelector<HTMLInputElement>(`.of-${field} :is(input, select)`);
    input?.focus();
    if (field !== 'date') input?.select?.();
  }, []);
  const close = () => {
    dropDraft(KEPT);
    onClose();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    const draft = open.draft.peek();
    const found = findErrors(draft);
    open.errors.value = found;
    if (Object.keys(found).length > 0) return focusError(form.current);
    if (await saveEdit(row, draft)) close();
  };
  return (
    <form
      ref={form}
      class="edit-row"
      aria-label={`Edit ${row.description}`}
      noValidate
      onSubmit={save}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
        event.stopPropagation();
      }}
    >
      <TransactionFields open={open} hasNotes />
      <div class="buttons">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary">
          Save
        </Button>
      </div>
    </form>
  );
}

/** @returns whether it is on its way */
async function saveEdit(row: Row, draft: Draft): Promise<boolean> {
  try {
    const category =
      draft.category === draftOf(row).category
        ? { id: row.category_id, name: draft.category }
        : await resolveCategory(draft.category);
    const after = {
      ...row,
      description: draft.description.trim(),
      amount: readAmount(draft.amount) ?? row.amount,
      type: draft.type,
      category_id: category?.id ?? null,
      category_name: category?.name ?? '',
      transaction_date: draft.date,
      notes: draft.notes.trim() || null,
    };
    if (Object.keys(changedFields(row, after)).length > 0) outbox.update([{ before: row, after }]);
    announcement.value = `Saved ${after.description}`;
    return true;
  } catch (error) {
    const { message } = error as ApiError;
    notice.value = { text: `The category “${draft.category}” was not created. ${message}` };
    return false;
  }
}

/** Both versions side by side. */
export function ConflictRow({
  conflict,
  columns,
}: {
  readonly conflict: Conflict;
  readonly columns: number;
}) {
  const { mine, theirs } = conflict;
  const names = theirs ? (Object.keys(changedFields(theirs, mine)) as (keyof typeof LABELS)[]) : [];
  const resolve = () => {
    outbox.resolveConflict(mine.id);
    refresh();
  };
  const keepMine = () => {
    if (theirs) outbox.update([{ before: theirs, after: { ...mine, etag: theirs.etag } }]);
    else outbox.create(mine);
    resolve();
  };
  return (
    <tr class="conflict">
      <td colSpan={columns}>
        <section aria-label={`Conflict: ${mine.description}`}>
          <p role="alert">
            {theirs
              ? `“${mine.description}” was changed elsewhere while you edited it. Which version stays?`
              : `“${mine.description}” was deleted elsewhere while you edited it.`}
          </p>
          {theirs && (
            <table class="versions">
              <thead>
                <tr>
                  <td />
                  <th scope="col">Mine</th>
                  <th scope="col">Theirs</th>
                </tr>
              </thead>
              <tbody>
                {names.map((name) => (
                  <tr key={name}>
                    <th scope="row">{LABELS[name]}</th>
                    <td dir="auto">{describe(mine, name)}</td>
                    <td dir="auto">{describe(theirs, name)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          <div class="buttons">
            <Button onClick={resolve}>{theirs ? 'Keep theirs' : 'Leave it deleted'}</Button>
            <Button kind="primary" onClick={keepMine}>
              {theirs ? 'Keep mine' : 'Add it again'}
            </Button>
          </div>
        </section>
      </td>
    </tr>
  );
}

const LABELS = {
  transaction_date: 'Date',
  description: 'Description',
  amount: 'Amount',
  type: 'Type',
  category_id: 'Category',
  notes: 'Notes',
} as const;

function describe(row: Row, name: keyof typeof LABELS): string {
  if (name === 'amount') return format.money(row.amount);
  if (name === 'transaction_date') return format.date(row.transaction_date);
  if (name === 'category_id')
    return categoriesById.value.get(row.category_id ?? 0)?.name ?? 'No category';
  return row[name] ?? '';
}
