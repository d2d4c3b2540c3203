// The settings of a category as a person types them. They are saved by one request after another. Only changed settings are sent,
// so a setting that another client changed meanwhile is kept.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';

export interface SettingValues {
  readonly name: string;
  /** As the browser's picker writes it, `#rrggbb`. */
  readonly color: string;
  /** The monthly target as typed; empty for none. */
  readonly target: string;
}

/** Settings that are not saved yet, in a form that can be stored. */
export interface UnsavedSettings {
  readonly saved: SettingValues;
  readonly typed: SettingValues;
}

export interface TypedSettings {
  readonly name: Signal<string>;
  readonly color: Signal<string>;
  readonly target: Signal<string>;
  /** Why the settings were not saved; empty if they were. */
  readonly error: Signal<string>;
  /** Undefined if nothing is left to save. */
  readonly unsaved: ReadonlySignal<UnsavedSettings | undefined>;
  /** @returns true if nothing is left to save */
  readonly save: () => Promise<boolean>;
}

/** @param send saves these settings, and throws if they are refused; the typed settings are then kept */
export function createSettings(
  start: UnsavedSettings,
  send: (changes: Partial<SettingValues>) => Promise<void>,
  explain: (cause: unknown) => string,
): TypedSettings {
  const { name, color, target } = start.typed;
  const fields = { name: signal(name), color: signal(color), target: signal(target) };
  const error = signal('');
  const saved = signal(start.saved);
  const typed = computed<SettingValues>(() => ({
    name: fields.name.value.trim(),
    color: fields.color.value,
    target: fields.target.value.trim(),
  }));
  const unsaved = computed(() => {
    const settings = { saved: saved.value, typed: typed.value };
    return listChanged(settings).length > 0 ? settings : undefined;
  });
  let lastSave = Promise.resolve(true);
  const saveTyped = async () => {
    error.value = '';
    for (;;) {
      const pending = unsaved.peek();
      if (!pending) return true;
      try {
        await send(
          Object.fromEntries(listChanged(pending).map((each) => [each, pending.typed[each]])),
        );
      } catch (cause) {
        error.value = explain(cause);
        return false;
      }
      // The person may have typed more meanwhile.
      saved.value = pending.typed;
    }
  };
  return {
    ...{ ...fields, error, unsaved },
    save: () => {
      lastSave = lastSave.then(saveTyped);
      return lastSave;
    },
  };
}

function listChanged({ saved, typed }: UnsavedSettings): readonly (keyof SettingValues)[] {
  return (Object.keys(typed) as (keyof SettingValues)[]).filter(
    (each) => typed[each] !== saved[each],
  );
}
