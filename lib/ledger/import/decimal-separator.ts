// Decides which decimal separator a file's amounts use, and whether they have a third decimal to drop. If every amount has three
// digits after its only separator, the user is asked: "1,234" may be a thousand, or little more than one.
import {
  type DecimalSeparator,
  dropThirdDecimal,
  findThirdDecimal,
  isEmptyAmount,
  MAX_AMOUNT_LENGTH,
} from './amounts.ts';
import type { Question } from './entry.ts';

export interface DecimalEvidence {
  /** Cells with the amounts to import. */
  readonly amountCells: readonly string[];
  /** Cells with balances and fees, which decide if the amounts do not. */
  readonly otherCells: readonly string[];
  /** Headers and cells that may name the currency. */
  readonly currencyTexts: readonly string[];
  /** Other texts that the bank wrote: their language may be that of a currency without decimals. */
  readonly bankTexts?: readonly string[];
  readonly chosenSeparator: DecimalSeparator | undefined;
}

export interface DecimalDecision {
  readonly decimal: DecimalSeparator;
  /** Drops a third decimal if the file writes one. */
  readonly trim: (amount: string) => string;
  /** Asks for the separator if the file does not show it. */
  readonly question?: Question;
}

export function decideDecimals(evidence: DecimalEvidence): DecimalDecision {
  const { amountCells, otherCells, currencyTexts, bankTexts = [], chosenSeparator } = evidence;
  const minorDigits = findMinorDigits([...currencyTexts, ...bankTexts.filter(usesWholeUnits)]);
  const trim = createDecimalTrimmer([...amountCells, ...otherCells], {
    chosenSeparator,
    minorDigits,
  });
  const trimmedAmounts = amountCells.map(trim);
  const knownSeparator =
    chosenSeparator ??
    findDecimalSeparator(trimmedAmounts) ??
    findSeparatorOutsideGroups(trimmedAmounts) ??
    findDecimalSeparator(otherCells.map(trim));
  if (knownSeparator !== undefined) return { decimal: knownSeparator, trim };
  const [example, separator] =
    trimmedAmounts.map((amount) => ONE_GROUP.exec(amount)).find((match) => match !== null) ?? [];
  if (example === undefined) return { decimal: 'point', trim };
  const decimalIfThousands = separator === ',' ? 'point' : 'comma';
  const decimal =
    minorDigits === 3 ? (decimalIfThousands === 'point' ? 'comma' : 'point') : decimalIfThousands;
  return minorDigits === 2
    ? { decimal, trim, question: askForSeparator(example, decimal) }
    : { decimal, trim };
}

function askForSeparator(example: string, decimalIfThousands: DecimalSeparator): Question {
  const decimal = decimalIfThousands === 'point' ? 'comma' : 'point';
  return {
    topic: 'decimal',
    message: `"${example.trim()}" may be thousands or have three decimals, and no other amount shows which. Choose --decimal ${decimalIfThousands} if it is thousands, or --decimal ${decimal}.`,
  };
}

/**
 * Finds the separator before the last one or two digits of most amounts. If there is none, and groups have a separator, the
 * other one separates the decimals.
 */
export function findDecimalSeparator(amounts: readonly string[]): DecimalSeparator | undefined {
  let commas = 0;
  for (const amount of amounts) {
    const [, separator] = /([.,])\d{1,2}\D{0,8}$/.exec(amount.slice(-MAX_AMOUNT_LENGTH)) ?? [];
    if (separator !== undefined) commas += separator === ',' ? 1 : -1;
  }
  if (commas !== 0) return commas > 0 ? 'comma' : 'point';
  const [, group] = amounts.map((amount) => SEVERAL_GROUPS.exec(amount)).find(Boolean) ?? [];
  if (group === undefined) return undefined;
  return group === '.' ? 'comma' : 'point';
}

const SEVERAL_GROUPS = /^\D{0,8}\d{1,3}([.,])\d{3}\1\d{3}(?!\d)/;
const ONE_GROUP = /^\D{0,8}[1-9]\d{0,2}([.,])\d{3}\D{0,8}$/;
/**
 * Amounts whose last three digits cannot be a group: more than three digits before the separator, a leading zero, or another
 * separator between groups.
 */
const NO_GROUP = /(?:\d{4}|^\D{0,8}0|\d['’\s]\d{3}|\.\d{3}(?=,)|,\d{3}(?=\.))([.,])\d{3}\D{0,8}$/;

function findSeparatorOutsideGroups(amounts: readonly string[]): DecimalSeparator | undefined {
  const [, separator] = amounts.map((amount) => NO_GROUP.exec(amount)).find(Boolean) ?? [];
  if (separator === undefined) return undefined;
  return separator === ',' ? 'comma' : 'point';
}

/**
 * Some banks write three decimals, the last of which is a zero. But "25,500" may also be 25,500 whole units: the zero is
 * dropped only if the currency, the user's choice or another amount of the file shows that decimals follow the separator.
 */
function createDecimalTrimmer(
  cells: readonly string[],
  {
    chosenSeparator,
    minorDigits,
  }: { readonly chosenSeparator: DecimalSeparator | undefined; readonly minorDigits: number },
): (text: string) => string {
  const filledCells = cells.filter((text) => !isEmptyAmount(text));
  if (minorDigits === 3 && chosenSeparator === undefined) return dropThirdDecimal;
  const separator = findThirdDecimal(filledCells[0] ?? '');
  const isSeparatorUniform =
    separator !== undefined && filledCells.every((text) => findThirdDecimal(text) === separator);
  const isSeparatorChosen =
    chosenSeparator !== undefined && separator === (chosenSeparator === 'comma' ? ',' : '.');
  const canDropThirdDecimal =
    isSeparatorUniform && (isSeparatorChosen || filledCells.some((text) => NO_GROUP.test(text)));
  return canDropThirdDecimal ? dropThirdDecimal : (text) => text;
}

const CURRENCY_CODE = /(?<![\p{L}\p{N}])[A-Z]{3}(?![\p{L}\p{N}])/gu;
const CURRENCY_CODES = new Set(Intl.supportedValuesOf('currency'));
/** Currencies that have decimals in ISO 4217, although their banks write none. */
const WHOLE_UNIT_CURRENCIES = new Set(['IDR', 'HUF', 'COP', 'CRC', 'LAK', 'MMK', 'IRR']);
/** Symbols and words of currencies and languages without decimals: yen, won, dong, rupiah. */
const WHOLE_UNIT_TEXTS =
  /[円₩₫원ơưạảấầậắằặẹếềệịọốồộớờợụứừự]|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|年月日|日付|取引日|利用日|(?<!\p{L})tanggal(?!\p{L})/iu;
/** Case matters here: FT, for example, is another word. */
const WHOLE_UNIT_SIGNS = /(?<!\p{L})(?:Rp|Ft)(?!\p{L})/u;

function usesWholeUnits(text: string): boolean {
  if (text.length > MAX_TEXT_LENGTH) return false;
  return WHOLE_UNIT_TEXTS.test(text) || WHOLE_UNIT_SIGNS.test(text);
}

/** Finds the number of decimals in the file's currency: 2 if it names none, or several with different numbers. */
function findMinorDigits(texts: readonly string[]): number {
  const digitCounts = new Set<number>();
  const relevantTexts = texts.filter(
    (text) => text.length <= MAX_TEXT_LENGTH && !BARE_NUMBER.test(text),
  );
  for (const text of new Set(relevantTexts)) {
    if (usesWholeUnits(text)) digitCounts.add(0);
    for (const [code] of text.matchAll(CURRENCY_CODE))
      if (CURRENCY_CODES.has(code)) digitCounts.add(countDecimals(code));
  }
  const [onlyCount = 2, ...otherCounts] = digitCounts;
  return otherCounts.length > 0 ? 2 : onlyCount;
}

const MAX_TEXT_LENGTH = 80;
/** A plain number, which names no currency. */
const BARE_NUMBER = /^[-+\d.,]*$/;

function countDecimals(currency: string): number {
  if (WHOLE_UNIT_CURRENCIES.has(currency)) return 0;
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return maximumFractionDigits;
}
