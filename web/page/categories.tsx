// The categories of the ledger: create, rename, color, deactivate, merge into another, and a monthly target for each.
import type { Signal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { describeFailure } from './api-error.ts';
import { categories, categoriesById } from './category-list.ts';
import { isMoving, mergeCategory } from './category-merge.ts';
import type { TypedSettings } from './category-settings.ts';
import { updateCategory } from './category-writes.ts';
import { Button, Field } from './components.tsx';
import { format } from './format.ts';
import { useKeepFocusInList } from './kept-focus.ts';
import { announcement, canWrite, notice } from './ledger.ts';
import { createNewCategory, keepNewName, readNewName } from './new-category.ts';
import {
  closeOpened,
  discardOpened,
  findOpened,
  openCategory,
  UNREADABLE_TARGET,
} from './opened-category.ts';
import { categoryColor } from './scheme.ts';
import { Sheet } from './sheet.tsx';
import { useSubmit } from './submit.ts';
import { focusError } from './transaction-form.tsx';

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
  useKeepFocusInList(lists, 'li', (item) => item.querySelector('button'));
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
  const [name, setName] = useState(readNewName);
  const [error, setError] = useState('');
  const create = useSubmit(async () => {
    try {
      await createNewCategory();
      setName(readNewName());
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
            onInput={({ currentTarget }) => {
              setName(currentTarget.value);
              keepNewName(currentTarget.value);
            }}
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
  const toggleSettings = useSubmit(async () => {
    const refusal = await closeOpened();
    if (!refusal && !settings) openCategory(category);
  });
  // Without this, Escape would close the sheet.
  const cancelOnEscape = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || !settings) return;
    event.preventDefault();
    event.currentTarget.querySelector('button')?.focus();
    discardOpened();
  };
  return (
    <li onKeyDown={cancelOnEscape}>
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
            onClick={toggleSettings}
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
  // The settings may be refused after a click on another category, or reopened after a reload, while the list with this category
  // is collapsed.
  useLayoutEffect(() => {
    form.current?.closest('details')?.setAttribute('open', '');
    if (error.value !== '') focusError(form.current);
  }, [error.value]);
  const isTargetError = error.value === UNREADABLE_TARGET;
  return (
    <form ref={form} class="settings" aria-label={`Change ${category.name}`} onSubmit={save}>
      <Field label="Name" error={isTargetError ? '' : error.value}>
        {(id) => <input {...NAME} {...id} {...bind(name)} />}
      </Field>
      <Field label="Color">{(id) => <input type="color" {...id} {...bind(color)} />}</Field>
      <Field label="Monthly target" error={isTargetError ? error.value : ''}>
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

/** The dialog focuses the name field if it opens with these settings. */
const NAME = {
  type: 'text',
  dir: 'auto',
  required: true,
  maxLength: 255,
  autofocus: true,
} as const;

function bind(text: Signal<string>) {
  return {
    value: text,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
      text.value = currentTarget.value;
    },
  };
}

/** Saves the settings that were open when the sheet was closed. Refused settings are shown when it is opened again. */
async function saveBehindSheet(onOpen: () => void): Promise<void> {
  const refusal = await closeOpened();
  if (!refusal) return;
  const { name = '' } = categoriesById.peek().get(refusal.id) ?? {};
  const run = () => {
    notice.value = undefined;
    onOpen();
  };
  notice.value = {
    text: `The changes to ${name} were not saved. ${refusal.settings.error.peek()}`,
    action: { name: 'Show them', run },
  };
}

/** Moves every transaction into another category, then deactivates the emptied one. */
function MergeChoice({ category, settings }: SettingsProps) {
  const [targetId, setTargetId] = useState('');
  const otherCategories = categories.value.filter(
    ({ id, is_active }) => id !== category.id && is_active,
  );
  if (otherCategories.length === 0) return null;
  const merge = useSubmit(async () => {
    const target = otherCategories.find(({ id }) => String(id) === targetId);
    if (!target || !(await settings.save())) return;
    const isMerged = await mergeCategory(category, target);
    if (isMerged && findOpened(category.id) === settings) await closeOpened();
  });
  return (
    <div class="row">
      <Field label="Merge into">
        {(id) => (
          <select
            {...id}
            value={targetId}
            onChange={({ currentTarget }) => setTargetId(currentTarget.value)}
          >
            <option value="">Choose a category</option>
            {otherCategories.map((each) => (
              <option key={each.id} value={String(each.id)}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Button onClick={merge} disabled={targetId === '' || isMoving.value}>
        Merge
      </Button>
    </div>
  );
}
