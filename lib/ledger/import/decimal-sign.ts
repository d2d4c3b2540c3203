// Decides which sign separates the decimals of a file's amounts, and whether they have a third decimal to drop. If every amount
// has three digits after its only sign, the user is asked: "1,234" may be a thousand, or little more than one.
import {
  type DecimalSign,
  dropThirdDecimal,
  findThirdDecimal,
  isEmptyAmount,
  MAX_AMOUNT_LENGTH,
} from './amounts.ts';
import type { Question } from './booking.ts';

export interface DecimalEvidence {
  /** Cells of the amounts that are imported. */
  readonly amounts: readonly string[];
  /** Cells of balances and fees, which decide if the amounts do not. */
  readonly others: readonly string[];
  /** Headers and cells that may name the currency. */
  readonly texts: readonly string[];
  /** Other texts that the bank wrote: their language may be that of a currency without decimals. */
  readonly bankTexts?: readonly string[];
  readonly chosen: DecimalSign | undefined;
}

export interface FoundDecimals {
  readonly decimal: DecimalSign;
  /** Drops a third decimal if the file writes one. */
  readonly trim: (amount: string) => string;
  /** Asks for the sign if the file does not show it. */
  readonly question?: Question;
}

export function findDecimals(evidence: DecimalEvidence): FoundDecimals {
  const { amounts, others, texts, bankTexts = [], chosen } = evidence;
  const digits = findMinorDigits([...texts, ...bankTexts.filter(usesWholeUnits)]);
  const trim = createDecimalTrimmer([...amounts, ...others], { chosen, digits });
  const written = amounts.map(trim);
  const known =
    chosen ??
    findDecimalSign(written) ??
    findProvenSign(written) ??
    findDecimalSign(others.map(trim));
  if (known !== undefined) return { decimal: known, trim };
  const [example, sign] =
    written.map((amount) => ONE_GROUP.exec(amount)).find((match) => match !== null) ?? [];
  if (example === undefined) return { decimal: 'point', trim };
  const group = sign === ',' ? 'point' : 'comma';
  const decimal = digits === 3 ? (group === 'point' ? 'comma' : 'point') : group;
  return digits === 2
    ? { decimal, trim, question: askForSign(example, decimal) }
    : { decimal, trim };
}

function askForSign(example: string, group: DecimalSign): Question {
  const decimal = group === 'point' ? 'comma' : 'point';
  return {
    topic: 'decimal',
    message: `"${example.trim()}" may be thousands or have three decimals, and no other amount shows which. Choose --decimal ${group} if it is thousands, or --decimal ${decimal}.`,
  };
}

/** Finds the sign before the last one or two digits of most amounts; failing that, the other sign than that between groups. */
export function findDecimalSign(amounts: readonly string[]): DecimalSign | undefined {
  let commas = 0;
  for (const amount of amounts) {
    const [, sign] = /([.,])\d{1,2}\D{0,8}$/.exec(amount.slice(-MAX_AMOUNT_LENGTH)) ?? [];
    if (sign !== undefined) commas += sign === ',' ? 1 : -1;
  }
  if (commas !== 0) return commas > 0 ? 'comma' : 'point';
  const [, group] = amounts.map((amount) => SEVERAL_GROUPS.exec(amount)).find(Boolean) ?? [];
  if (group === undefined) return undefined;
  return group === '.' ? 'comma' : 'point';
}

const SEVERAL_GROUPS = /^\D{0,8}\d{1,3}([.,])\d{3}\1\d{3}(?!\d)/;
const ONE_GROUP = /^\D{0,8}[1-9]\d{0,2}([.,])\d{3}\D{0,8}$/;
/**
 * Amounts whose last three digits cannot be a group: more than three digits before the sign, a leading zero, or another sign
 * between groups.
 */
const NO_GROUP = /(?:\d{4}|^\D{0,8}0|\d['’\s]\d{3}|\.\d{3}(?=,)|,\d{3}(?=\.))([.,])\d{3}\D{0,8}$/;

function findProvenSign(amounts: readonly string[]): DecimalSign | undefined {
  const [, sign] = amounts.map((amount) => NO_GROUP.exec(amount)).find(Boolean) ?? [];
  if (sign === undefined) return undefined;
  return sign === ',' ? 'comma' : 'point';
}

/**
 * Some banks write three decimals, the last of which is a zero. But "25,500" may also be 25,500 whole units: the zero is
 * dropped only if the currency, the user's choice or another amount of the file shows that the sign separates decimals.
 */
function createDecimalTrimmer(
  amounts: readonly string[],
  { chosen, digits }: { readonly chosen: DecimalSign | undefined; readonly digits: number },
): (text: string) => string {
  const written = amounts.filter((text) => !isEmptyAmount(text));
  if (digits === 3 && chosen === undefined) return dropThirdDecimal;
  const sign = findThirdDecimal(written[0] ?? '');
  const isUniform = sign !== undefined && written.every((text) => findThirdDecimal(text) === sign);
  const isChosen = chosen !== undefined && sign === (chosen === 'comma' ? ',' : '.');
  const isProven = isUniform && (isChosen || written.some((text) => NO_GROUP.test(text)));
  return isProven ? dropThirdDecimal : (text) => text;
}

const CODE = /(?<![\p{L}\p{N}])[A-Z]{3}(?![\p{L}\p{N}])/gu;
const CODES = new Set(Intl.supportedValuesOf('currency'));
/** Currencies that have decimals by the standard, although their banks write none. */
const WHOLE_UNITS = new Set(['IDR', 'HUF', 'COP', 'CRC', 'LAK', 'MMK', 'IRR']);
/** Signs and words of currencies and languages without decimals: yen, won, dong, rupiah. */
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
  const digits = new Set<number>();
  const relevantTexts = texts.filter(
    (text) => text.length <= MAX_TEXT_LENGTH && !BARE_NUMBER.test(text),
  );
  for (const text of new Set(relevantTexts)) {
    if (usesWholeUnits(text)) digits.add(0);
    for (const [code] of text.matchAll(CODE)) if (CODES.has(code)) digits.add(countDecimals(code));
  }
  const [only = 2, ...more] = digits;
  return more.length > 0 ? 2 : only;
}

const MAX_TEXT_LENGTH = 80;
/** A plain number, as most amounts are, names no currency. */
const BARE_NUMBER = /^[-+\d.,]*$/;

function countDecimals(currency: string): number {
  if (WHOLE_UNITS.has(currency)) return 0;
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return maximumFractionDigits;
}
