// JSON that is carried and never changed: text that is not parsed, and values whose number literals survive (10.0 stays 10.0,
// -0 and 9007199254740993 what they are). A page of vectors goes through json-scanner.ts, which reads no number.
import { randomUUID } from 'node:crypto';

declare const kind: unique symbol;

/** The text of one JSON value. `Of` says what it would be, were it parsed. */
export type JsonText<Of = unknown> = string & { readonly [kind]: Of };

/** Says that a text known to be JSON is JSON. */
export function asJsonText<Of = unknown>(text: string): JsonText<Of> {
  return text as JsonText<Of>;
}

export function toJsonText<Of>(value: Of): JsonText<Of> {
  return asJsonText(JSON.stringify(value));
}

class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Stands for a value inside a body that `writeJson` writes: its text goes in as it is. It wears the
 * type it has once written, so that a body made with it is checked as any other.
 */
export function verbatim<Of>(text: JsonText<Of>): Of {
  return new Verbatim(text) as Of;
}

/** Placeholder that no input contains */
const PLACE = randomUUID();

/** JSON of a value that may hold verbatim parts: a place for each, and then all of them at once, for a page is megabytes. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  const places = JSON.stringify(value, (_, part: unknown) => {
    if (!(part instanceof Verbatim)) return part;
    texts.push(part.text);
    return PLACE;
  });
  const inOrder = texts.values();
  return places.replaceAll(`"${PLACE}"`, () => inOrder.next().value ?? '');
}

interface RawJson {
  readonly rawJSON: string;
}

interface SourceJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  /** Stands for a primitive, and is written as that text. */
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

const sourceJson: SourceJson = JSON as unknown as SourceJson;

/**
 * Parses; a number that JavaScript would write differently is kept as its literal (`JSON.rawJSON`), which JSON.stringify
 * writes again.
 * @throws SyntaxError when the text is not JSON
 */
export function parseLossless(text: string): unknown {
  return sourceJson.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? sourceJson.rawJSON(source)
      : value,
  );
}

/** Canonical text of a value, independent of the order of its keys; digests are computed from it. */
export function canonicalJson(text: string): string {
  return canonical(parseLossless(text));
}

/** The same for a value that was parsed. */
export function canonical(value: unknown): string {
  return JSON.stringify(withSortedKeys(value));
}

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null || sourceJson.isRawJSON(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedKeys(member)]));
}
