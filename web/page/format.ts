// Formats numbers and dates in the browser's language. The API knows no currency, so the currency sign is a setting of this
// browser.
import { signal } from '@preact/signals';
import { deviceStorage } from './storage.ts';

const CURRENCY_STORAGE_NAME = 'currency';
const RECENT_PERIODS: Readonly<Record<string, string>> = {
  '3m': '3 months',
  '12m': '12 months',
  all: 'All dates',
};
const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;

export const currency = signal(deviceStorage.getItem(CURRENCY_STORAGE_NAME) ?? '');

export function chooseCurrency(code: string): void {
  if (code) deviceStorage.setItem(CURRENCY_STORAGE_NAME, code);
  else deviceStorage.removeItem(CURRENCY_STORAGE_NAME);
  currency.value = code;
}

function createMoneyFormats(code: string) {
  const style = code
    ? ({ ...CENTS, style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' } as const)
    : CENTS;
  return {
    plain: createNumberFormat(style),
    signed: createNumberFormat({ ...style, signDisplay: 'exceptZero' }),
  };
}

const formatsByCurrency = new Map<string, ReturnType<typeof createMoneyFormats>>();

function findMoneyFormats() {
  const code = currency.value;
  const formats = formatsByCurrency.get(code) ?? createMoneyFormats(code);
  formatsByCurrency.set(code, formats);
  return formats;
}

/**
 * Creates a value on first use: the browser takes up to a few milliseconds to create a format, and a view uses only some
 * formats.
 */
function createOnFirstUse<Value>(create: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

const createNumberFormat = (options: Intl.NumberFormatOptions = {}) =>
  createOnFirstUse(() => new Intl.NumberFormat(undefined, options));
const createDateFormat = (options: Intl.DateTimeFormatOptions) =>
  createOnFirstUse(() => new Intl.DateTimeFormat(undefined, { ...options, timeZone: 'UTC' }));

const count = createNumberFormat();
const short = createNumberFormat({ notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = { style: 'percent', maximumFractionDigits: 0 } as const;
const percent = createNumberFormat(PERCENT);
const signedPercent = createNumberFormat({ ...PERCENT, signDisplay: 'exceptZero' });
const date = createDateFormat({ dateStyle: 'medium' });
const weekday = createDateFormat({ weekday: 'short', day: 'numeric', month: 'short' });
const weekdayOfYear = createDateFormat({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});
const month = createDateFormat({ month: 'long', year: 'numeric' });
const shortMonth = createDateFormat({ month: 'short' });
const time = createOnFirstUse(() => new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }));
const decimalSign = createOnFirstUse(() => {
  const parts = count().formatToParts(1.5);
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.';
});

export const format = {
  money: (amount: number) => findMoneyFormats().plain().format(amount),
  signed: (amount: number) => findMoneyFormats().signed().format(amount),
  count: (number: number) => count().format(number),
  /** Formats a number of things, such as `1 change` or `2 changes`. */
  counted: (number: number, thing: string) =>
    `${count().format(number)} ${thing}${number === 1 ? '' : 's'}`,
  short: (amount: number) => short().format(amount),
  percent: (share: number) => percent().format(share),
  signedPercent: (share: number) => signedPercent().format(share),
  date: (day: string) => date().format(toUtcDate(day)),
  day: (day: string) =>
    (day.startsWith(String(new Date().getFullYear())) ? weekday : weekdayOfYear)().format(
      toUtcDate(day),
    ),
  /** @param moment milliseconds since 1970 */
  time: (moment: number) => time().format(moment),
  /** @param key a day, a month such as `2026-03`, or a year */
  period: (key: string) => {
    if (key.length === 4) return key;
    return key.length === 7
      ? month().format(toUtcDate(`${key}-01`))
      : date().format(toUtcDate(key));
  },
  /** @param period the period of a scope, such as `3m` */
  scope: (period: string) => {
    const [start = '', end = ''] = period.split('..');
    if (end)
      return start === end
        ? date().format(toUtcDate(start))
        : date().formatRange(toUtcDate(start), toUtcDate(end));
    return RECENT_PERIODS[period] ?? format.period(period);
  },
  /** The short label below a bar. */
  tick: (key: string) => {
    if (key.length === 4) return key;
    return key.length === 7
      ? shortMonth().format(toUtcDate(`${key}-01`))
      : String(Number(key.slice(8)));
  },
  /** The amount as a person would type it. */
  amountField: (amount: number) =>
    amount.toFixed(2).replace('.', decimalSign() === ',' ? ',' : '.'),
};

/**
 * Reads an amount as people type it: a point or a comma before the cents, with or without groups of thousands. A point or
 * comma before exactly three digits separates groups, unless it is the decimal sign of the browser's language: then the API
 * decides about the three decimals.
 * @returns undefined if the text is not an amount
 */
export function readAmount(text: string): number | undefined {
  const plain = text.replace(/[\s'’_]|\p{Sc}/gu, '').replace(/^[−–]/, '-');
  const [, sign = '', digits = ''] = /^([-+]?)([\d.,]*\d[\d.,]*)$/.exec(plain) ?? [];
  if (digits === '') return undefined;
  const separatorIndex = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  const separator = digits[separatorIndex] ?? '';
  const separatesGroups =
    separatorIndex >= 0 &&
    (digits.split(separator).length > 2 ||
      (digits.length - separatorIndex === 4 &&
        separator !== decimalSign() &&
        !digits.startsWith('0')));
  const whole = separatorIndex < 0 || separatesGroups ? digits : digits.slice(0, separatorIndex);
  const cents = separatorIndex < 0 || separatesGroups ? '' : digits.slice(separatorIndex + 1);
  // A separator typed twice, as in 12..50, does not separate groups.
  if (!GROUPED.test(whole)) return undefined;
  const amount = Number(`${whole.replace(/[.,]/g, '') || '0'}.${cents || '0'}`);
  return sign === '-' ? 0 - amount : amount;
}

/** Digits with or without groups, of three digits or, in India, also of two. */
const GROUPED = /^(\d*|\d{1,3}([.,]\d{2,3})*[.,]\d{3})$/;

function toUtcDate(day: string): Date {
  return new Date(`${day}T00:00Z`);
}
