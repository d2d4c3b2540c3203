// The row in which a transaction is added: Enter saves it, and the next one can be typed. The draft survives a reload.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TransactionSearch } from '../../lib/ledger/http/api-types.ts';
import { ApiError } from './api-error.ts';
import { resolveCategory } from './category-box.tsx';
import { call, pathWith } from './client.ts';
import { Button } from './components.tsx';
import { format, readAmount } from './format.ts';
import {
  announcement,
  canWrite,
  categoriesById,
  notice,
  outbox,
  refusedCreate,
  rows,
} from './ledger.ts';
import { likeness, type Row } from './rows.ts';
import { localDay } from './scope.ts';
import {
  type Draft,
  draftOf,
  type Errors,
  findErrors,
  focusError,
  readErrors,
  TransactionFields,
} from './transaction-form.tsx';

const STORED = 'draft';
const PROPOSAL_DELAY_MS = 300;
const MIN_PROPOSAL_LENGTH = 3;

function emptyDraft(): Draft {
  const date = localDay(new Date());
  return { date, description: '', amount: '', type: 'expense', category: '', notes: '' };
}

function readStored(): Draft {
  try {
    return { ...emptyDraft(), ...JSON.parse(sessionStorage.getItem(STORED) ?? '{}') };
  } catch {
    return emptyDraft();
  }
}

export function AddRow() {
  const [draft, setDraft] = useState(readStored);
  const [errors, setErrors] = useState<Errors>({});
  const form = useRef<HTMLFormElement>(null);
  const proposed = useProposal(draft, form);
  const isEmpty = draft.description === '' && draft.amount === '';
  useLeaving(form, isEmpty && Object.keys(errors).length > 0, () => setErrors({}));
  const change = (changes: Partial<Draft>) => {
    const next = { ...draft, ...changes };
    setDraft(next);
    setErrors({});
    sessionStorage.setItem(STORED, JSON.stringify(next));
  };
  const refused = refusedCreate.value;
  useEffect(() => {
    if (!refused) return;
    refusedCreate.value = undefined;
    // Keeps the text that was typed meanwhile.
    if (!isEmpty) return;
    change(draftOf(refused.row));
    setErrors(readErrors(refused.error));
  }, [refused]);

  const save = async (event: Event) => {
    event.preventDefault();
    const complete = { ...draft, category: draft.category || proposed };
    const found = findErrors(complete);
    setErrors(found);
    if (Object.keys(found).length > 0) return focusError(form.current);
    // The next one can be typed while the category is looked up.
    change({ description: '', amount: '', category: '' });
    form.current?.querySelector<HTMLElement>('.of-description input')?.focus();
    if (!(await addTransaction(complete)))
      setDraft((now) => (now.description === '' ? complete : now));
  };
  if (!canWrite.value) return null;
  return (
    <form ref={form} class="add-row" aria-label="Add transaction" onSubmit={save} noValidate>
      <TransactionFields
        draft={draft}
        errors={errors}
        onChange={change}
        placeholder={proposed || 'None'}
      />
      <Button type="submit" kind="primary" class="add">
        Add
      </Button>
    </form>
  );
}

/** Calls when the person does something elsewhere: after the click, because what moves under the pointer is missed. */
function useLeaving(
  form: { readonly current: HTMLElement | null },
  isOn: boolean,
  onLeave: () => void,
): void {
  useEffect(() => {
    if (!isOn) return;
    const leave = ({ target }: Event) => {
      if (target instanceof Node && !form.current?.contains(target)) onLeave();
    };
    const types = ['click', 'keyup'];
    for (const type of types) addEventListener(type, leave);
    return () => {
      for (const type of types) removeEventListener(type, leave);
    };
  }, [isOn]);
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

/** The category of the latest transaction with this description: of the list, or of the ledger's last year. */
function useProposal(
  { description, category, type }: Draft,
  form: { readonly current: HTMLElement | null },
): string {
  const [proposal, setProposal] = useState({ likeness: '', name: '' });
  const wanted = likeness(description);
  useEffect(() => {
    if (wanted.length < MIN_PROPOSAL_LENGTH || category !== '' || proposal.likeness === wanted)
      return;
    const timer = setTimeout(async () => {
      const name =
        findCategory(rows.value, wanted, type) ?? (await askForCategory(description.trim(), type));
      if (form.current) setProposal({ likeness: wanted, name: name ?? '' });
    }, PROPOSAL_DELAY_MS);
    return () => clearTimeout(timer);
  }, [wanted, category, type]);
  return proposal.likeness === wanted ? proposal.name : '';
}

function findCategory(
  some: readonly Row[],
  wanted: string,
  type: Draft['type'],
): string | undefined {
  const row = some.find(
    (each) =>
      each.category_id !== null && each.type === type && likeness(each.description) === wanted,
  );
  const category = categoriesById.value.get(row?.category_id ?? 0);
  return category?.is_active ? category.name : undefined;
}

async function askForCategory(
  description: string,
  type: Draft['type'],
): Promise<string | undefined> {
  const today = new Date();
  const yearAgo = new Date(today.getFullYear() - 1, today.getMonth(), today.getDate());
  const path = pathWith('/transactions/search', {
    q: [...description].slice(0, 100).join(''),
    type,
    start_date: localDay(yearAgo),
    end_date: localDay(today),
    per_page: 20,
  });
  try {
    return findCategory((await call<TransactionSearch>(path)).data, likeness(description), type);
  } catch (error) {
    // A proposal is a convenience: without an answer there is none.
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
