// A field in which a person finds a category by typing, and picks it with Enter. If the ledger has no category of the typed name,
// the last option creates it.
// biome-ignore-all lint/a11y/useSemanticElements: no HTML element is a list that is searched by typing
// biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: the list is a listbox
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the field keeps the focus, and handles the keys
import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { Signalish, TargetedEvent } from 'preact';
import { useId, useMemo } from 'preact/hooks';
import { choices } from './category-choice.ts';
import { normalize } from './rows.ts';

const MAX_OPTIONS = 8;

interface CategoryBoxProps {
  readonly label: string;
  /** The text in the field. */
  readonly text: ReadonlySignal<string>;
  readonly onText: (text: string) => void;
  /** Called when an option is picked with a key or the mouse. */
  readonly onPick?: (name: string) => void;
  readonly id?: string;
  readonly isLabelled?: boolean;
  readonly placeholder?: Signalish<string | undefined>;
  readonly tabIndex?: number;
  readonly 'aria-invalid'?: boolean;
  readonly 'aria-describedby'?: string;
}

interface Option {
  readonly name: string;
  readonly isNew: boolean;
}

interface Suggestions {
  readonly options: readonly Option[];
  /** Index of the option that Enter picks. */
  readonly activeIndex: number;
}

const LIST_KEYS = new Set(['ArrowDown', 'ArrowUp', 'Escape', 'Enter']);

/** A key press redraws only the field. The list is searched after that frame, so that typing stays fast. */
export function CategoryBox(props: CategoryBoxProps) {
  const { label, text, onText, onPick, isLabelled = false, ...rest } = props;
  const id = useId();
  const list = useSuggestions(text);
  const suggestions = list.suggestions.value;
  const pick = ({ name }: Option) => {
    onText(name);
    list.close();
    onPick?.(name);
  };
  return (
    <span class="category-box">
      <input
        {...rest}
        {...(isLabelled ? {} : { 'aria-label': label })}
        type="text"
        role="combobox"
        autocomplete="off"
        maxLength={255}
        dir="auto"
        aria-expanded={suggestions !== undefined}
        aria-controls={id}
        aria-autocomplete="list"
        {...(suggestions && { 'aria-activedescendant': `${id}-${suggestions.activeIndex}` })}
        value={text}
        {...listenToField({ list, text, onText, pick, isChoice: onPick !== undefined })}
      />
      {suggestions && <SuggestionList id={id} suggestions={suggestions} onPick={pick} />}
    </span>
  );
}

interface BoxParts {
  readonly list: ReturnType<typeof useSuggestions>;
  readonly text: ReadonlySignal<string>;
  readonly onText: (text: string) => void;
  readonly pick: (option: Option) => void;
  /** True if Enter only picks the option; otherwise it also submits the form with what was typed. */
  readonly isChoice: boolean;
}

function listenToField(parts: BoxParts) {
  const { list, onText } = parts;
  return {
    onInput: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
      onText(currentTarget.value);
      list.searchSoon();
    },
    onClick: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
      // Selects the text, so that typing replaces the category.
      if (!list.read()) currentTarget.select();
      list.open();
    },
    onKeyDown: (event: KeyboardEvent) => pressKey(event, parts),
    onBlur: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
      // If only the window loses the focus, the person continues typing later.
      if (document.activeElement !== currentTarget) completeText(parts);
      list.close();
    },
  };
}

/** Completes a partly typed name in the field, because the page saves what the field shows. */
function completeText({ list, text, onText }: BoxParts): void {
  const { options = [], activeIndex = 0 } = list.read() ?? {};
  const option = options[activeIndex];
  if (option && !option.isNew && text.peek() !== '') onText(option.name);
}

function pressKey(event: KeyboardEvent, { list, text, pick, isChoice }: BoxParts): void {
  const { key } = event;
  if (!LIST_KEYS.has(key)) return;
  const { options = [], activeIndex = 0 } = list.read() ?? {};
  const option = options[activeIndex];
  if (key === 'ArrowDown') list.move(1);
  else if (key === 'ArrowUp') list.move(-1);
  else if (!option) return;
  else if (key === 'Escape') {
    list.close();
    event.stopPropagation();
  } else {
    const hasText = text.peek() !== '';
    pick(option);
    if (hasText && !isChoice) return;
  }
  event.preventDefault();
}

interface SuggestionListProps {
  readonly id: string;
  readonly suggestions: Suggestions;
  readonly onPick: (option: Option) => void;
}

function SuggestionList({ id, suggestions, onPick }: SuggestionListProps) {
  const { options, activeIndex } = suggestions;
  return (
    <span class="suggestions">
      <ul id={id} role="listbox" aria-label="Suggestions">
        {options.map((option, n) => (
          <li
            key={option.name}
            id={`${id}-${n}`}
            role="option"
            tabIndex={-1}
            aria-selected={n === activeIndex}
            dir="auto"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(option)}
          >
            {option.isNew ? `Create “${option.name}”` : option.name}
          </li>
        ))}
      </ul>
    </span>
  );
}

/** Manages the list of suggestions for the text of a field. */
function useSuggestions(text: ReadonlySignal<string>) {
  const suggestions = useSignal<Suggestions | undefined>(undefined);
  return useMemo(() => {
    let cancel: (() => void) | undefined;
    const show = (options: readonly Option[]) => {
      cancel?.();
      cancel = undefined;
      suggestions.value = options.length > 0 ? { options, activeIndex: 0 } : undefined;
    };
    const search = () => show(findOptions(text.peek()));
    const open = () => show(listOptions(text.peek()));
    /** Returns the suggestions for the current text, even if a key is pressed before the list has been drawn. */
    const read = () => {
      if (cancel) search();
      return suggestions.peek();
    };
    return {
      suggestions,
      open,
      searchSoon() {
        cancel ??= afterFrame(search);
      },
      read,
      move(step: 1 | -1) {
        const current = read();
        if (!current) return open();
        const { options, activeIndex } = current;
        const nextIndex = (activeIndex + step + options.length) % options.length;
        suggestions.value = { options, activeIndex: nextIndex };
      },
      close: () => show([]),
    };
  }, []);
}

/** Runs a function after the next frame. @returns a function that cancels the run */
function afterFrame(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(run);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** Compares category names without case and accents. */
function isSame(text: string, name: string): boolean {
  return normalize(text.trim()) === normalize(name);
}

/**
 * Lists the options when the field is clicked. The field's category, even a new one, comes first and then the others, because a
 * person who opens the list wants to change the category.
 */
function listOptions(text: string): readonly Option[] {
  if (!choices.value.some(({ name }) => isSame(text, name)))
    return findOptions(text).toSorted((a, b) => Number(b.isNew) - Number(a.isNew));
  const allOptions = choices.value.map(({ name }) => ({ name, isNew: false }));
  return allOptions
    .toSorted((a, b) => Number(isSame(text, b.name)) - Number(isSame(text, a.name)))
    .slice(0, MAX_OPTIONS);
}

/** Names that begin with the text come first, then names with a word that does; a new name comes last. */
function findOptions(text: string): readonly Option[] {
  const searchText = normalize(text.trim());
  const candidates = choices.value;
  const matches = candidates
    .filter(({ normalized }) => normalized.includes(searchText))
    .map(({ name, normalized }) => ({
      name,
      isNew: false,
      rank: rankMatch(normalized, searchText),
    }))
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MAX_OPTIONS);
  const isKnownName =
    searchText === '' || candidates.some(({ normalized }) => normalized === searchText);
  return isKnownName ? matches : [...matches, { name: text.trim(), isNew: true }];
}

function rankMatch(name: string, searchText: string): number {
  if (name.startsWith(searchText)) return 0;
  return name.includes(` ${searchText}`) ? 1 : 2;
}
