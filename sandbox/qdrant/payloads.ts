// Payloads are kept as the JSON text that was sent; only filters and facets look inside.
import { scanJson } from '../../lib/migration/json/json-scanner.ts';
import { malformed } from './refusal.ts';

/** The JSON text as UTF-8. */
export type PayloadBytes = Buffer;

const EMPTY = Buffer.from('{}');

export function toPayload(text: string | undefined): PayloadBytes {
  if (text === undefined || text === 'null' || text === '{}') return EMPTY;
  if (!text.startsWith('{')) throw malformed('a payload is an object');
  return Buffer.from(text);
}

/** Returns the whole JSON text, or only the members with these names. */
export function payloadText(payload: PayloadBytes, keys: true | readonly string[]): string {
  const text = payload.toString();
  if (keys === true) return text;
  const scanner = scanJson(text);
  const chosen: string[] = [];
  for (const name of scanner.members()) {
    if (keys.includes(name)) chosen.push(`${JSON.stringify(name)}:${scanner.text()}`);
  }
  return `{${chosen.join(',')}}`;
}

/** Merges members into a payload: replaces those with the same name, and adds the others. */
export function withMembers(payload: PayloadBytes, members: PayloadBytes): PayloadBytes {
  const texts = new Map<string, string>();
  for (const text of [payload, members]) {
    const scanner = scanJson(text.toString());
    for (const name of scanner.members()) texts.set(name, scanner.text());
  }
  const merged = [...texts].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return Buffer.from(`{${merged.join(',')}}`);
}

// Caches parsed payloads: a payload never changes, and a filtered search looks into every payload.
const parsed = new WeakMap<PayloadBytes, unknown>();

/** Returns every value at a dotted path; an array stands for each of its elements. */
export function valuesAt(payload: PayloadBytes, path: string): unknown[] {
  if (!parsed.has(payload)) parsed.set(payload, JSON.parse(payload.toString()));
  const start: unknown[] = [parsed.get(payload)];
  return path
    .split('.')
    .reduce((values, name) => values.flatMap((value) => readMember(value, name)), start)
    .flatMap((value) => (Array.isArray(value) ? value : [value]));
}

function readMember(value: unknown, name: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((element) => readMember(element, name));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  return [(value as Readonly<Record<string, unknown>>)[name]];
}
