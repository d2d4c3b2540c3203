// JSON text that is carried and never read: what is not parsed cannot be changed by parsing.
import { sourceJson } from './json-source.ts';

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

/** JSON of a value that may hold verbatim parts. */
export function writeJson(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (isRecord(value)) return `{${writeMembers(value).join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}

function writeMembers(record: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(record)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${writeJson(value)}`);
}

// A number literal kept by JSON.rawJSON is an object, too, but a leaf.
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !sourceJson.isRawJSON(value);
}
