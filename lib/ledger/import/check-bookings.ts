// Checks bookings of any format before they become transactions: bookings that failed are left out, a currency conversion
// becomes the one payment that it was, and questions that only the user can answer become needs.

import { compareWithBalances } from './balance.ts';
import {
  type Booking,
  type LeftOutLine,
  type Need,
  pluralize,
  type ReadBookings,
  type RefusedLine,
} from './booking.ts';
import {
  describeState,
  findStatus,
  isCardPayment,
  isCardRefund,
  isConversionText,
} from './booking-words.ts';
import {
  type CurrencyReader,
  createCurrencyReader,
  isCurrencyCode,
  mayBeEqual,
} from './currencies.ts';
import { askAboutDates } from './far-dates.ts';
import { findSplitBookings } from './split-rows.ts';
import { askAboutBalances, findTotals } from './total-rows.ts';
import { findTransfers } from './transfers.ts';

export interface CheckOptions {
  readonly isInverted: boolean;
  /** The user has accepted the preview (--as-it-is): only a question about the currency is still asked. */
  readonly isAsItIs: boolean;
  readonly currency: string | undefined;
  readonly leaveOut: readonly string[];
  /** Imports only the bookings of this account, if the file has several. */
  readonly onlyAccount: string | undefined;
  /** `YYYY-MM-DD` */
  readonly today: string;
}

export interface CheckedBookings {
  readonly bookings: readonly Booking[];
  readonly refused: readonly RefusedLine[];
  readonly leftOut: readonly LeftOutLine[];
  readonly findings: readonly string[];
  readonly needs: readonly Need[];
}

const MAX_SHOWN = 5;

export function checkBookings(read: ReadBookings, options: CheckOptions): CheckedBookings {
  const leftOut = [...read.leftOut];
  const findings = [...read.findings];
  const needs = [...read.needs];
  const leave = (booking: Booking, reason: string) => {
    leftOut.push({ line: booking.line, reason, text: describeBooking(booking) });
    return false;
  };
  const readCurrency = createCurrencyReader(read.currencies);
  const moved = keepMoved(nameCurrencies(read.bookings, readCurrency), options, leave);
  needs.push(...findUnknownStates(moved, read.leftOut));
  const paid = joinConversions(leaveSums(moved, leave), leave);
  const ofCurrency = chooseCurrency(
    paid,
    options.currency?.split(',').map(readCurrency),
    leave,
    needs,
  );
  const doubled = findDoubleEntries(ofCurrency);
  needs.push(...askAboutBalances(ofCurrency), ...doubled);
  const transfers = findTransfers(doubled.length > 0 ? [] : ofCurrency);
  needs.push(...transfers.needs);
  findings.push(...transfers.findings);
  const moving = ofCurrency.filter(
    (booking) => !transfers.sides.has(booking) || leave(booking, TRANSFER),
  );
  needs.push(...askAboutFlags(moving));
  const { bookings, finding, need } = direct(moving, options);
  if (finding !== undefined) findings.push(finding);
  if (need !== undefined) needs.push(need);
  findings.push(...describeAccounts(bookings));
  needs.push(...askAboutDates(bookings, options.today));
  return {
    bookings,
    leftOut: leftOut.toSorted((one, other) => one.line - other.line),
    refused: read.refused.toSorted((one, other) => one.line - other.line),
    findings,
    needs: options.isAsItIs ? needs.filter(({ question }) => question === 'currency') : needs,
  };
}

const TRANSFER = 'a transfer between two accounts of the file';

/** Keeps the bookings that moved money of the chosen account. */
function keepMoved(
  bookings: readonly Booking[],
  { leaveOut, onlyAccount }: CheckOptions,
  leave: Leave,
): readonly Booking[] {
  return bookings.filter((booking) => {
    const state = describeState(booking.status, leaveOut);
    if (state !== undefined) return leave(booking, state);
    if (onlyAccount !== undefined && booking.account !== onlyAccount)
      return leave(booking, 'of another account');
    return booking.signed !== 0 || leave(booking, 'amount 0');
  });
}

function askAboutFlags(bookings: readonly Booking[]): readonly Need[] {
  const doubtful = bookings.filter(({ doubt }) => doubt !== undefined);
  const marked = Map.groupBy(doubtful, ({ doubt }) => doubt);
  return [...marked].flatMap(([header, [first, ...others]]): Need[] => {
    if (header === undefined || !first) return [];
    const message = `The column "${header}" marks ${pluralize(others.length + 1, 'row')}, such as line ${first.line}: they may not count. Leave them out with --leave-out "${header}", or import them with --as-it-is.`;
    return [{ question: 'status', message }];
  });
}

/** Leaves out rows that repeat the money of others: totals, and bookings that the next lines split into parts. */
function leaveSums(bookings: readonly Booking[], leave: Leave): readonly Booking[] {
  const split = findSplitBookings(bookings);
  const totals = findTotals(bookings);
  return bookings.filter((booking) => {
    if (totals.has(booking)) return leave(booking, 'a total: the sum of other rows');
    return !split.has(booking) || leave(booking, 'split into the parts of the next lines');
  });
}

export function describeBooking({
  date,
  signed,
  texts,
  bookingType,
}: Pick<Booking, 'date' | 'signed' | 'texts' | 'bookingType'>): string {
  return `${date} ${signed} ${texts[0] ?? bookingType ?? ''}`;
}

/**
 * Asks about unknown status words: one of them may mean that no money has moved. If all bookings have the same word and no row
 * was left out, the word cannot tell rows apart.
 */
function findUnknownStates(
  bookings: readonly Booking[],
  leftOut: readonly LeftOutLine[],
): readonly Need[] {
  const words = new Set(bookings.flatMap(({ status }) => status ?? []));
  const unknown = [...words].filter((word) => findStatus(word) === undefined);
  if (unknown.length === 0 || (words.size === 1 && leftOut.length === 0)) return [];
  const shown = unknown
    .slice(0, MAX_SHOWN)
    .map((word) => `"${word}"`)
    .join(', ');
  const message = `The status column has words that are not known: ${shown}. Leave the rows of a word out with --leave-out "${unknown[0]}", or import all of them with --status-column none.`;
  return [{ question: 'status', message }];
}

type Leave = (booking: Booking, reason: string) => boolean;

/**
 * Limits for the rows of a conversion: their number for one payment, and their distance from it in rows, if they have no
 * reference to it.
 */
const MAX_RELATED = 10;
const MAX_DISTANCE = 3;

/**
 * Joins the three rows of a payment in another currency into one: the payment, and the two sides of its conversion. The joined
 * booking has the amount in the currency that the account paid.
 */
function joinConversions(bookings: readonly Booking[], leave: Leave): readonly Booking[] {
  if (countCurrencies(bookings) < 2) return bookings;
  const isConversion = ({ bookingType, texts }: Booking) =>
    [bookingType ?? '', ...texts].some(isConversionText);
  const conversions = bookings.filter(
    (booking) => booking.currency !== null && isConversion(booking),
  );
  if (conversions.length === 0) return bookings;
  const joined = new Map<Booking, Booking>();
  const used = new Set<Booking>();
  const byReference = Map.groupBy(conversions, ({ reference }) => reference);
  const isKnown = new Set(conversions);
  for (const [n, payment] of bookings.entries()) {
    if (isKnown.has(payment)) continue;
    const near = bookings.slice(Math.max(0, n - MAX_DISTANCE), n + MAX_DISTANCE + 1);
    const related =
      (payment.bankId !== null && byReference.get(payment.bankId)) ||
      near.filter((each) => isKnown.has(each) && each.date === payment.date);
    const free = related.slice(0, MAX_RELATED).filter((each) => !used.has(each));
    const back = free.find(
      ({ currency, signed }) => currency === payment.currency && signed === -payment.signed,
    );
    const paid =
      back &&
      free.find(
        (each) =>
          each.currency !== back.currency && Math.sign(each.signed) === Math.sign(payment.signed),
      );
    if (!back || !paid) continue;
    for (const each of [back, paid]) {
      used.add(each);
      leave(each, 'currency conversion, part of its payment');
    }
    joined.set(payment, { ...payment, signed: paid.signed, currency: paid.currency });
  }
  return bookings
    .filter((booking) => !used.has(booking))
    .map((booking) => joined.get(booking) ?? booking);
}

function nameCurrencies(
  bookings: readonly Booking[],
  readCurrency: CurrencyReader,
): readonly Booking[] {
  return bookings.map((booking) =>
    booking.currency === null ? booking : { ...booking, currency: readCurrency(booking.currency) },
  );
}

function countCurrencies(bookings: readonly Booking[]): number {
  return new Set(bookings.flatMap(({ currency }) => currency ?? [])).size;
}

function chooseCurrency(
  bookings: readonly Booking[],
  chosen: readonly string[] | undefined,
  leave: Leave,
  needs: Need[],
): readonly Booking[] {
  if (chosen !== undefined)
    return bookings.filter(
      (booking) =>
        booking.currency === null ||
        chosen.includes(booking.currency) ||
        leave(booking, `in ${booking.currency}`),
    );
  const currencies = [...Map.groupBy(bookings, ({ currency }) => currency)].flatMap(
    ([currency, some]) => (currency === null ? [] : { currency, rows: some.length }),
  );
  if (currencies.length > 1)
    needs.push({ question: 'currency', message: describeCurrencies(currencies) });
  return bookings;
}

interface CurrencyCount {
  readonly currency: string;
  readonly rows: number;
}

function describeCurrencies(counts: readonly CurrencyCount[]): string {
  const most = counts.toSorted((one, other) => other.rows - one.rows).slice(0, MAX_SHOWN);
  const shown = most.map(({ currency, rows }) => `${currency} (${pluralize(rows, 'row')})`);
  const more = counts.length > most.length ? [`${counts.length - most.length} more`] : [];
  const codes = most.map(({ currency }) => currency);
  const [pair] = codes.flatMap((one, n) =>
    codes.slice(n + 1).flatMap((other) => (mayBeEqual(one, other) ? { one, other } : [])),
  );
  const quote = (text: string) => (isCurrencyCode(text) ? text : `'${text}'`);
  const names = quote(`${pair?.one},${pair?.other}`);
  const both = pair ? `; if ${pair.one} is ${pair.other}, take both with --currency ${names}` : '';
  return `The amounts are in several currencies, which do not add up: ${[...shown, ...more].join(', ')}. Import those of one with --currency ${quote(codes[0] ?? '')}${both}.`;
}

/** Adds up each account of the file: one sum over several accounts says little. */
function describeAccounts(bookings: readonly Booking[]): readonly string[] {
  if (bookings.every(({ account }) => account === bookings[0]?.account)) return [];
  const accounts = [...Map.groupBy(bookings, ({ account }) => account ?? 'no account')];
  const shown = accounts.slice(0, MAX_SHOWN).map(([account, some]) => {
    const add = (sign: 1 | -1) => {
      const cents = some.map(({ signed }) => Math.max(0, Math.round(sign * signed * 100)));
      return (cents.reduce((sum, each) => sum + each, 0) / 100).toFixed(2);
    };
    return `${account}: ${pluralize(some.length, 'row')}, income ${add(1)}, expense ${add(-1)}`;
  });
  const more = accounts.length > shown.length ? [`${accounts.length - shown.length} more`] : [];
  return [`${accounts.length} accounts: ${[...shown, ...more].join('; ')}`];
}

/** Recognizes an export of double-entry books, which repeats each transaction for every account that it touches. */
function findDoubleEntries(bookings: readonly Booking[]): readonly Need[] {
  const groups = Map.groupBy(bookings, ({ date }) => date)
    .values()
    .flatMap((ofDate) => Map.groupBy(ofDate, ({ bankId, texts }) => bankId ?? texts[0]).values());
  const balanced = [...groups].filter(
    (some) =>
      some.length > 1 && Math.round(some.reduce((sum, { signed }) => sum + signed, 0) * 100) === 0,
  );
  const rows = balanced.reduce((sum, some) => sum + some.length, 0);
  if (balanced.length < 2 || rows < bookings.length * 0.8) return [];
  const accounts = [...new Set(bookings.flatMap(({ account }) => account ?? []))];
  const advice =
    accounts.length > 1
      ? `Import those of one account with --only-account NAME; the file has ${accounts.slice(0, MAX_SHOWN).join(', ')}.`
      : 'Export one account alone, or add --as-it-is.';
  return [
    {
      question: 'postings',
      message: `Rows cancel each other out: each transaction seems to be in the file once for each of its accounts. ${advice}`,
    },
  ];
}

interface Directed {
  readonly bookings: readonly Booking[];
  readonly finding?: string;
  readonly need?: Need;
}

/**
 * Decides whether the signs are reversed. Most bookings of a household are expenses, so a file that has mostly income by its
 * signs alone is suspect.
 */
function direct(bookings: readonly Booking[], { isInverted, isAsItIs }: CheckOptions): Directed {
  const invert = () =>
    bookings.map((booking) =>
      booking.isDirectionStated ? booking : { ...booking, signed: 0 - booking.signed },
    );
  if (isInverted)
    return { bookings: bookings.map((booking) => ({ ...booking, signed: 0 - booking.signed })) };
  const unstated = bookings.filter(({ isDirectionStated }) => !isDirectionStated);
  const income = unstated.filter(({ signed }) => signed > 0);
  const others = unstated.filter(({ signed }) => signed < 0);
  const isMostlyIncome = income.length * 2 > bookings.length;
  if (isAsItIs) return { bookings };
  const isPayment = hasText(isCardPayment);
  const isCard =
    others.some(isPayment) &&
    others.every((each) => isPayment(each) || hasText(isCardRefund)(each));
  if (isMostlyIncome && isCard && !income.some(({ texts }) => texts.some(isIncomeText)))
    return {
      bookings: invert(),
      finding:
        'positive amounts are expenses: the negative ones are payments to the card (--as-it-is reads them as they are)',
    };
  if (isMostlyIncome)
    return {
      bookings,
      need: { question: 'direction', message: describeIncome(income.length, bookings.length) },
    };
  const { agreeing, reversed, pairs } = compareWithBalances(bookings);
  if (reversed > agreeing && reversed * 2 >= pairs)
    return {
      bookings,
      need: {
        question: 'direction',
        message:
          'The balances contradict the signs: they fall where the amounts are positive. Turn the signs around with --invert, or take them with --as-it-is.',
      },
    };
  return { bookings };
}

function hasText(matches: (text: string) => boolean) {
  return ({ texts, bookingType }: Booking) => [...texts, bookingType ?? ''].some(matches);
}

const INCOME_TEXT =
  /salary|payroll|wage|gehalt|lohn|salaire|salario|stipendio|pension|rente\b|工资|給与/i;

function isIncomeText(text: string): boolean {
  return INCOME_TEXT.test(text);
}

function describeIncome(income: number, all: number): string {
  return `${income} of ${pluralize(all, 'row')} would be income. If positive amounts are expenses, as on cards, add --invert. If a column says which is which, name it and its words: --type COLUMN --income WORD --expense WORD. If it is right, add --as-it-is.`;
}
