// Saves work on columns that repeat their texts: a statement has many rows of one day, one currency and one state.

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
