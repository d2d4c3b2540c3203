// The form in which a transaction is added: Enter saves it, and the next one can be typed. The draft survives a reload. A phone
// has the form in a sheet, so that its first screen has transactions.
import { type Signal, signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { ApiError } from './api-error.ts';
import { resolveCategory } from './category-box.tsx';
import { Button } from './components.tsx';
import { format, readAmount } from './format.ts';
import { keepDraft, readDraft } from './kept-drafts.ts';
import { announcement, canWrite, notice, outbox, refusedCreate } from './ledger.ts';
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

const KEPT = 'draft';

const isSheetShown = signal(false);

export function AddRow() {
  useSignalEffect(keepRefused);
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

function readKept(): Draft {
  const date = localDay(new Date());
  const empty = { date, description: '', amount: '', type: 'expense', category: '', notes: '' };
  return { ...empty, ...readDraft<Draft>(KEPT) } as Draft;
}

/** A create that the service refused while no form is shown is the draft of the next one, also after a reload. */
function keepRefused(): void {
  const refused = refusedCreate.value;
  if (!refused || !isPhone.value || isSheetShown.value || !isEmpty(readKept())) return;
  keepDraft(KEPT, draftOf(refused.row));
}

function isEmpty({ description, amount }: Draft): boolean {
  return description === '' && amount === '';
}

function isSameDraft(one: Draft, other: Draft): boolean {
  return (Object.keys(one) as (keyof Draft)[]).every((name) => one[name] === other[name]);
}

function AddForm({ isInSheet = false }: { readonly isInSheet?: boolean }) {
  const form = useRef<HTMLFormElement>(null);
  const open = useDraft(readKept, (draft) => keepDraft(KEPT, draft));
  const proposed = useProposal(open.draft);
  const placeholder = useComputed(() => proposed.value || 'None');
  const added = useSignal('');
  useRefusedCreate(open);
  useForgottenErrors(form, open);

  const save = async (event: Event) => {
    event.preventDefault();
    const typed = open.draft.peek();
    const complete = { ...typed, category: typed.category || proposed.peek() };
    const found = findErrors(complete);
    open.errors.value = found;
    if (Object.keys(found).length > 0) return focusError(form.current);
    // The next one can be typed while the category is looked up.
    open.edit({ description: '', amount: '', category: '' });
    focusDescription(document);
    if (await addTransaction(complete)) added.value = announcement.peek();
    else if (isEmpty(open.draft.peek())) open.edit(complete);
  };
  return (
    <form ref={form} class="add-row" aria-label="Add transaction" onSubmit={save} noValidate>
      <TransactionFields open={open} isFirst={isInSheet} placeholder={placeholder} />
      <Button type="submit" kind="primary" class="add">
        Add
      </Button>
      {isInSheet && <LastAdded text={added} />}
    </form>
  );
}

/** The sheet covers the list, where the transaction would be seen. */
function LastAdded({ text }: { readonly text: Signal<string> }) {
  return (
    <p class="hint" dir="auto">
      {text}
    </p>
  );
}

/** A refused create is typed again, unless the next one is being typed. */
function useRefusedCreate({ draft, errors, edit }: OpenDraft): void {
  useSignalEffect(() => {
    const refused = refusedCreate.value;
    if (!refused) return;
    refusedCreate.value = undefined;
    const again = draftOf(refused.row);
    if (!isEmpty(draft.peek()) && !isSameDraft(draft.peek(), again)) return;
    edit(again);
    errors.value = readErrors(refused.error);
  });
}

/**
 * The errors of an empty form go when the person does something elsewhere: after the click, because what moves under the pointer
 * is missed.
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

/** @returns whether it is on its way */
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
