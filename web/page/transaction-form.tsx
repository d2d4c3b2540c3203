// The fields of a transaction as a person types them, shared by the form that adds a transaction and the form that edits one.
// Each field is bound to a signal, so that a key press redraws only that field.
import { computed, type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ApiError } from './api-error.ts';
import { CategoryBox } from './category-box.tsx';
import { categoryName } from './category-list.ts';
import { Field } from './components.tsx';
import { format, readAmount } from './format.ts';
import type { Row } from './rows.ts';
import type { Type } from './scope.ts';

export interface Draft {
  readonly date: string;
  readonly description: string;
  readonly amount: string;
  readonly type: Type;
  readonly category: string;
  readonly notes: string;
}

export type Errors = Readonly<Partial<Record<keyof Draft, string>>>;

/** Maps a field of the API to the field of this form that shows its errors. */
const FIELD_NAMES: Readonly<Record<string, keyof Draft>> = {
  transaction_date: 'date',
  description: 'description',
  amount: 'amount',
  type: 'type',
  category_id: 'category',
  notes: 'notes',
};

export function draftOf(row: Row): Draft {
  return {
    date: row.transaction_date,
    description: row.description,
    amount: format.amountField(row.amount),
    type: row.type,
    category: categoryName(row),
    notes: row.notes ?? '',
  };
}

export function readErrors({ details }: ApiError): Errors {
  return Object.fromEntries(
    Object.entries(details).map(([name, sentences]) => [
      FIELD_NAMES[name] ?? 'description',
      sentences.join(' '),
    ]),
  );
}

/** Finds the errors that prevent sending a draft; the API checks all other rules. */
export function findErrors({ date, description, amount }: Draft): Errors {
  return {
    ...(date === '' && { date: 'Choose a date.' }),
    ...(description.trim() === '' && { description: 'Say what it was.' }),
    ...(readAmount(amount) === undefined && { amount: 'Type an amount, such as 12.50.' }),
  };
}

export interface OpenDraft {
  readonly draft: Signal<Draft>;
  readonly errors: Signal<Errors>;
  readonly edit: (changes: Partial<Draft>) => void;
}

const NO_ERRORS: Errors = {};

/** @param start creates the initial draft @param keep called with the draft after each edit */
export function useDraft(start: () => Draft, keep: (draft: Draft) => void): OpenDraft {
  const initial = useMemo(start, []);
  const draft = useSignal(initial);
  const errors = useSignal(NO_ERRORS);
  const edit = (changes: Partial<Draft>) => {
    draft.value = { ...draft.peek(), ...changes };
    errors.value = NO_ERRORS;
    keep(draft.peek());
  };
  return { draft, errors, edit };
}

interface FieldsProps {
  readonly openDraft: OpenDraft;
  readonly hasNotes?: boolean;
  /** True if the description gets the focus when the dialog opens. */
  readonly hasAutofocus?: boolean;
  readonly placeholder?: ReadonlySignal<string>;
}

export function TransactionFields(props: FieldsProps) {
  const { openDraft, hasNotes = false, hasAutofocus = false, placeholder } = props;
  const { draft, edit } = openDraft;
  const errors = openDraft.errors.value;
  const values = useMemo(() => deriveFields(draft), [draft]);
  const bindText = (name: 'description' | 'amount' | 'date' | 'notes') => ({
    // While a part of the date is missing, Chrome reports an empty value. A bound signal would write that value back and clear
    // the parts already typed. A rendered value clears nothing, because it is first compared with the field.
    value: name === 'date' ? values.date.value : values[name],
    autocomplete: 'off' as const,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
      edit({ [name]: currentTarget.value }),
  });
  const focusAttributes = hasAutofocus ? { autofocus: true } : {};
  return (
    <>
      <Field label="Date" error={errors.date} class="of-date">
        {(id) => (
          <input type="date" min="0001-01-01" max="9999-12-31" {...id} {...bindText('date')} />
        )}
      </Field>
      <Field label="Description" error={errors.description} class="of-description">
        {(id) => (
          <input
            {...TEXT}
            maxLength={1000}
            {...focusAttributes}
            {...id}
            {...bindText('description')}
          />
        )}
      </Field>
      <Field label="Amount" error={errors.amount} class="of-amount">
        {(id) => <input type="text" inputMode="decimal" {...id} {...bindText('amount')} />}
      </Field>
      <TypeField error={errors.type} value={values.type} edit={edit} />
      <CategoryField {...{ error: errors.category, value: values.category, edit, placeholder }} />
      {hasNotes && (
        <Field label="Notes" error={errors.notes} class="of-notes">
          {(id) => <input {...TEXT} maxLength={5000} {...id} {...bindText('notes')} />}
        </Field>
      )}
    </>
  );
}

const TEXT = { type: 'text', dir: 'auto' } as const;

interface FieldProps<Value> {
  readonly error: string | undefined;
  readonly value: ReadonlySignal<Value>;
  readonly edit: OpenDraft['edit'];
  readonly placeholder?: ReadonlySignal<string> | undefined;
}

function TypeField({ error, value, edit }: FieldProps<Type>) {
  return (
    <Field label="Type" error={error} class="of-type">
      {(id) => (
        <select
          {...id}
          value={value}
          onChange={({ currentTarget }) => edit({ type: currentTarget.value as Type })}
        >
          <option value="expense">Expense</option>
          <option value="income">Income</option>
        </select>
      )}
    </Field>
  );
}

function CategoryField({ error, value, edit, placeholder }: FieldProps<string>) {
  return (
    <Field label="Category" error={error} class="of-category">
      {(id) => (
        <CategoryBox
          label="Category"
          isLabelled
          {...(placeholder && { placeholder })}
          text={value}
          onText={(category) => edit({ category })}
          {...id}
        />
      )}
    </Field>
  );
}

/** Derives a signal for each field, so that it changes only with that field. */
function deriveFields(draft: Signal<Draft>) {
  return {
    date: computed(() => draft.value.date),
    description: computed(() => draft.value.description),
    amount: computed(() => draft.value.amount),
    type: computed(() => draft.value.type),
    category: computed(() => draft.value.category),
    notes: computed(() => draft.value.notes),
  };
}

/** Focuses the first field with an error, once the error is drawn. */
export function focusError(form: HTMLElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
}
