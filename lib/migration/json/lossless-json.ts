// JSON values whose number literals survive: 10.0 stays 10.0, -0 and 9007199254740993 what they are.
// For payloads. A page of vectors goes through json-scanner.ts, which is some ten times as fast on numbers.
import { sourceJson } from './json-source.ts';

/**
 * Parses; a number that JavaScript would write differently is kept as its literal (`JSON.rawJSON`).
 * @throws SyntaxError when the text is not JSON
 */
export function parseLossless(text: string): unknown {
  return sourceJson.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? sourceJson.rawJSON(source)
      : value,
  );
}

/** The same text again, but for white space, string escapes and the order of integer-like keys. */
export function stringifyLossless(value: unknown): string {
  return JSON.stringify(value);
}

/** One text for one value, whatever the order of its keys: what a digest is made of. */
export function canonicalJson(text: string): string {
  return JSON.stringify(withSortedKeys(parseLossless(text)));
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null || sourceJson.isRawJSON(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedKeys(member)]));
}
