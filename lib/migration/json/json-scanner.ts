// Scans a JSON document once and returns the texts of its parts, without building values.
import { asJsonText, type JsonText } from './json-text.ts';

/** The document is not JSON, or has another shape than expected. */
export class JsonScanError extends Error {
  override readonly name = 'JsonScanError';
}

export type JsonScanner = ReturnType<typeof scanJson>;

// Sticky patterns match only at `lastIndex`. Every migrated byte is scanned here, and regular expressions are fast.
const SPACE = /[\t\n\r ]*/y;
const LITERAL = /[^,\]}\t\n\r ]*/y;
const NESTING = /["[\]{}]/g;

/**
 * Creates a cursor on the document's value. In a loop over members or elements, read the current value with one call (`text`,
 * `texts`, `members`, `list`), or skip it by reading nothing.
 */
export function scanJson(document: string) {
  let at = skipSpace(document, 0);

  /** Reads the text of the value at the cursor. */
  function text<Of = unknown>(): JsonText<Of> {
    const start = at;
    at = findValueEnd(document, start);
    return asJsonText<Of>(document.slice(start, at));
  }

  /** Yields the names of an object's members, each with the cursor on its value. */
  function* members<Shape>(): Generator<keyof Shape & string, void, void> {
    for (const _ of items('{', '}')) {
      const end = findStringEnd(document, at);
      const name = parseName(document.slice(at, end));
      at = skipSpace(document, end);
      expect(':');
      const value = at;
      yield name as keyof Shape & string;
      if (at === value) at = findValueEnd(document, at);
    }
  }

  /** Reads the texts of all members of an object, by name. */
  function texts<Shape = Record<string, unknown>>(): Partial<Record<keyof Shape, JsonText>> {
    const found: [string, JsonText][] = [];
    for (const name of members()) found.push([name, text()]);
    return Object.fromEntries(found) as Partial<Record<keyof Shape, JsonText>>;
  }

  /** @param read is called with the cursor on each element of an array */
  function list<Item>(read: () => Item): Item[] {
    const found: Item[] = [];
    for (const _ of items('[', ']')) {
      const element = at;
      found.push(read());
      if (at === element) at = findValueEnd(document, at);
    }
    return found;
  }

  function* items(open: string, close: string): Generator<void, void, void> {
    expect(open);
    if (document[at] === close) at += 1;
    else {
      for (;;) {
        yield;
        at = skipSpace(document, at);
        if (document[at] !== ',') break;
        expect(',');
      }
      expect(close);
    }
  }

  function expect(sign: string): void {
    if (document[at] !== sign) throw new JsonScanError(`No "${sign}" at ${at} of the document`);
    at = skipSpace(document, at + 1);
  }

  return { text, texts, members, list };
}

function parseName(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function skipSpace(document: string, from: number): number {
  return findEnd(SPACE, document, from);
}

function findEnd(pattern: RegExp, document: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(document);
  return pattern.lastIndex;
}

function findValueEnd(document: string, start: number): number {
  const first = document[start];
  if (first === '"') return findStringEnd(document, start);
  if (first === '[' || first === '{') return findNestedEnd(document, start);
  const end = findEnd(LITERAL, document, start);
  if (end === start) throw new JsonScanError(`No value at ${start} of the document`);
  return end;
}

function findStringEnd(document: string, start: number): number {
  if (document[start] !== '"') throw new JsonScanError(`No string at ${start}`);
  for (let from = start + 1; ; ) {
    const end = document.indexOf('"', from);
    if (end === -1) throw new JsonScanError(`The string at ${start} does not end`);
    if (!isEscaped(document, end)) return end + 1;
    from = end + 1;
  }
}

function isEscaped(document: string, at: number): boolean {
  let backslashes = 0;
  while (document[at - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function findNestedEnd(document: string, start: number): number {
  let depth = 0;
  for (let at = findEnd(NESTING, document, start); at > 0; at = findEnd(NESTING, document, at)) {
    const sign = document[at - 1];
    if (sign === '"') at = findStringEnd(document, at - 1);
    else if (sign === '[' || sign === '{') depth += 1;
    else depth -= 1;
    if (depth === 0) return at;
  }
  throw new JsonScanError(`The value at ${start} of the document does not end`);
}
