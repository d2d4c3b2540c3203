// A field for a category: type to find it, Enter takes it. A name that the ledger does not have yet can be created.
// biome-ignore-all lint/a11y/useSemanticElements: no element has a list that is found by typing
// biome-ignore-all lint/a11y/noNoninteractiveElementToInteractiveRole: the list is one of options
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the field keeps the focus, and has the keys
import type { ReadonlySignal } from '@preact/signals';
import type { Signalish } from 'preact';
import { useId, useMemo, useState } from 'preact/hooks';
import type { Category } from '../../lib/ledger/http/api-types.ts';
import { ensureCategory } from './category-writes.ts';
import { categories } from './ledger.ts';
import { normalize } from './rows.ts';

const MAX_OPTIONS = 8;

interface CategoryBoxProps {
  readonly label: string;
  /** Text that the field shows. */
  readonly text: ReadonlySignal<string>;
  readonly onText: (text: string) => void;
  /** An option was taken, by key or by mouse. */
  readonly onTake?: (name: string) => void;
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

export function CategoryBox(props: CategoryBoxProps) {
  const { label, text, onText, onTake, isLabelled = false, ...rest } = props;
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  const list = useId();
  const typed = isOpen ? text.value : '';
  const options = useMemo(
    () => (isOpen ? findOptions(typed) : []),
    [isOpen, typed, categories.value],
  );
  const isShown = isOpen && options.length > 0;
  const take = ({ name }: Option) => {
    onText(name);
    setOpen(false);
    onTake?.(name);
  };
  const move = (step: number) => {
    setOpen(true);
    setAt((at + step + options.length) % Math.max(1, options.length));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const option = options[at];
    if (event.key === 'ArrowDown') move(isShown ? 1 : 0);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Escape' && isShown) {
      setOpen(false);
      event.stopPropagation();
    } else if (
      event.key === 'Enter' &&
      isShown &&
      option &&
      (onTake || !isSame(typed, option.name))
    ) {
      take(option);
    } else if (event.key === 'Tab' && isShown && option && !option.isNew && typed !== '') {
      onText(option.name);
      return;
    } else return;
    event.preventDefault();
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
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        {...(isShown ? { 'aria-activedescendant': `${list}-${at}` } : {})}
        value={text}
        onInput={({ currentTarget }) => {
          onText(currentTarget.value);
          setAt(0);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onKeyDown={onKeyDown}
        onBlur={() => setOpen(false)}
      />
      <span class="suggestions" hidden={!isShown}>
        <ul id={list} role="listbox" aria-label="Suggestions">
          {options.map((option, n) => (
            <li
              key={option.name}
              id={`${list}-${n}`}
              role="option"
              tabIndex={-1}
              aria-selected={n === at}
              dir="auto"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(option)}
            >
              {option.isNew ? `Create “${option.name}”` : option.name}
            </li>
          ))}
        </ul>
      </span>
    </span>
  );
}

/** Enter has nothing to choose: it submits the form. */
function isSame(text: string, name: string): boolean {
  return normalize(text.trim()) === normalize(name);
}

/** Names that begin with the text come first; a new name comes last. */
function findOptions(text: string): readonly Option[] {
  const wanted = normalize(text.trim());
  const active = categories.value.filter(({ is_active: isActive }) => isActive);
  const found = active
    .map(({ name }) => ({ name, isNew: false, at: normalize(name).indexOf(wanted) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => Number(a.at > 0) - Number(b.at > 0))
    .slice(0, MAX_OPTIONS);
  const isKnown = wanted === '' || active.some(({ name }) => normalize(name) === wanted);
  return isKnown ? found : [...found, { name: text.trim(), isNew: true }];
}

/**
 * The category that a typed text means: none, the one of this name, the only one that begins so, or a new one.
 * @throws ApiError where it cannot be created
 */
export async function resolveCategory(text: string): Promise<Category | undefined> {
  const wanted = normalize(text.trim());
  if (wanted === '') return undefined;
  const active = categories.value.filter(({ is_active: isActive }) => isActive);
  const exact = active.find(({ name }) => normalize(name) === wanted);
  if (exact) return exact;
  const [first, second] = active.filter(({ name }) => normalize(name).startsWith(wanted));
  return first && !second ? first : await ensureCategory(text);
}
