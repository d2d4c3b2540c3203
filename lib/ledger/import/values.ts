// Dates and amounts as banks write them.

import { UserError } from '../../shared/user-error.ts';
import { isCalendarDate } from '../domain/calendar-date.ts';

export const DATE_ORDERS = ['ymd', 'dmy', 'mdy'] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];
export const DECIMAL_SIGNS = ['point', 'comma'] as const;
export type DecimalSign = (typeof DECIMAL_SIGNS)[number];

/** Groups of three digits have one separator. A text that fits both has one value: the wrong sign scales no amount. */
const AMOUNTS = {
  point: /^([-+−]?)\s*([1-9]\d{0,2}(?:([,'’\s])\d{3}(?:\3\d{3})*)?|\d+)(?:\.(\d{1,2}))?$/,
  comma: /^([-+−]?)\s*([1-9]\d{0,2}(?:([.'’\s])\d{3}(?:\3\d{3})*)?|\d+)(?:,(\d{1,2}))?$/,
};
const CURRENCY = /(?:[A-Z]{3}|\p{Sc})(?!\s*\d)|(?<!\d\s*)(?:[A-Z]{3}|\p{Sc})/gu;

/** The one in which most dates can be read. @throws UserError where there are two */
export function dateOrderOf(dates: readonly string[]): DateOrder {
  const isLikely = (date: string, order: DateOrder) => {
    if (order === 'ymd' ? !/^\d{4}/.test(date) : order === 'mdy' && date.includes('.'))
      return false;
    return isCalendarDate(reorder(date, order));
  };
  const counts = DATE_ORDERS.map((order) => dates.filter((date) => isLikely(date, order)).length);
  const most = Math.max(...counts);
  const [order = 'ymd', other] = DATE_ORDERS.filter((_, n) => counts[n] === most);
  if (most === 0 || other === undefined) return order;
  throw new UserError(
    `Dates may be ${order} or ${other}. Say which with --date-order ${order} or ${other}.`,
  );
}

function reorder(text: string, order: DateOrder): string {
  const parts = text.split(/\D/).slice(0, 3);
  const part = (letter: string) => parts[order.indexOf(letter)] ?? '';
  const year = part('y').length === 2 ? `20${part('y')}` : part('y');
  return `${year}-${part('m').padStart(2, '0')}-${part('d').padStart(2, '0')}`;
}

export function toDate(text: string, order: DateOrder): string {
  const date = reorder(text, order);
  if (!isCalendarDate(date)) throw new Error(`"${text}" is not a date (${order})`);
  return date;
}

/** The sign before the one or two last digits of most amounts. */
export function decimalOf(amounts: readonly string[]): DecimalSign {
  const count = (pattern: RegExp) => amounts.filter((amount) => pattern.test(amount)).length;
  return count(/,\d{1,2}\D*$/) > count(/\.\d{1,2}\D*$/) ? 'comma' : 'point';
}

function toAmount(text: string, decimal: DecimalSign): number {
  const plain = text
    .replace(CURRENCY, '')
    .trim()
    .replace(/^\((.*?)\s*\)$|^(.*?)\s*[-−]$/, '-$1$2');
  const [, sign = '', whole, , cents = '0'] = AMOUNTS[decimal].exec(plain) ?? [];
  if (whole === undefined) {
    const message = `"${text}" is not an amount with a decimal ${decimal} (--decimal chooses it)`;
    throw new Error(message);
  }
  const amount = Number(`${whole.replace(/\D/g, '')}.${cents}`);
  return /[-−]/.test(sign) ? -amount : amount;
}

/** Cells of a row: in one column, or in two with one of them filled. */
export interface AmountCells {
  readonly amount?: string | null | undefined;
  readonly debit?: string | null | undefined;
  readonly credit?: string | null | undefined;
}

export type SignedAmount =
  | { readonly signed: number; readonly error?: never }
  | { readonly signed?: never; readonly error: Error };

/** Negative for expenses. */
export function readSignedAmounts(
  rows: readonly AmountCells[],
  { decimal, isInverted }: { readonly decimal: DecimalSign; readonly isInverted: boolean },
): readonly SignedAmount[] {
  const debits = rows.flatMap(({ debit }) => debit ?? []);
  // Some banks also write a minus before what is in the column of debits.
  const hasMinus = debits.filter((text) => /[-−(]/.test(text)).length * 2 > debits.length;
  const read = (text: string | null | undefined) => (text == null ? 0 : toAmount(text, decimal));
  const signedOf = ({ amount, debit, credit }: AmountCells) => {
    if (amount !== undefined) return toAmount(amount ?? '', decimal);
    if (debit == null && credit == null) throw new Error('It has neither a debit nor a credit.');
    if (read(debit) !== 0 && read(credit) !== 0) throw new Error('It has a debit and a credit.');
    return hasMinus ? read(credit) + read(debit) : read(credit) - read(debit);
  };
  return rows.map((cells) => {
    try {
      const signed = signedOf(cells);
      // Not -0.
      return { signed: isInverted ? 0 - signed : signed };
    } catch (error) {
      return { error: error as Error };
    }
  });
}
