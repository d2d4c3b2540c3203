// Asks for an API key when the service requires one.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isSendable } from './client.ts';
import { Button, Check, Field } from './components.tsx';
import { focusWhenDrawn } from './kept-focus.ts';
import { keyQuestion } from './key-question.ts';
import { announcement, me, openWithKey } from './ledger.ts';

export function KeyForm() {
  const { key, isOnDevice, error, open } = useKeyEntry();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector('input')?.focus();
    return () => {
      announcement.value = `Ledger ${me.peek()?.ledger} opened`;
      focusWhenDrawn('.stepper h2');
    };
  }, []);
  return (
    <form ref={form} class="card ask" aria-label="Open your ledger" onSubmit={open}>
      <h2>Open your ledger</h2>
      <p>
        Paste the API key that you were given. A key with the scope <code>read</code> shows
        everything and changes nothing.
      </p>
      <KeyField value={key} error={error.value} />
      <Check
        label="Keep the key on this device"
        isOn={isOnDevice.value}
        onChange={(isOn) => {
          isOnDevice.value = isOn;
        }}
      />
      <p class="hint">
        Otherwise only this tab keeps the key, until you close the tab. “Forget key” removes it at
        once. It is sent to this service only.
      </p>
      <Button type="submit" kind="primary">
        Open
      </Button>
    </form>
  );
}

interface KeyFieldProps {
  readonly value: Signal<string>;
  readonly error: string;
}

function KeyField({ value, error }: KeyFieldProps) {
  return (
    <Field label="API key" error={error}>
      {(id) => (
        <input
          type="password"
          autocomplete="off"
          spellcheck={false}
          required
          {...id}
          value={value}
          onInput={({ currentTarget }) => {
            value.value = currentTarget.value;
          }}
        />
      )}
    </Field>
  );
}

/** Returns the key as it is typed, why the last key was refused, and the function that opens the ledger. */
function useKeyEntry() {
  const [key, isOnDevice, error] = [useSignal(''), useSignal(false), useSignal('')];
  useSignalEffect(() => {
    const lastError = keyQuestion.value?.refused;
    const request = lastError?.requestId ? ` (request ${lastError.requestId})` : '';
    if (lastError)
      error.value =
        lastError.status === 401
          ? `This key is not valid${request}.`
          : `${lastError.message}${request}`;
  });
  const open = (event: Event) => {
    event.preventDefault();
    const typedKey = key.peek().trim();
    key.value = '';
    error.value = '';
    if (isSendable(typedKey)) void openWithKey(typedKey, isOnDevice.peek());
    else error.value = 'This is not a key. A key looks like fl_… and has no spaces.';
  };
  return { key, isOnDevice, error, open };
}
