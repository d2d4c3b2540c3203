// The categories of the ledger: create, rename, color, deactivate, merge into another, and a monthly target for each.
import { type Signal, signal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { describeFailure } from './api-error.ts';
import { categories, categoriesById, readLatest } from './category-list.ts';
import { isMoving, mergeCategory } from './category-merge.ts';
import { createSettings, type TypedSettings } from './category-settings.ts';
import { createCategory, updateCategory } from './category-writes.ts';
import { Button, Field } from './components.tsx';
import { format, readAmount } from './format.ts';
import { useFocusInList } from './kept-focus.ts';
import { announcement, canWrite, me, notice } from './ledger.ts';
import { categoryColor } from './scheme.ts';
import { Sheet } from './sheet.tsx';
import { useSubmit } from './submit.ts';
import { setTarget, targets } from './targets.ts';
import { focusError } from './transaction-form.tsx';

const UNREADABLE_TARGET = 'This is not an amount.';

/** The category whose settings are open. What is typed stays until it is saved, or left with Escape, even if the sheet closes. */
const opened = signal<Opened | undefined>(undefined);

interface Opened {
  /** Name of the ledger, because another one may have a category with the same id. */
  readonly ledger: string | undefined;
  readonly id: number;
  readonly settings: TypedSettings;
}

function findOpened(id: number): TypedSettings | undefined {
  const { value } = opened;
  return value?.id === id && value.ledger === me.value?.ledger ? value.settings : undefined;
}

interface CategoriesSheetProps {
  readonly onClose: () => void;
  /** Opens this sheet again. */
  readonly onOpen: () => void;
}

export function CategoriesSheet({ onClose, onOpen }: CategoriesSheetProps) {
  const { active = [], inactive = [] } = Object.groupBy(categories.value, (each) =>
    each.is_active ? 'active' : 'inactive',
  );
  const lists = useRef<HTMLDivElement>(null);
  // A category that is merged or deactivated moves to the other list, and its button loses the focus.
  useFocusInList(lists, 'li', (item) => item.querySelector('button'));
  return (
    <Sheet
      title="Categories"
      onClose={() => {
        onClose();
        void saveBehindSheet(onOpen);
      }}
    >
      {canWrite.value && <NewCategory />}
      <div ref={lists}>
        <ul class="categories">
          {active.map((category) => (
            <CategoryItem key={category.id} category={category} />
          ))}
        </ul>
        {inactive.length > 0 && (
          <details>
            <summary>Inactive ({format.count(inactive.length)})</summary>
            <ul class="categories">
              {inactive.map((category) => (
                <CategoryItem key={category.id} category={category} />
              ))}
            </ul>
          </details>
        )}
      </div>
    </Sheet>
  );
}

function NewCategory() {
  const [name, setName] = useState('');
  const [error, setError] = useState('');
  const create = useSubmit(async () => {
    if (name.trim() === '') return;
    try {
      await createCategory({ name: name.trim() });
      announcement.value = `Category ${name.trim()} created`;
      setName('');
      setError('');
    } catch (cause) {
      setError(describeFailure(cause));
    }
  });
  return (
    <form class="row" aria-label="Create a category" onSubmit={create}>
      <Field label="New category" error={error}>
        {(id) => (
          <input
            type="text"
            dir="auto"
            autocomplete="off"
            maxLength={255}
            {...id}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        )}
      </Field>
      <Button type="submit" kind="primary">
        Create
      </Button>
    </form>
  );
}

function CategoryItem({ category }: { readonly category: Category }) {
  const { id, name, transaction_count: count = 0 } = category;
  const settings = findOpened(id);
  const press = useSubmit(async () => {
    const isSaved = await closeOpened();
    const ledger = me.peek()?.ledger;
    if (isSaved && !settings) opened.value = { ledger, id, settings: openSettings(category) };
  });
  // Without this, Escape would close the sheet.
  const cancel = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || !settings) return;
    event.preventDefault();
    event.currentTarget.querySelector('button')?.focus();
    opened.value = undefined;
  };
  return (
    <li onKeyDown={cancel}>
      <div class="category-line">
        <span class="dot" style={{ background: categoryColor(category) }} aria-hidden="true" />
        <span class="name" dir="auto">
          {name}
        </span>
        <span class="quiet-text">{format.count(count)}</span>
        {canWrite.value && (
          <Button
            kind="quiet"
            aria-expanded={settings !== undefined}
            aria-label={settings ? `Done with ${name}` : `Change ${name}`}
            onClick={press}
          >
            {settings ? 'Done' : 'Change'}
          </Button>
        )}
      </div>
      {settings && canWrite.value && <CategorySettings category={category} settings={settings} />}
    </li>
  );
}

interface SettingsProps {
  readonly category: Category;
  readonly settings: TypedSettings;
}

function CategorySettings({ category, settings }: SettingsProps) {
  const { name, color, target, error } = settings;
  const action = category.is_active ? 'Deactivate' : 'Activate';
  const save = useSubmit(async () => void (await settings.save()));
  const toggle = useSubmit(async () => {
    try {
      await updateCategory(category, { is_active: !category.is_active });
      announcement.value = `Category ${category.name} ${action.toLowerCase()}d`;
    } catch (cause) {
      const text = `${category.name} was not ${action.toLowerCase()}d. ${describeFailure(cause)}`;
      notice.value = { text };
    }
  });
  const form = useRef<HTMLFormElement>(null);
  // The refusal may answer a button of another category, while the list of this one is folded.
  useEffect(() => {
    if (error.value === '') return;
    form.current?.closest('details')?.setAttribute('open', '');
    focusError(form.current);
  }, [error.value]);
  const isOfTarget = error.value === UNREADABLE_TARGET;
  return (
    <form ref={form} class="settings" aria-label={`Change ${category.name}`} onSubmit={save}>
      <Field label="Name" error={isOfTarget ? '' : error.value}>
        {(id) => <input type="text" dir="auto" required maxLength={255} {...id} {...bind(name)} />}
      </Field>
      <Field label="Color">{(id) => <input type="color" {...id} {...bind(color)} />}</Field>
      <Field label="Monthly target" error={isOfTarget ? error.value : ''}>
        {(id) => (
          <input type="text" inputMode="decimal" placeholder="None" {...id} {...bind(target)} />
        )}
      </Field>
      <div class="buttons">
        <Button onClick={toggle}>{action}</Button>
        <Button type="submit" kind="primary">
          Save
        </Button>
      </div>
      <MergeChoice category={category} settings={settings} />
    </form>
  );
}

function bind(text: Signal<string>) {
  return {
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      text.value = currentTarget.value;
    },
  };
}

function openSettings(category: Category): TypedSettings {
  const { id, name } = category;
  const start = { name, color: toPickerColor(category), target: readTarget(category) };
  const send = async ({ target, ...changes }: Partial<typeof start>) => {
    const amount = readAmount(target ?? '');
    if (target && amount === undefined) throw new Error(UNREADABLE_TARGET);
    if (target !== undefined) setTarget(id, amount);
    if (Object.keys(changes).length > 0) await updateCategory(category, changes);
    announcement.value = `Category ${readLatest(category).name} saved`;
  };
  return createSettings(start, send, describeFailure);
}

/** Saves and closes the open settings. @returns false if they were refused: then they stay open with the reason */
async function closeOpened(): Promise<boolean> {
  const open = opened.peek();
  if (!open || !findOpened(open.id)) return true;
  const isSaved = await open.settings.save();
  if (isSaved && opened.peek() === open) opened.value = undefined;
  return isSaved;
}

/** Saves the settings that were open when the sheet was closed. Refused settings are shown when it is opened again. */
async function saveBehindSheet(onOpen: () => void): Promise<void> {
  const open = opened.peek();
  if (!open || (await closeOpened())) return;
  const { name = '' } = categoriesById.peek().get(open.id) ?? {};
  const run = () => {
    notice.value = undefined;
    onOpen();
  };
  notice.value = {
    text: `The changes of ${name} were not saved. ${open.settings.error.peek()}`,
    action: { name: 'Show them', run },
  };
}

function readTarget({ id }: Category): string {
  const known = targets.peek()[id];
  return known === undefined ? '' : format.amountField(known);
}

/** Moves every transaction into another category, then deactivates the emptied one. */
function MergeChoice({ category, settings }: SettingsProps) {
  const [into, setInto] = useState('');
  const others = categories.value.filter(({ id, is_active }) => id !== category.id && is_active);
  if (others.length === 0) return null;
  const merge = useSubmit(async () => {
    const target = others.find(({ id }) => String(id) === into);
    if (!target || !(await settings.save())) return;
    const isMerged = await mergeCategory(category, target);
    if (isMerged && opened.peek()?.settings === settings) await closeOpened();
  });
  return (
    <div class="row">
      <Field label="Merge into">
        {(id) => (
          <select
            {...id}
            value={into}
            onChange={({ currentTarget }) => setInto(currentTarget.value)}
          >
            <option value="">Choose a category</option>
            {others.map((each) => (
              <option key={each.id} value={String(each.id)}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Button onClick={merge} disabled={into === '' || isMoving.value}>
        Merge
      </Button>
    </div>
  );
}

/** Returns the color in the only form that the browser's picker accepts, `#rrggbb`. */
function toPickerColor(category: Category): string {
  return /^#[0-9a-f]{6}$/i.test(category.color ?? '')
    ? (category.color ?? '')
    : categoryColor(category);
}
