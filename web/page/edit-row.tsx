// The form that edits a row of the list in place. Its draft survives a reload.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ApiError } from './api-error.ts';
import { resolveCategory } from './category-choice.ts';
import { Button } from './components.tsx';
import { readAmount } from './format.ts';
import { dropDraft, keepDraft, nameInLedger, readDrafts } from './kept-drafts.ts';
import { announcement, notice, outbox } from './ledger.ts';
import { changedFields, type Row } from './rows.ts';
import { useSubmit } from './submit.ts';
import {
  type Draft,
  draftOf,
  findErrors,
  focusError,
  TransactionFields,
  useDraft,
} from './transaction-form.tsx';

/** The name of a draft is this prefix and a UUID. The rows of another ledger may have the same ids. */
const createPrefix = () => nameInLedger('edit', outbox.ledger.peek());

interface KeptEdit {
  readonly draft: Draft;
  /** The row as it was when the form was opened. */
  readonly before: Row;
  readonly keptAt: number;
}

/** Returns the row whose edit was interrupted by a reload; if there are several, the one that was edited last. */
export function readInterruptedEdit(): { readonly id: number } | undefined {
  const edits = [...readDrafts<KeptEdit>(createPrefix()).values()];
  return edits.toSorted((a, b) => b.keptAt - a.keptAt)[0]?.before;
}

interface EditRowProps {
  readonly row: Row;
  /** Name of the field that gets the focus first. */
  readonly field: string;
  readonly onClose: () => void;
}

export function EditRow({ row, field, onClose }: EditRowProps) {
  const form = useRef<HTMLFormElement>(null);
  const { openDraft, before, drop } = useEdit(row);
  useFirstField(form, field);
  const isClosed = useRef(false);
  const close = () => {
    isClosed.current = true;
    drop();
    onClose();
  };
  const save = useSubmit(async () => {
    const draft = openDraft.draft.peek();
    const errors = findErrors(draft);
    openDraft.errors.value = errors;
    if (Object.keys(errors).length > 0) return focusError(form.current);
    const isSaved = await saveEdit(before, row, draft, () => !isClosed.current);
    // Text typed meanwhile is not saved.
    if (isSaved && openDraft.draft.peek() === draft) close();
  });
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
      <TransactionFields openDraft={openDraft} hasNotes />
      <div class="buttons">
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary">
          Save
        </Button>
      </div>
    </form>
  );
}

/**
 * Focuses the field in the same frame that draws the form, so that a key pressed right after the click is typed into the field.
 * The form is taller than the row that it replaces, so the page scrolls until its buttons are visible.
 */
function useFirstField(form: { readonly current: HTMLElement | null }, field: string): void {
  useLayoutEffect(() => {
    const input = form.current?.querySelector<HTMLInputElement>(`.of-${field} :is(input, select)`);
    form.current?.scrollIntoView({ block: 'nearest' });
    input?.focus();
    if (field !== 'date') input?.select?.();
  }, []);
}

/** Keeps the draft of a row, and the row as it was when the form was opened. Both survive a reload. */
function useEdit(row: Row) {
  const { name, draft, before } = useMemo(() => findDraft(row), []);
  const openDraft = useDraft(
    () => draft,
    (newDraft) =>
      keepDraft(name, { draft: newDraft, before: outbox.latestOf(before), keptAt: Date.now() }),
  );
  return { openDraft, before, drop: () => dropDraft(name) };
}

/**
 * Copies the id and version that a write gives to a row into the kept draft of the row, even while no form is shown: after a
 * reload the page no longer knows them.
 */
export function watchDrafts(): void {
  outbox.writes.subscribe(() => {
    for (const [name, keptEdit] of readDrafts<KeptEdit>(createPrefix())) {
      const before = outbox.latestOf(keptEdit.before);
      if (before !== keptEdit.before) keepDraft(name, { ...keptEdit, before });
    }
  });
}

/** Finds the kept draft of a row by its key, because a row that was being created may have received its final id since. */
function findDraft(row: Row) {
  const key = outbox.keyOf(row.id);
  for (const [name, { draft, before }] of readDrafts<KeptEdit>(createPrefix()))
    if (outbox.keyOf(before.id) === key) return { name, draft, before };
  return { name: createPrefix() + crypto.randomUUID(), draft: draftOf(row), before: row };
}

/**
 * @param openedRow the row as it was when the form was opened: a later write of another tab is a conflict
 * @param shownRow the row as the list has it now
 * @param isWanted returns false if the person has cancelled while a new category was being created
 * @returns false if nothing was saved: the person cancelled, or the new category could not be created
 */
async function saveEdit(
  openedRow: Row,
  shownRow: Row,
  draft: Draft,
  isWanted: () => boolean,
): Promise<boolean> {
  // If the list shows a version that this page wrote itself, that write is not a conflict.
  const row = outbox.latestOf(openedRow).etag === shownRow.etag ? shownRow : openedRow;
  try {
    const category =
      draft.category === draftOf(openedRow).category
        ? { id: openedRow.category_id, name: draft.category }
        : await resolveCategory(draft.category);
    if (!isWanted()) return false;
    const editedRow = {
      ...openedRow,
      description: draft.description.trim(),
      amount: readAmount(draft.amount) ?? openedRow.amount,
      type: draft.type,
      category_id: category?.id ?? null,
      transaction_date: draft.date,
      notes: draft.notes.trim() || null,
    };
    const changes = changedFields(openedRow, editedRow);
    const categoryName = 'category_id' in changes && { category_name: category?.name ?? '' };
    const after = { ...row, ...changes, ...categoryName };
    if (Object.keys(changes).length > 0) outbox.update([{ before: row, after }]);
    announcement.value = `Saved ${after.description}`;
    return true;
  } catch (error) {
    const { message } = error as ApiError;
    notice.value = { text: `The category “${draft.category}” was not created. ${message}` };
    return false;
  }
}
