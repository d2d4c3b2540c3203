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
  const parts: string[] = [];
  collect(value, parts);
  return parts.join('');
}

// Into one list, joined once: a page is megabytes, and every nested join would copy them again.
function collect(value: unknown, parts: string[]): void {
  if (value instanceof Verbatim) parts.push(value.text);
  else if (Array.isArray(value)) collectElements(value, parts);
  else if (isRecord(value)) collectMembers(value, parts);
  else parts.push(JSON.stringify(value) ?? 'null');
}

function collectElements(elements: readonly unknown[], parts: string[]): void {
  let before = '[';
  for (const element of elements) {
    parts.push(before);
    collect(element, parts);
    before = ',';
  }
  parts.push(before === '[' ? '[]' : ']');
}

function collectMembers(record: Readonly<Record<string, unknown>>, parts: string[]): void {
  let before = '{';
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue;
    parts.push(before, JSON.stringify(name), ':');
    collect(value, parts);
    before = ',';
  }
  parts.push(before === '{' ? '{}' : '}');
}

// A number literal kept by JSON.rawJSON is an object, too, but a leaf.
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !sourceJson.isRawJSON(value);
}
