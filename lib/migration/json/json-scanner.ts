// Walks a JSON document once and hands out the texts of its parts, without building values of them.
import { asJsonText, type JsonText } from './json-text.ts';

/** The document is not JSON, or not of the shape that was asked for. */
export class JsonScanError extends Error {
  override readonly name = 'JsonScanError';
}

export type JsonScanner = ReturnType<typeof scanJson>;

// Character codes, compared as numbers: this loop sees every byte that is migrated.
const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = new Set([0x09, 0x0a, 0x0d, 0x20]);

/**
 * A cursor on the document's value. Inside a loop over members or elements the value at hand is read
 * by one call (`text`, `members`, `elements`), or not at all: then it is passed over.
 */
export function scanJson(document: string) {
  let at = afterSpace(document, 0);

  /** The value at the cursor, as it is written. */
  function text<Of = unknown>(): JsonText<Of> {
    const start = at;
    at = endOfValue(document, start);
    return asJsonText<Of>(document.slice(start, at));
  }

  /** Names of an object's members, each with the cursor on its value. */
  function* members<Shape>(): Generator<keyof Shape & string, void, void> {
    for (const _ of items('{', '}')) {
      const end = endOfString(document, at);
      const name = nameOf(document.slice(at, end));
      at = afterSpace(document, end);
      expect(':');
      const value = at;
      yield name as keyof Shape & string;
      if (at === value) at = endOfValue(document, at);
    }
  }

  /** Once for each element of an array, with the cursor on it. */
  function* elements(): Generator<void, void, void> {
    for (const _ of items('[', ']')) {
      const element = at;
      yield;
      if (at === element) at = endOfValue(document, at);
    }
  }

  function* items(open: string, close: string): Generator<void, void, void> {
    expect(open);
    if (document[at] === close) at += 1;
    else {
      for (;;) {
        yield;
        at = afterSpace(document, at);
        if (document[at] !== ',') break;
        expect(',');
      }
      expect(close);
    }
  }

  function expect(sign: string): void {
    if (document[at] !== sign) throw new JsonScanError(`No "${sign}" at ${at} of the document`);
    at = afterSpace(document, at + 1);
  }

  return { text, members, elements };
}

function nameOf(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

function afterSpace(document: string, from: number): number {
  let at = from;
  while (SPACE.has(document.charCodeAt(at))) at += 1;
  return at;
}

function endOfValue(document: string, start: number): number {
  const first = document.charCodeAt(start);
  if (first === QUOTE) return endOfString(document, start);
  if (opens(first)) return endOfNested(document, start);
  const end = endOfLiteral(document, start);
  if (end === start) throw new JsonScanError(`No value at ${start} of the document`);
  return end;
}

function endOfString(document: string, start: number): number {
  if (document.charCodeAt(start) !== QUOTE) throw new JsonScanError(`No string at ${start}`);
  for (let from = start + 1; ; ) {
    const end = document.indexOf('"', from);
    if (end === -1) throw new JsonScanError(`The string at ${start} does not end`);
    if (!isEscaped(document, end)) return end + 1;
    from = end + 1;
  }
}

function isEscaped(document: string, at: number): boolean {
  let backslashes = 0;
  while (document.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

function endOfNested(document: string, start: number): number {
  let depth = 0;
  for (let at = start; at < document.length; at += 1) {
    const code = document.charCodeAt(at);
    if (code === QUOTE) at = endOfString(document, at) - 1;
    else if (opens(code)) depth += 1;
    else if (closes(code)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  throw new JsonScanError(`What opens at ${start} of the document does not close`);
}

function endOfLiteral(document: string, start: number): number {
  let at = start;
  for (; at < document.length; at += 1) {
    const code = document.charCodeAt(at);
    if (code === COMMA || closes(code) || SPACE.has(code)) break;
  }
  return at;
}

function opens(code: number): boolean {
  return code === OPEN_BRACKET || code === OPEN_BRACE;
}

function closes(code: number): boolean {
  return code === CLOSE_BRACKET || code === CLOSE_BRACE;
}
