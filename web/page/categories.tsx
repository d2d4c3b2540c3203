// The categories of the ledger: create, rename, color, deactivate, merge into another, and a monthly target for each.
import { type Signal, signal, useSignal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { ApiError } from './api-error.ts';
import { categories, categoriesById } from './category-list.ts';
import { createCategory, updateCategory } from './category-writes.ts';
import { Button, Field } from './components.tsx';
import { format, readAmount } from './format.ts';
import { useFocusInList } from './kept-focus.ts';
import { announcement, canWrite, notice, outbox } from './ledger.ts';
import { categoryColor } from './scheme.ts';
import { Sheet } from './sheet.tsx';
import { useSubmit } from './submit.ts';
import { setTarget, targets } from './targets.ts';
import { readRows } from './view.ts';

const openCategoryId = signal<number | undefined>(undefined);

export function CategoriesSheet({ onClose }: { readonly onClose: () => void }) {
  const { active = [], inactive = [] } = Object.groupBy(categories.value, (each) =>
    each.is_active ? 'active' : 'inactive',
  );
  const lists = useRef<HTMLDivElement>(null);
  // A category that is merged or deactivated moves to the other list, and its button loses the focus.
  useFocusInList(lists, 'li', (item) => item.querySelector('button'));
  return (
    <Sheet title="Categories" onClose={onClose}>
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
      setError(explain(cause));
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
  const settings = useSettings(category);
  const isOpen = openCategoryId.value === id;
  const close = () => {
    openCategoryId.value = undefined;
  };
  const open = () => {
    settings.reset();
    openCategoryId.value = id;
  };
  const finish = useSubmit(async () => {
    if (await settings.saveChanged()) close();
  });
  // Without this, Escape would close the sheet.
  const cancel = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.preventDefault();
    event.currentTarget.querySelector('button')?.focus();
    close();
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
            aria-expanded={isOpen}
            aria-label={isOpen ? `Done with ${name}` : `Change ${name}`}
            onClick={isOpen ? finish : open}
          >
            {isOpen ? 'Done' : 'Change'}
          </Button>
        )}
      </div>
      {isOpen && <CategorySettings category={category} settings={settings} />}
    </li>
  );
}

interface SettingsProps {
  readonly category: Category;
  readonly settings: ReturnType<typeof useSettings>;
}

function CategorySettings({ category, settings }: SettingsProps) {
  const { name, color, target, error, update, save } = settings;
  const action = category.is_active ? 'Deactivate' : 'Activate';
  return (
    <form class="settings" aria-label={`Change ${category.name}`} onSubmit={save}>
      <Field label="Name" error={error.value}>
        {(id) => <input type="text" dir="auto" required maxLength={255} {...id} {...bind(name)} />}
      </Field>
      <Field label="Color">{(id) => <input type="color" {...id} {...bind(color)} />}</Field>
      <Field label="Monthly target">
        {(id) => (
          <input type="text" inputMode="decimal" placeholder="None" {...id} {...bind(target)} />
        )}
      </Field>
      <div class="buttons">
        <Button
          onClick={() =>
            update(
              { is_active: !category.is_active },
              `Category ${category.name} ${action.toLowerCase()}d`,
            )
          }
        >
          {action}
        </Button>
        <Button type="submit" kind="primary">
          Save
        </Button>
      </div>
      <MergeChoice category={category} />
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

/** Holds the settings of a category as they are typed, and the functions that save them. */
function useSettings(category: Category) {
  const name = useSignal(category.name);
  const color = useSignal(toPickerColor(category));
  const target = useSignal(readTarget(category));
  const error = useSignal('');
  const reset = () => {
    name.value = category.name;
    color.value = toPickerColor(category);
    target.value = readTarget(category);
    error.value = '';
  };
  const update = async (changes: object, confirmation: string) => {
    try {
      await updateCategory(category, changes);
      announcement.value = confirmation;
      error.value = '';
    } catch (cause) {
      error.value = explain(cause);
    }
  };
  const isColorChanged = () => color.peek() !== toPickerColor(category);
  const send = async () => {
    const trimmed = name.peek().trim();
    setTarget(category.id, readAmount(target.peek()));
    const changes = { name: trimmed, ...(isColorChanged() && { color: color.peek() }) };
    await update(changes, `Category ${trimmed} saved`);
  };
  /** @returns true if nothing is left to save */
  const saveChanged = async () => {
    const isChanged =
      name.peek().trim() !== category.name ||
      target.peek() !== readTarget(category) ||
      isColorChanged();
    if (isChanged) await send();
    return !isChanged || error.peek() === '';
  };
  return { name, color, target, error, update, reset, save: useSubmit(send), saveChanged };
}

function readTarget({ id }: Category): string {
  const known = targets.peek()[id];
  return known === undefined ? '' : format.amountField(known);
}

/** Moves every transaction into another category, then deactivates the emptied one. */
function MergeChoice({ category }: { readonly category: Category }) {
  const [into, setInto] = useState('');
  const others = categories.value.filter(({ id, is_active }) => id !== category.id && is_active);
  if (others.length === 0) return null;
  const merge = async () => {
    const target = others.find(({ id }) => String(id) === into);
    if (!target) return;
    try {
      await mergeCategory(category, target);
    } catch (cause) {
      notice.value = { text: `${category.name} was not merged. ${explain(cause)}` };
    }
  };
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
      <Button onClick={merge} disabled={into === ''}>
        Merge
      </Button>
    </div>
  );
}

async function mergeCategory(category: Category, target: Category): Promise<void> {
  const all = await readRows({ category_id: category.id });
  announcement.value = `Moving ${format.counted(all.length, 'transaction')} to ${target.name}`;
  const refused = await outbox.update(
    all.map((before) => ({
      before,
      after: { ...before, category_id: target.id, category_name: target.name },
    })),
  );
  if (refused.length > 0) {
    notice.value = {
      text: `${category.name} stays active, because ${format.counted(refused.length, 'transaction')} could not be moved:`,
      details: refused.map(
        ({ change, error }) => `${change.before?.description}: ${error.message}`,
      ),
    };
    announcement.value = '';
    return;
  }
  // The category may have been saved since the sheet was drawn: the update needs its latest version.
  const latest = categoriesById.peek().get(category.id) ?? category;
  await updateCategory(latest, { is_active: false });
  openCategoryId.value = undefined;
  const moved = `Moved ${format.counted(all.length, 'transaction')}`;
  announcement.value = moved;
  notice.value = {
    text: `${moved} from ${category.name} to ${target.name}. ${category.name} is inactive.`,
    isBrief: true,
  };
}

function explain(cause: unknown): string {
  if (!(cause instanceof ApiError)) return String(cause);
  return cause.status === 412
    ? 'It was changed elsewhere meanwhile. Close this sheet, and open it again.'
    : cause.message;
}

/** Returns the color in the only form that the browser's picker accepts, `#rrggbb`. */
function toPickerColor(category: Category): string {
  return /^#[0-9a-f]{6}$/i.test(category.color ?? '')
    ? (category.color ?? '')
    : categoryColor(category);
}
