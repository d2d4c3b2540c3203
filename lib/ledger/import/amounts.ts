// Reads amounts as banks write them: with digits grouped in any way, a currency, a sign on either side, or a word for the direction.
import { isCurrencyCode, mayBeSameCurrency } from './currencies.ts';
import { type Direction, findDirection } from './direction-words.ts';

export const DECIMAL_SEPARATORS = ['point', 'comma'] as const;
export type DecimalSeparator = (typeof DECIMAL_SEPARATORS)[number];

/**
 * The numbers that each decimal separator allows. All groups of a number have the same separator; a group has three digits, or two
 * before the last three as in India. Decimals after the second must be zeros. A text that fits both patterns has the same value
 * in both, so a wrong guess refuses an amount instead of scaling it.
 */
const NUMBER_PATTERNS = {
  point:
    /^(?:([1-9]\d{0,2}(?:([,'’\s])\d{3}(?:\2\d{3})*)?|[1-9]\d?(?:,\d\d)*,\d{3}|\d+)(?:\.(\d{1,2}|\d{2}00+))?|\.(\d{1,2}|\d{2}00+))$/,
  comma:
    /^(?:([1-9]\d{0,2}(?:([.'’\s])\d{3}(?:\2\d{3})*)?|\d+)(?:,(\d{1,2}|\d{2}00+))?|,(\d{1,2}|\d{2}00+))$/,
};
/** Longer texts are not read as amounts. */
export const MAX_AMOUNT_LENGTH = 48;
const EMPTY = /^\s*\p{Sc}?[-–—−\s]*$/u;
const SIGN = /^[-+−–]/;
const CURRENCY_SIGN =
  /^(?:\p{Sc}|(?:[\p{L}$]{1,4}\.?|R\$|[A-Z]{1,3}\$)(?![\p{L}]))\s*|\s*(?:\p{Sc}|\p{L}{1,4}\.?)$/u;

export interface ParsedAmount {
  readonly signed: number;
  /** Direction given by a word beside the number, such as DR. */
  readonly direction: Direction | null;
  /** Currency code or symbol beside the number, if any. */
  readonly currency: string | null;
}

/** True for an empty cell. Banks also write a dash for it, with or without a currency sign. */
export function isEmptyAmount(text: string | null | undefined): boolean {
  return text == null || EMPTY.test(text.slice(0, MAX_AMOUNT_LENGTH));
}

/** @throws Error if the text is not an amount with this decimal separator */
export function readAmount(text: string, decimal: DecimalSeparator): ParsedAmount {
  if (isRounded(text))
    throw new Error(`"${text.trim()}" is a rounded amount. Write the whole number in the file`);
  const parts = text.length > MAX_AMOUNT_LENGTH ? undefined : stripAmount(text);
  const number = parts && readNumber(parts.digits, decimal);
  if (parts && number !== undefined) {
    const { isNegative, direction, currency } = parts;
    // Subtracting from 0 never gives -0.
    return { signed: isNegative ? 0 - number : number, direction, currency };
  }
  const quotedText = `"${text.slice(0, MAX_AMOUNT_LENGTH)}"`;
  const [, separator] = /([.,])\d{3,}\D{0,8}$/.exec(text.slice(-MAX_AMOUNT_LENGTH)) ?? [];
  if (separator === (decimal === 'comma' ? ',' : '.'))
    throw new Error(
      `${quotedText} has more than two decimals, and a ledger keeps only two; if they are thousands, choose --decimal ${decimal === 'comma' ? 'point' : 'comma'}`,
    );
  throw new Error(`${quotedText} is not an amount with a decimal ${decimal} (--decimal sets it)`);
}

/** A number with a unit such as thousands or millions, in several languages. */
const SCALE =
  /\d\s*(?:[kmbl]|mm|bn|mn|mio|mrd|tsd|mil|mln|tys|lakh|jt|juta|rb|ribu|тыс|тис|млн|[千万萬億亿천만억])\.?$/iu;
/** An exact amount: with cents before a single letter, or before MN (the national currency in Mexico and Cuba). */
const WITH_CENTS = /[.,]\d\d\s+(?:\p{L}|MN)$/u;

function isRounded(text: string): boolean {
  if (/\d$/.test(text)) return false;
  const end = text.slice(-MAX_AMOUNT_LENGTH).trim();
  return SCALE.test(end) && !WITH_CENTS.test(end);
}

/** The digits of an amount, and the facts from the signs and words around them. */
interface StrippedAmount extends Omit<ParsedAmount, 'signed'> {
  readonly digits: string;
  readonly isNegative: boolean;
}

function stripAmount(source: string): StrippedAmount | undefined {
  let text = source.normalize('NFKC').trim().replace(/^'/, '');
  let isNegative = false;
  let signs = 0;
  let words: Words | undefined = { direction: null, currency: null };
  const takeSign = (sign: string) => {
    signs += 1;
    if (sign !== '+') isNegative = true;
  };
  // The sign and the currency may come in any order, on either side of the number.
  for (let turn = 0; turn < 5 && !/^[\d.,].*\d$|^\d$/.test(text); turn += 1) {
    if (text.startsWith('(') && text.endsWith(')')) {
      takeSign('-');
      text = text.slice(1, -1).trim();
      continue;
    }
    if (SIGN.test(text)) {
      takeSign(text.slice(0, 1));
      text = text.slice(1).trim();
      continue;
    }
    if (/\d\s*[-−+]$/.test(text)) {
      takeSign(text.slice(-1));
      text = text.slice(0, -1).trim();
      continue;
    }
    const [word] = CURRENCY_SIGN.exec(text) ?? [];
    words = word === undefined ? undefined : addWord(words, word.trim(), /\d$/.test(text));
    if (word === undefined || words === undefined) return undefined;
    text = (text.startsWith(word) ? text.slice(word.length) : text.slice(0, -word.length)).trim();
  }
  return signs > 1 ? undefined : { digits: text, isNegative, ...words };
}

type Words = Pick<ParsedAmount, 'direction' | 'currency'>;

/** @returns undefined for a second currency */
function addWord(
  { direction, currency }: Words,
  word: string,
  isPrefix: boolean,
): Words | undefined {
  // A single letter before a number is a currency, not a direction such as C or D.
  const directionOfWord = isPrefix && word.length < 2 ? undefined : findDirection(word);
  if (directionOfWord) return { direction: directionOfWord, currency };
  if (currency === null) return { direction, currency: word };
  if (!mayBeSameCurrency(currency, word)) return undefined;
  // A code is more exact than a symbol: "$5.00 USD" is in USD.
  return { direction, currency: isCurrencyCode(currency) ? currency : word };
}

function readNumber(digits: string, decimal: DecimalSeparator): number | undefined {
  const match = NUMBER_PATTERNS[decimal].exec(digits);
  if (!match) return undefined;
  const [, whole = '0', , cents, onlyCents = '0'] = match;
  return Number(`${whole.replace(/\D/g, '')}.${cents ?? onlyCents}`);
}

const THIRD_DECIMAL = /([.,])(\d\d)0(?=\D{0,8}$)/;

/** Finds the separator before the last three digits if they end in a zero, as in "25,500": they may be three decimals. */
export function findThirdDecimal(text: string): string | undefined {
  return THIRD_DECIMAL.exec(text)?.[1];
}

export function dropThirdDecimal(text: string): string {
  return text.replace(THIRD_DECIMAL, '$1$2');
}

/** True if a cell can be an amount of money with either decimal separator. */
export function looksLikeAmount(text: string): boolean {
  if (text.length > MAX_AMOUNT_LENGTH || !/\d/.test(text)) return false;
  return isNumber(text) || (THIRD_DECIMAL.test(text) && isNumber(dropThirdDecimal(text)));
}

function isNumber(text: string): boolean {
  const parts = stripAmount(text);
  return (
    parts !== undefined &&
    DECIMAL_SEPARATORS.some((decimal) => NUMBER_PATTERNS[decimal].test(parts.digits))
  );
}
