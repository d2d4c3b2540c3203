// Categorises rows: chips that filter by category, a field in each row without a category, an offer to categorise similar rows,
// and a bar for the selected rows.
import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { ApiError } from './api-error.ts';
import { CategoryBox } from './category-box.tsx';
import { resolveCategory } from './category-choice.ts';
import { categories } from './category-list.ts';
import { Button, ScopeLink } from './components.tsx';
import { countByCategory } from './figures.ts';
import { format } from './format.ts';
import { useFocusListOnRemoval } from './kept-focus.ts';
import {
  announcement,
  cells,
  hasOnlySums,
  notice,
  outbox,
  removeRows,
  rows,
  scope,
  view,
} from './ledger.ts';
import { type Row, toSimilarityKey } from './rows.ts';
import type { CategoryKey } from './scope.ts';
import { clearSelection, selected, selectScope } from './selection.ts';

/** For a search with several pages, the number of rows in each category is unknown: then only the current chip has a count. */
export function Chips() {
  const { category } = scope.value;
  const counts = hasOnlySums.value ? undefined : countByCategory(cells.value);
  const totalCount = counts && [...counts.values()].reduce((sum, count) => sum + count, 0);
  const formatLabel = (name: string, key: CategoryKey | undefined) => {
    const knownCount = key === undefined ? totalCount : counts && (counts.get(key) ?? 0);
    const count = knownCount ?? (key === category ? view.value?.total : undefined);
    return count === undefined ? name : `${name} (${format.count(count)})`;
  };
  const usedCategories = categories.value
    .filter(({ id }) => (counts?.get(id) ?? 0) > 0 || id === category)
    .toSorted((a, b) => (counts?.get(b.id) ?? 0) - (counts?.get(a.id) ?? 0));
  return (
    <nav class="chips" aria-label="Categories of these transactions">
      <ScopeLink to={{ category: undefined }} isCurrent={category === undefined}>
        {formatLabel('All', undefined)}
      </ScopeLink>
      <ScopeLink to={{ category: 'none' }} isCurrent={category === 'none'}>
        {formatLabel('Uncategorised', 'none')}
      </ScopeLink>
      {usedCategories.map(({ id, name }) => (
        <ScopeLink
          key={id}
          to={{ category: category === id ? undefined : id }}
          isCurrent={category === id}
          dir="auto"
        >
          {formatLabel(name, id)}
        </ScopeLink>
      ))}
    </nav>
  );
}

function categorise(rowsToChange: readonly Row[], category: Category | undefined): void {
  outbox.update(
    rowsToChange.map((before) => ({
      before,
      after: { ...before, category_id: category?.id ?? null, category_name: category?.name ?? '' },
    })),
  );
}

/** A field that puts one row into the category that a person types. */
export function QuickCategory({ row, tabIndex }: { readonly row: Row; readonly tabIndex: number }) {
  const text = useSignal('');
  const pick = async (name: string) => {
    focusNextField();
    const category = await resolve(name);
    if (!category) return;
    categorise([row], category);
    announcement.value = `${row.description}: ${category.name}`;
    offerOthers(row, category);
  };
  return (
    <CategoryBox
      label="Category"
      placeholder="Choose"
      tabIndex={tabIndex}
      text={text}
      onText={(typedText) => {
        text.value = typedText;
      }}
      onPick={pick}
    />
  );
}

/** Focuses the category field of the next row at once: keys pressed while a category is created are meant for that row. */
function focusNextField(): void {
  const fields = [...document.querySelectorAll<HTMLElement>('.entry [role=combobox]')];
  const index = fields.findIndex((field) => field.matches(':focus'));
  if (index >= 0) fields[index + 1]?.focus();
}

async function resolve(text: string): Promise<Category | undefined> {
  try {
    return await resolveCategory(text);
  } catch (error) {
    const reason = error instanceof ApiError ? error.message : String(error);
    notice.value = { text: `The category “${text}” was not created. ${reason}` };
    return undefined;
  }
}

/**
 * Offers the same category for the other rows of the list that have none, and whose descriptions differ only in case, digits
 * and signs.
 */
function offerOthers(row: Row, category: Category): void {
  const similarityKey = toSimilarityKey(row.description);
  const similarRows = rows.value.filter(
    (each) =>
      each.id !== row.id &&
      each.category_id === null &&
      each.type === row.type &&
      toSimilarityKey(each.description) === similarityKey,
  );
  if (similarityKey === '' || similarRows.length === 0) return;
  const countText = format.counted(similarRows.length, 'other');
  notice.value = {
    text: `Also without a category: ${countText} like “${row.description}”.`,
    action: {
      name: `Put ${countText} in ${category.name}`,
      run: () => {
        categorise(similarRows, category);
        notice.value = undefined;
      },
    },
  };
}

const isReadingAll = signal(false);

/**
 * Puts the selected rows into the named category, or with undefined into none.
 * @returns false if the category could not be created
 */
async function categoriseSelected(name: string | undefined): Promise<boolean> {
  const chosenRows = [...selected.value.values()];
  const category = name === undefined ? undefined : await resolve(name);
  if (name !== undefined && !category) return false;
  categorise(chosenRows, category);
  announcement.value = `${format.counted(chosenRows.length, 'transaction')}: ${category?.name ?? 'no category'}`;
  clearSelection();
  return true;
}

async function selectAll(): Promise<void> {
  isReadingAll.value = true;
  await selectScope().catch((error) => {
    notice.value = { text: `Not all could be selected. ${error.message}` };
  });
  isReadingAll.value = false;
}

/** Actions for the selected rows. */
export function SelectionBar() {
  const chosenRows = [...selected.value.values()];
  return chosenRows.length > 0 ? <SelectionActions chosenRows={chosenRows} /> : null;
}

function SelectionActions({ chosenRows }: { readonly chosenRows: readonly Row[] }) {
  const bar = useRef<HTMLElement>(null);
  useFocusListOnRemoval(bar);
  const total = view.value?.total ?? 0;
  return (
    <section ref={bar} class="selection" aria-label="Selected transactions">
      <span class="count">{format.count(chosenRows.length)} selected</span>
      {chosenRows.length < total && rows.value.length < total && (
        <Button kind="quiet" onClick={selectAll} disabled={isReadingAll.value}>
          All {format.count(total)}
        </Button>
      )}
      <CategoryForSelected />
      {chosenRows.some(({ category_id: id }) => id !== null) && (
        <Button onClick={() => categoriseSelected(undefined)}>Remove category</Button>
      )}
      <Button
        aria-label="Delete selected"
        onClick={() => {
          removeRows(chosenRows);
          clearSelection();
        }}
      >
        Delete
      </Button>
      <Button kind="quiet" onClick={clearSelection}>
        Cancel
      </Button>
    </section>
  );
}

/** Without a typed name, Apply asks for one: an empty field must not remove the category of the rows. */
function CategoryForSelected() {
  const text = useSignal('');
  const apply = async () => {
    if (text.peek().trim() === '') {
      const field = document.querySelector<HTMLElement>('.selection input');
      field?.focus();
      field?.click();
    } else if (await categoriseSelected(text.peek())) text.value = '';
  };
  return (
    <>
      <CategoryBox
        label="Category for selected"
        placeholder="Choose"
        text={text}
        onText={(typedText) => {
          text.value = typedText;
        }}
        onPick={() => document.querySelector<HTMLElement>('.selection .primary')?.focus()}
      />
      <Button kind="primary" onClick={apply}>
        Apply
      </Button>
    </>
  );
}
