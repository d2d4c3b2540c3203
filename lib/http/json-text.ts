// What JSON.parse would lose of a JSON text, or run out of stack on: digits, the first of two values with one name, depth.
import { hasAtMostTwoDecimals } from '../domain/money.ts';
import { ValidationError } from '../errors.ts';

/** No body of ours has more than four, and no function that follows a value down runs out of stack. */
const MAX_DEPTH = 512;
const MOST_SHOWN = 100;

/** A name with its colon, a string, a bracket, or a number. */
const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]|[^\s,:"[\]{}]+/gs;
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * The same JSON, except that a number whose decimals a double does not keep is the smallest double: that, too, has more
 * decimals than any amount or id may have.
 * @throws ValidationError for a value that is nested too deep, and for an object that has a name twice
 */
export function withoutLoss(json: string): string {
  const names: Set<string>[] = [];
  return json.replace(TOKENS, (token, name?: string) => {
    const first = token[0] ?? '';
    if (name !== undefined) addName(names.at(-1), name);
    else if ('{['.includes(first)) names.push(new Set());
    else if ('}]'.includes(first)) names.pop();
    else if (first !== '"') return losesDecimals(token) ? smallest(token) : token;
    if (names.length > MAX_DEPTH) throw tooDeep();
    return token;
  });
}

function addName(names: Set<string> | undefined, quoted: string): void {
  const name = quoted.includes('\\') ? unquoted(quoted) : quoted.slice(1, -1);
  if (names?.has(name)) throw repeated(name);
  names?.add(name);
}

/** What is no string stays as it is: the parser refuses it. */
function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

/** Whether the number has more than two decimals, and a double says that it has not. */
function losesDecimals(text: string): boolean {
  const [, , whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined || !hasAtMostTwoDecimals(Number(text))) return false;
  const digits = whole + fraction;
  // Not by a pattern: that would take a time of the square of the zeros.
  let last = digits.length - 1;
  while (digits[last] === '0') last -= 1;
  return last >= 0 && last + 1 - whole.length - Number(exponent) > 2;
}

function smallest(number: string): string {
  return `${number.startsWith('-') ? '-' : ''}${Number.MIN_VALUE}`;
}

function tooDeep() {
  return new ValidationError(`The request body is nested more than ${MAX_DEPTH} levels deep`);
}

function repeated(name: string) {
  const shown = JSON.stringify(name.slice(0, MOST_SHOWN));
  return new ValidationError(`The request body must not have the key ${shown} twice`);
}
