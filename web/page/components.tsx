// The components that every part of the page uses: button, field, checkbox, link to a scope and notice.
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { useKeepFocusInList, useReturnFocusOnRemoval } from './kept-focus.ts';
import { scope } from './ledger.ts';
import { type Scope, scopeHash } from './scope.ts';

type ButtonProps = ButtonHTMLAttributes & {
  /** A form has one `primary` button. A `quiet` button is less prominent than a `plain` one. */
  readonly kind?: 'primary' | 'plain' | 'quiet';
};

/** The second click of a double click submits nothing: the first may have emptied the form. */
export function Button({ kind = 'plain', class: extraClass = '', ...rest }: ButtonProps) {
  const guard = rest.type === 'submit' ? { onClick: ignoreSecondClick } : {};
  return <button type="button" {...guard} {...rest} class={`button ${kind} ${extraClass}`} />;
}

function ignoreSecondClick(event: MouseEvent): void {
  if (event.detail > 1) event.preventDefault();
}

interface FieldProps {
  readonly label: string;
  readonly error?: string | undefined;
  readonly class?: string;
  readonly children: (attributes: {
    readonly id: string;
    readonly 'aria-invalid'?: boolean;
    readonly 'aria-describedby'?: string;
  }) => ComponentChildren;
}

/** A labelled control, with a sentence below it if its value has an error. */
export function Field({ label, error, class: extraClass = '', children }: FieldProps) {
  const id = useId();
  const errorAttributes = error ? { 'aria-invalid': true, 'aria-describedby': `${id}-error` } : {};
  return (
    <div class={`field ${extraClass}`}>
      <label for={id}>{label}</label>
      {children({ id, ...errorAttributes })}
      {error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly isOn: boolean | undefined;
  readonly onChange: (isOn: boolean) => void;
}

export function Check({ label, isOn = false, onChange }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      {label}
    </label>
  );
}

type LinkProps = Omit<AnchorHTMLAttributes, 'role' | 'href'> & {
  readonly to: Partial<Scope>;
  readonly isCurrent?: boolean;
};

/** A link to another scope of the ledger. */
export function ScopeLink({ to, isCurrent = false, ...rest }: LinkProps) {
  const currentAttributes = isCurrent ? { 'aria-current': 'true' as const } : {};
  return <a {...currentAttributes} {...rest} href={scopeHash(scope.value, to)} />;
}

interface NoticeProps {
  readonly text: string;
  readonly details?: readonly string[] | undefined;
  readonly children?: ComponentChildren;
}

export function NoticeBox({ text, details = [], children }: NoticeProps) {
  const box = useRef<HTMLDivElement>(null);
  useReturnFocusOnRemoval(box);
  // The button of an action disappears with it.
  useKeepFocusInList(box, '.buttons', (buttons) => buttons.querySelector('button'));
  return (
    <div ref={box} class="notice">
      <div>
        <p>{text}</p>
        {details.length > 0 && (
          <ul>
            {details.map((each) => (
              <li key={each} dir="auto">
                {each}
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="buttons">{children}</div>
    </div>
  );
}
