// The form that adds a transaction. Enter saves it and empties the form for the next transaction. The draft survives a reload.
// On a phone the form opens in a sheet, which leaves the first screen to the list.
import { type Signal, signal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { Button } from './components.tsx';
import { keepDraft, nameInLedger, readDraft } from './kept-drafts.ts';
import { useReturnFocus } from './kept-focus.ts';
import { announcement, canWrite, me, refusedCreate } from './ledger.ts';
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
import { addTransaction, isEmpty, keepUnadded, takeUnadded } from './unadded.ts';

/** Name of this form's draft. Each ledger has its own draft. */
const nameDraft = () => nameInLedger('add', me.peek()?.ledger);

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
  const emptyDraft = {
    date,
    description: '',
    amount: '',
    type: 'expense',
    category: '',
    notes: '',
  };
  const draft = { ...emptyDraft, ...readDraft<Draft>(nameDraft()) } as Draft;
  const unaddedDraft = isEmpty(draft) ? takeUnadded() : undefined;
  if (unaddedDraft) keepDraft(nameDraft(), unaddedDraft);
  return unaddedDraft ?? draft;
}

/** The refused create whose transaction is already kept. */
let keptRefusal: typeof refusedCreate.value;

/** If the service refuses a create while no form is shown, keeps the transaction, so that a reload does not lose it. */
function keepRefusedDraft(): void {
  const refusal = refusedCreate.value;
  if (refusal && isPhone.value && !isSheetShown.value) keepRefusal(refusal);
}

function keepRefusal(refusal: NonNullable<typeof keptRefusal>): void {
  if (refusal !== keptRefusal) keepUnadded(draftOf(refusal.row));
  keptRefusal = refusal;
}

function isSameDraft(first: Draft, second: Draft): boolean {
  return (Object.keys(first) as (keyof Draft)[]).every((name) => first[name] === second[name]);
}

function AddForm({ isInSheet = false }: { readonly isInSheet?: boolean }) {
  const form = useRef<HTMLFormElement>(null);
  const returnFocus = useReturnFocus(form);
  const draftName = useMemo(nameDraft, []);
  const openDraft = useDraft(readAddDraft, (draft) => keepDraft(draftName, draft));
  const proposal = useProposal(openDraft.draft);
  const placeholder = useComputed(() => proposal.value || 'None');
  const confirmation = useSignal('');
  useRefusedCreate(openDraft);
  useErrorReset(form, openDraft);

  const save = async (event: Event) => {
    event.preventDefault();
    const typedDraft = openDraft.draft.peek();
    const completeDraft = { ...typedDraft, category: typedDraft.category || proposal.peek() };
    const errors = findErrors(completeDraft);
    openDraft.errors.value = errors;
    if (Object.keys(errors).length > 0) return focusError(form.current);
    // The person can type the next transaction while the category is looked up.
    openDraft.edit({ description: '', amount: '', category: '', type: 'expense' });
    focusDescription(document);
    if (await addTransaction(completeDraft)) confirmation.value = announcement.peek();
    const unaddedDraft = isEmpty(openDraft.draft.peek()) ? takeUnadded() : undefined;
    if (unaddedDraft) openDraft.edit(unaddedDraft);
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
      <TransactionFields openDraft={openDraft} hasAutofocus={isInSheet} placeholder={placeholder} />
      <Button type="submit" kind="primary" class="add">
        Add
      </Button>
      {isInSheet && <LastAdded text={confirmation} />}
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

/** Puts a refused create back into the form. If the person is already typing another transaction, keeps the refused one for later. */
function useRefusedCreate({ draft, errors, edit }: OpenDraft): void {
  useSignalEffect(() => {
    const refusal = refusedCreate.value;
    if (!refusal) return;
    refusedCreate.value = undefined;
    const refusedDraft = draftOf(refusal.row);
    if (!isEmpty(draft.peek()) && !isSameDraft(draft.peek(), refusedDraft))
      return keepRefusal(refusal);
    edit(refusedDraft);
    errors.value = readErrors(refusal.error);
  });
}

/**
 * Clears the errors of an empty form when the person acts elsewhere, but only after the click: if the page moved earlier, the
 * click would miss its target.
 */
function useErrorReset(
  form: { readonly current: HTMLElement | null },
  { draft, errors }: OpenDraft,
): void {
  useSignalEffect(() => {
    if (Object.keys(errors.value).length === 0 || !isEmpty(draft.peek())) return;
    const clearErrors = ({ target }: Event) => {
      if (target instanceof Node && !form.current?.contains(target)) errors.value = {};
    };
    const types = ['click', 'keyup'];
    for (const type of types) addEventListener(type, clearErrors);
    return () => {
      for (const type of types) removeEventListener(type, clearErrors);
    };
  });
}
