// Record ids: positive integers, assigned by the ledger.

/** The id a path segment stands for, or undefined where the text is not a canonical positive integer (`0`, `007`, `1.5`). */
export function canonicalId(text: string): number | undefined {
  if (!/^[1-9]\d{0,15}$/.test(text)) return undefined;
  const id = Number(text);
  return isAssignableId(id) ? id : undefined;
}

/** Whether a record could have been given this id at all. */
export function isAssignableId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}
