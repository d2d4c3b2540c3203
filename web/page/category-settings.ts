// The settings of a category as a person types them. They are saved one request after another, and only what was changed: a
// setting that another client changed meanwhile stays.
import { type Signal, signal } from '@preact/signals';

export interface SettingValues {
  readonly name: string;
  /** As the browser's picker writes it, `#rrggbb`. */
  readonly color: string;
  /** The monthly target as typed; empty for none. */
  readonly target: string;
}

export interface TypedSettings {
  readonly name: Signal<string>;
  readonly color: Signal<string>;
  readonly target: Signal<string>;
  /** Why the settings were not saved; empty if they were. */
  readonly error: Signal<string>;
  /** @returns true if nothing is left to save */
  readonly save: () => Promise<boolean>;
}

/** @param send saves these settings, and throws if they are refused; the typed settings are then kept */
export function createSettings(
  start: SettingValues,
  send: (changes: Partial<SettingValues>) => Promise<void>,
  explain: (cause: unknown) => string,
): TypedSettings {
  const [name, color, target] = [signal(start.name), signal(start.color), signal(start.target)];
  const error = signal('');
  let saved = start;
  let saving = Promise.resolve(true);
  const saveTyped = async () => {
    error.value = '';
    for (;;) {
      const typed = { name: name.peek().trim(), color: color.peek(), target: target.peek().trim() };
      const names = Object.keys(typed) as (keyof SettingValues)[];
      const changed = names.filter((each) => typed[each] !== saved[each]);
      if (changed.length === 0) return true;
      try {
        await send(Object.fromEntries(changed.map((each) => [each, typed[each]])));
      } catch (cause) {
        error.value = explain(cause);
        return false;
      }
      // The person may have typed more meanwhile.
      saved = typed;
    }
  };
  return {
    ...{ name, color, target, error },
    save: () => {
      saving = saving.then(saveTyped);
      return saving;
    },
  };
}
