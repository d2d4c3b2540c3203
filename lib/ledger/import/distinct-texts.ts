// Saves work on columns with repeated texts: many rows of a statement share their day, currency or state.

/** Derives a value from each distinct text once. */
export function derivePerText<Value>(derive: (text: string) => Value): (text: string) => Value {
  const derived = new Map<string, Value>();
  return (text) => {
    const known = derived.get(text);
    if (known !== undefined || derived.has(text)) return known as Value;
    const value = derive(text);
    derived.set(text, value);
    return value;
  };
}
