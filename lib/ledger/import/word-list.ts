/** Splits a list of words or names at its commas; line breaks and spaces around them do not count. */
export function splitList(text: string): string[] {
  return text.split(',').map((word) => word.trim());
}
