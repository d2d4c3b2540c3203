// Scans a JSON document once and returns the text of its parts, without parsing their values.
import { asJsonText, type JsonText } from './json-text.ts';

/** Thrown for a document that is not JSON, or not of the expected shape */
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
  let position = skipSpace(document, 0);

  /** Reads the text of the value at the cursor. */
  function text<Value = unknown>(): JsonText<Value> {
    const start = position;
    position = findValueEnd(document, start);
    return asJsonText<Value>(document.slice(start, position));
  }

  /** Yields the names of an object's members, each with the cursor on its value. */
  function* members<Shape>(): Generator<keyof Shape & string, void, void> {
    for (const _ of iterateItems('{', '}')) {
      const end = findStringEnd(document, position);
      const name = parseName(document.slice(position, end));
      position = skipSpace(document, end);
      expect(':');
      const valueStart = position;
      yield name as keyof Shape & string;
      if (position === valueStart) position = findValueEnd(document, position);
    }
  }

  /** Reads the texts of all members of an object, by name. */
  function texts<Shape = Record<string, unknown>>(): Partial<Record<keyof Shape, JsonText>> {
    const entries: [string, JsonText][] = [];
    for (const name of members()) entries.push([name, text()]);
    return Object.fromEntries(entries) as Partial<Record<keyof Shape, JsonText>>;
  }

  /** @param read is called with the cursor on each element of an array */
  function list<Item>(read: () => Item): Item[] {
    const results: Item[] = [];
    for (const _ of iterateItems('[', ']')) {
      const elementStart = position;
      results.push(read());
      if (position === elementStart) position = findValueEnd(document, position);
    }
    return results;
  }

  function* iterateItems(open: string, close: string): Generator<void, void, void> {
    expect(open);
    if (document[position] === close) position += 1;
    else {
      for (;;) {
        yield;
        position = skipSpace(document, position);
        if (document[position] !== ',') break;
        expect(',');
      }
      expect(close);
    }
  }

  function expect(character: string): void {
    if (document[position] !== character)
      throw new JsonScanError(`No "${character}" at ${position} of the document`);
    position = skipSpace(document, position + 1);
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

function isEscaped(document: string, position: number): boolean {
  let backslashes = 0;
  while (document[position - 1 - backslashes] === '\\') backslashes += 1;
  return backslashes % 2 === 1;
}

function findNestedEnd(document: string, start: number): number {
  let depth = 0;
  for (
    let position = findEnd(NESTING, document, start);
    position > 0;
    position = findEnd(NESTING, document, position)
  ) {
    const character = document[position - 1];
    if (character === '"') position = findStringEnd(document, position - 1);
    else if (character === '[' || character === '{') depth += 1;
    else depth -= 1;
    if (depth === 0) return position;
  }
  throw new JsonScanError(`The value at ${start} of the document does not end`);
}
