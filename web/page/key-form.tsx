// Asks for an API key when the service requires one.
import { useEffect, useRef, useState } from 'preact/hooks';
import { isSendable } from './client.ts';
import { Button, Field } from './components.tsx';
import { keyQuestion, openWithKey } from './ledger.ts';

export function KeyForm() {
  const refused = keyQuestion.value?.refused;
  const [key, setKey] = useState('');
  const [isKept, setKept] = useState(false);
  const [error, setError] = useState('');
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  useEffect(() => {
    const request = refused?.requestId ? ` (request ${refused.requestId})` : '';
    if (refused) setError(`This key is not valid${request}.`);
  }, [refused]);
  const open = (event: Event) => {
    event.preventDefault();
    const typed = key.trim();
    setKey('');
    setError('');
    if (isSendable(typed)) openWithKey(typed, isKept);
    else setError('This is not a key. A key looks like fl_… and has no blanks.');
  };
  return (
    <form ref={form} class="card ask" aria-label="Open your ledger" onSubmit={open}>
      <h2>Open your ledger</h2>
      <p>
        Paste the API key that you were given. One with the scope <code>read</code> shows everything
        and changes nothing.
      </p>
      <Field label="API key" error={error}>
        {(id) => (
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            {...id}
            value={key}
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          checked={isKept}
          onChange={({ currentTarget }) => setKept(currentTarget.checked)}
        />
        Keep the key on this device
      </label>
      <Button type="submit" kind="primary">
        Open
      </Button>
      <p class="hint">
        Otherwise it stays in this tab until you close it. “Forget key” removes it at once. It is
        sent to this service only.
      </p>
    </form>
  );
}
