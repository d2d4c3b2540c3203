// The form that adds a transaction. Enter saves it and empties the form for the next transaction. The draft survives a reload.
// On a phone the form opens in a sheet, which leaves the first screen to the list.
import { type Signal, signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import type { ApiError } from './api-error.ts';
import { resolveCategory } from './category-choice.ts';
import { Button } from './components.tsx';
import { format, readAmount } from './format.ts';
import { keepDraft, nameOfLedger, readDraft } from './kept-drafts.ts';
import { useFocusBefore } from './kept-focus.ts';
import { announcement, canWrite, me, notice, outbox, refusedCreate } from './ledger.ts';
import { useProposal } from './proposal.ts';
import { localDay } from './scope.ts';
import { isPhone } from './screen.ts';
import { Sheet } from './sheet.tsx';
import {
  type Draft,
  draftOf,
  findErrors,
  focusError,
  type OpenDraft,
  readErrors,
  TransactionFields,
  useDraft,
} from './transaction-form.tsx';

/** The name of the draft, of which each ledger has its own. */
const nameDraft = () => nameOfLedger('add', me.peek()?.ledger);

const isSheetShown = signal(false);

export function AddRow() {
  useSignalEffect(keepRefusedDraft);
  if (!canWrite.value) return null;
  if (!isPhone.value) return <AddForm />;
  return (
    <>
      <Button kind="primary" class="begin-add" onClick={beginTransaction}>
        Add a transaction
      </Button>
      {isSheetShown.value && (
        <Sheet
          title="Add a transaction"
          onClose={() => {
            isSheetShown.value = false;
          }}
        >
          <AddForm isInSheet />
        </Sheet>
      )}
    </>
  );
}

export function beginTransaction(): void {
  if (isPhone.peek()) isSheetShown.value = true;
  else focusDescription(document);
}

function focusDescription(container: ParentNode | null): void {
  container?.querySelector<HTMLElement>('.add-row .of-description input')?.focus();
}

function readAddDraft(): Draft {
  const date = localDay(new Date());
  const empty = { date, description: '', amount: '', type: 'expense', category: '', notes: '' };
  return { ...empty, ...readDraft<Draft>(nameDraft()) } as Draft;
}

/**
 * If the service refuses a create while no form is shown, keeps the refused transaction as the draft, so that a reload does not
 * lose it.
 */
function keepRefusedDraft(): void {
  const refused = refusedCreate.value;
  if (!refused || !isPhone.value || isSheetShown.value || !isEmpty(readAddDraft())) return;
  keepDraft(nameDraft(), draftOf(refused.row));
}

function isEmpty({ description, amount }: Draft): boolean {
  return description === '' && amount === '';
}

function isSameDraft(first: Draft, second: Draft): boolean {
  return (Object.keys(first) as (keyof Draft)[]).every((name) => first[name] === second[name]);
}

function AddForm({ isInSheet = false }: { readonly isInSheet?: boolean }) {
  const form = useRef<HTMLFormElement>(null);
  const returnFocus = useFocusBefore(form);
  const name = useMemo(nameDraft, []);
  const open = useDraft(readAddDraft, (draft) => keepDraft(name, draft));
  const proposed = useProposal(open.draft);
  const placeholder = useComputed(() => proposed.value || 'None');
  const added = useSignal('');
  useRefusedCreate(open);
  useForgottenErrors(form, open);

  const save = async (event: Event) => {
    event.preventDefault();
    const typed = open.draft.peek();
    const complete = { ...typed, category: typed.category || proposed.peek() };
    const errors = findErrors(complete);
    open.errors.value = errors;
    if (Object.keys(errors).length > 0) return focusError(form.current);
    // The person can type the next transaction while the category is looked up.
    open.edit({ description: '', amount: '', category: '', type: 'expense' });
    focusDescription(document);
    if (await addTransaction(complete)) added.value = announcement.peek();
    else if (isEmpty(open.draft.peek())) open.edit(complete);
  };
  return (
    <form
      ref={form}
      class="add-row"
      aria-label="Add transaction"
      noValidate
      onSubmit={save}
      onKeyDown={({ key }) => {
        // In the sheet, Escape closes the sheet. What is typed stays as a draft.
        if (key === 'Escape' && !isInSheet) returnFocus();
      }}
    >
      <TransactionFields open={open} isFirst={isInSheet} placeholder={placeholder} />
      <Button type="submit" kind="primary" class="add">
        Add
      </Button>
      {isInSheet && <LastAdded text={added} />}
    </form>
  );
}

/** Confirms an addition inside the sheet, which covers the list where the transaction would be seen. */
function LastAdded({ text }: { readonly text: Signal<string> }) {
  return (
    <p class="hint" dir="auto">
      {text}
    </p>
  );
}

/** Puts a refused create back into the form, unless the person is already typing another transaction. */
function useRefusedCreate({ draft, errors, edit }: OpenDraft): void {
  useSignalEffect(() => {
    const refused = refusedCreate.value;
    if (!refused) return;
    refusedCreate.value = undefined;
    const refusedDraft = draftOf(refused.row);
    if (!isEmpty(draft.peek()) && !isSameDraft(draft.peek(), refusedDraft)) return;
    edit(refusedDraft);
    errors.value = readErrors(refused.error);
  });
}

/**
 * Clears the errors of an empty form when the person acts elsewhere, but only after the click: if the page moved before, the
 * click would miss its target.
 */
function useForgottenErrors(
  form: { readonly current: HTMLElement | null },
  { draft, errors }: OpenDraft,
): void {
  useSignalEffect(() => {
    if (Object.keys(errors.value).length === 0 || !isEmpty(draft.peek())) return;
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !form.current?.contains(target)) errors.value = {};
    };
    const types = ['click', 'keyup'];
    for (const type of types) addEventListener(type, leave);
    return () => {
      for (const type of types) removeEventListener(type, leave);
    };
  });
}

/** Queues the transaction. @returns false if the category could not be created */
async function addTransaction(draft: Draft): Promise<boolean> {
  const amount = readAmount(draft.amount) ?? 0;
  const description = draft.description.trim();
  try {
    const category = await resolveCategory(draft.category);
    outbox.create({
      description,
      amount,
      type: draft.type,
      category_id: category?.id ?? null,
      transaction_date: draft.date,
      notes: null,
      ...(category && { category_name: category.name }),
    });
  } catch (error) {
    const { message } = error as ApiError;
    notice.value = { text: `The category “${draft.category}” was not created. ${message}` };
    return false;
  }
  announcement.value = `Added ${description}, ${format.money(amount)}`;
  return true;
}
