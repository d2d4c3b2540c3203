// The category whose settings are open. What is typed is kept until it is saved or discarded with Escape, even if the sheet closes
// or the page reloads.
import { effect, signal } from '@preact/signals';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { describeFailure } from './api-error.ts';
import { categoriesById, readLatest } from './category-list.ts';
import { createSettings, type TypedSettings, type UnsavedSettings } from './category-settings.ts';
import { updateCategory } from './category-writes.ts';
import { format, readAmount } from './format.ts';
import { dropDraft, keepDraft, nameInLedger, readDraft } from './kept-drafts.ts';
import { announcement, me } from './ledger.ts';
import { categoryColor } from './scheme.ts';
import { setTarget, targets } from './targets.ts';

export const UNREADABLE_TARGET = 'This is not an amount.';

const nameDraft = (ledger: string | undefined) => nameInLedger('category', ledger);

interface Opened {
  /** Name of the ledger, because another one may have a category with the same id. */
  readonly ledger: string | undefined;
  readonly id: number;
}

interface KeptSettings {
  readonly id: number;
  readonly settings: UnsavedSettings;
}

const openSettings = signal<(Opened & { readonly settings: TypedSettings }) | undefined>(undefined);
let stopKeeping = () => {};

/** @returns the settings of this category; undefined if they are not open */
export function findOpened(id: number): TypedSettings | undefined {
  const { value } = openSettings;
  return value?.id === id && value.ledger === me.value?.ledger ? value.settings : undefined;
}

export function openCategory(category: Category): void {
  const { name } = category;
  const start = { name, color: toPickerColor(category), target: readTarget(category) };
  showSettings(category, { saved: start, typed: start });
}

/** Opens the settings that were being edited before a reload. @returns false if there are none in this ledger */
export function reopenCategory(): boolean {
  const keptSettings = readDraft<KeptSettings>(nameDraft(me.peek()?.ledger));
  const category = categoriesById.peek().get(keptSettings?.id ?? 0);
  if (!keptSettings || !category) return false;
  showSettings(category, keptSettings.settings);
  return true;
}

function showSettings(category: Category, start: UnsavedSettings): void {
  const { id } = category;
  const ledger = me.peek()?.ledger;
  const send = async ({ target, ...changes }: Partial<UnsavedSettings['typed']>) => {
    const amount = readAmount(target ?? '');
    if (target && amount === undefined) throw new Error(UNREADABLE_TARGET);
    if (target !== undefined) setTarget(id, amount);
    if (Object.keys(changes).length > 0) await updateCategory(category, changes);
    announcement.value = `Category ${readLatest(category).name} saved`;
  };
  const draftName = nameDraft(ledger);
  const settings = createSettings(start, send, describeFailure);
  stopKeeping();
  openSettings.value = { ledger, id, settings };
  stopKeeping = effect(() => {
    const unsaved = settings.unsaved.value;
    if (unsaved) keepDraft(draftName, { id, settings: unsaved } satisfies KeptSettings);
    else dropDraft(draftName);
  });
}

/** Closes the open settings without saving them. */
export function discardOpened(): void {
  stopKeeping();
  dropDraft(nameDraft(openSettings.peek()?.ledger));
  openSettings.value = undefined;
}

/** Saves and closes the open settings. @returns the settings if they were refused: they stay open with the reason */
export async function closeOpened(): Promise<
  { readonly id: number; readonly settings: TypedSettings } | undefined
> {
  const current = openSettings.peek();
  if (!current || !findOpened(current.id)) return undefined;
  if (!(await current.settings.save())) return current;
  if (openSettings.peek() === current) discardOpened();
  return undefined;
}

function readTarget({ id }: Category): string {
  const amount = targets.peek()[id];
  return amount === undefined ? '' : format.amountField(amount);
}

/** Returns the color in the only form that the browser's picker accepts, `#rrggbb`. */
function toPickerColor(category: Category): string {
  return /^#[0-9a-f]{6}$/i.test(category.color ?? '')
    ? (category.color ?? '')
    : categoryColor(category);
}
