// Finds what JSON.parse would silently lose: digits of a number, and the first of two values with the same name. Also finds
// nesting that would exhaust the stack of JSON.parse.
import { hasAtMostTwoDecimals } from '../domain/money.ts';
import { ValidationError } from '../errors.ts';

/** Bodies of this API have at most four levels. Recursion to this depth fits into the stack. */
const MAX_DEPTH = 512;
const MAX_SHOWN_CHARACTERS = 100;
const BEYOND_DOUBLES = '1e999';
/** A double represents every integer with fewer digits exactly. */
const MIN_LOST_DIGITS = 16;
/** An integer with more digits may be infinite as a double, and BigInt refuses infinity. */
const MAX_DOUBLE_DIGITS = 308;

/** A name with its colon, a string, a bracket, or a number. */
const TOKENS = /("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{}]|[^\s,:"[\]{}]+/gs;
const INTEGER = /^-?[1-9]\d*$/;
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;

/**
 * Replaces each number that would change as a double with a number that no field accepts. A decimal becomes the smallest double:
 * it has more decimals than any field may have. An integer becomes a number above all doubles, so that no response names an id
 * that the client did not send. A reviver cannot do this, because middy's parser does not pass it the source of a number.
 * @throws ValidationError for a value that is nested too deeply, and for an object that has the same name twice
 */
export function replaceLossyNumbers(json: string): string {
  const names: Set<string>[] = [];
  return json.replace(TOKENS, (token, name?: string) => {
    const first = token[0] ?? '';
    if (name !== undefined) addName(names.at(-1), name);
    else if ('{['.includes(first)) names.push(new Set());
    else if ('}]'.includes(first)) names.pop();
    else if (first !== '"') return replaceIfLossy(token);
    if (names.length > MAX_DEPTH) throw createDepthError();
    return token;
  });
}

function addName(names: Set<string> | undefined, quotedName: string): void {
  const name = quotedName.includes('\\') ? unquote(quotedName) : quotedName.slice(1, -1);
  if (names?.has(name)) throw createRepeatedKeyError(name);
  names?.add(name);
}

/** Decodes a quoted name. Returns an invalid name unchanged, because the parser will refuse it. */
function unquote(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    return text;
  }
}

function replaceIfLossy(token: string): string {
  if (wouldLoseDigits(token)) return `${readMinusSign(token)}${BEYOND_DOUBLES}`;
  return wouldLoseDecimals(token) ? `${readMinusSign(token)}${Number.MIN_VALUE}` : token;
}

function readMinusSign(number: string): string {
  return number.startsWith('-') ? '-' : '';
}

/** True for an integer in plain digits that no double represents exactly. */
function wouldLoseDigits(text: string): boolean {
  if (text.length < MIN_LOST_DIGITS || !INTEGER.test(text)) return false;
  return text.length > MAX_DOUBLE_DIGITS || BigInt(Number(text)) !== BigInt(text);
}

/** True for a number with more than two decimals that a double would round to two. */
function wouldLoseDecimals(text: string): boolean {
  const [, , whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined || !hasAtMostTwoDecimals(Number(text))) return false;
  const digits = whole + fraction;
  // A regular expression would take quadratic time for many zeros.
  let lastIndex = digits.length - 1;
  while (digits[lastIndex] === '0') lastIndex -= 1;
  return lastIndex >= 0 && lastIndex + 1 - whole.length - Number(exponent) > 2;
}

function createDepthError() {
  return new ValidationError(`The request body is nested more than ${MAX_DEPTH} levels deep`);
}

function createRepeatedKeyError(name: string) {
  const shortName = JSON.stringify(name.slice(0, MAX_SHOWN_CHARACTERS));
  return new ValidationError(`The request body must not have the key ${shortName} twice`);
}
