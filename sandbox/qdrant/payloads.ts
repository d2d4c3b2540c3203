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
export function formatPayload(payload: PayloadBytes, keys: true | readonly string[]): string {
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
export function mergeMembers(payload: PayloadBytes, members: PayloadBytes): PayloadBytes {
  const texts = new Map<string, string>();
  for (const text of [payload, members]) {
    const scanner = scanJson(text.toString());
    for (const name of scanner.members()) texts.set(name, scanner.text());
  }
  const merged = [...texts].map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return Buffer.from(`{${merged.join(',')}}`);
}

// Caches parsed payloads: a payload never changes, and a filtered search looks into every payload.
const parsedPayloads = new WeakMap<PayloadBytes, unknown>();

/** Returns every value at a dotted path; an array stands for each of its elements. */
export function readValues(payload: PayloadBytes, path: string): unknown[] {
  const values: unknown[] = [];
  collect(values, parse(payload), path.split('.'));
  return values;
}

function parse(payload: PayloadBytes): unknown {
  const cached = parsedPayloads.get(payload);
  if (cached !== undefined) return cached;
  const value = JSON.parse(payload.toString());
  parsedPayloads.set(payload, value);
  return value;
}

// Builds no intermediate lists: a filtered search calls this for every point of a collection.
function collect(found: unknown[], value: unknown, path: readonly string[], depth = 0): void {
  const name = path[depth];
  if (Array.isArray(value)) {
    if (name === undefined) found.push(...value);
    else for (const element of value) collect(found, element, path, depth);
  } else if (name === undefined) {
    found.push(value);
  } else if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
    collect(found, (value as Readonly<Record<string, unknown>>)[name], path, depth + 1);
  }
}
