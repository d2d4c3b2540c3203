// JSON that passes through unchanged: as unparsed text, or as values that keep their number literals, such as 10.0, -0 and
// 9007199254740993. Pages of vectors are read by json-scanner.ts, which parses no numbers.
import { randomUUID } from 'node:crypto';

declare const kind: unique symbol;

/** Text of one JSON value, with the type that parsing it would give */
export type JsonText<Value = unknown> = string & { readonly [kind]: Value };

/** Marks text that is known to be JSON. */
export function asJsonText<Value = unknown>(text: string): JsonText<Value> {
  return text as JsonText<Value>;
}

export function toJsonText<Value>(value: Value): JsonText<Value> {
  return asJsonText(JSON.stringify(value));
}

class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Wraps JSON text that `writeJson` inserts unchanged. The wrapper has the type of the value, so that the body that contains it is
 * type-checked like any other.
 */
export function verbatim<Value>(text: JsonText<Value>): Value {
  return new Verbatim(text) as Value;
}

/** Random, so that no input contains it */
const PLACEHOLDER = randomUUID();

/** Writes a value with verbatim parts. All placeholders are replaced in one pass, because a value may have megabytes. */
export function writeJson(value: unknown): string {
  const texts: string[] = [];
  const template = JSON.stringify(value, (_, part: unknown) => {
    if (!(part instanceof Verbatim)) return part;
    texts.push(part.text);
    return PLACEHOLDER;
  });
  const remainingTexts = texts.values();
  return template.replaceAll(`"${PLACEHOLDER}"`, () => remainingTexts.next().value ?? '');
}

interface RawJson {
  readonly rawJSON: string;
}

interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  /** Represents a primitive that is written as this text */
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): value is RawJson;
}

const jsonWithSource: JsonWithSource = JSON as unknown as JsonWithSource;

/**
 * Parses JSON; a number that JavaScript would write differently keeps its literal (`JSON.rawJSON`), which JSON.stringify
 * writes again.
 * @throws SyntaxError if the text is not JSON
 */
export function parseLossless(text: string): unknown {
  return jsonWithSource.parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? jsonWithSource.rawJSON(source)
      : value,
  );
}

/** @returns the same JSON in canonical form, which does not depend on the order of keys; digests are computed from it */
export function canonicalizeJson(text: string): string {
  return canonicalize(parseLossless(text));
}

/** @returns the canonical JSON of a parsed value */
export function canonicalize(value: unknown): string {
  return JSON.stringify(sortKeys(value));
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null || jsonWithSource.isRawJSON(value)) return value;
  const entries = Object.entries(value).sort(([first], [second]) => (first < second ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortKeys(member)]));
}
