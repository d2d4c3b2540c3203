// Saves work on columns with repeated texts: many rows of a statement share their day, currency or state.

/** Derives a value from each distinct text once. */
export function memoizeByText<Value>(derive: (text: string) => Value): (text: string) => Value {
  const valueByText = new Map<string, Value>();
  return (text) => {
    const cachedValue = valueByText.get(text);
    if (cachedValue !== undefined || valueByText.has(text)) return cachedValue as Value;
    const value = derive(text);
    valueByText.set(text, value);
    return value;
  };
}
