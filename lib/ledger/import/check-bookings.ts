// Checks bookings of any format before they become transactions: bookings that failed are left out, the rows of a
// currency conversion become one payment, and questions that only the user can answer are collected.

import { compareWithBalances } from './balance.ts';
import {
  type Booking,
  type LeftOutLine,
  type ParsedBookings,
  pluralize,
  type Question,
  type RefusedLine,
} from './booking.ts';
import {
  findLeaveOutReason,
  findStatus,
  isCardPayment,
  isCardRefund,
  isConversionText,
} from './booking-words.ts';
import {
  type CurrencyReader,
  createCurrencyReader,
  isCurrencyCode,
  mayBeSameCurrency,
} from './currencies.ts';
import { askAboutDates } from './far-dates.ts';
import { findSplitBookings } from './split-rows.ts';
import { askAboutBalances, findTotals } from './total-rows.ts';
import { findTransfers } from './transfers.ts';

export interface CheckOptions {
  readonly isInverted: boolean;
  /** The user has accepted the preview (--as-it-is): only a question about the currency is still asked. */
  readonly isPreviewAccepted: boolean;
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
  readonly questions: readonly Question[];
}

const MAX_SHOWN = 5;

export function checkBookings(parsed: ParsedBookings, options: CheckOptions): CheckedBookings {
  const leftOut = [...parsed.leftOut];
  const findings = [...parsed.findings];
  const questions = [...parsed.questions];
  const addLeftOut: AddLeftOut = (booking, reason) => {
    leftOut.push({ line: booking.line, reason, text: describeBooking(booking) });
    return false;
  };
  const readCurrency = createCurrencyReader(parsed.currencies);
  const movedBookings = keepMovedBookings(
    normalizeCurrencies(parsed.bookings, readCurrency),
    options,
    addLeftOut,
  );
  questions.push(...askAboutUnknownStates(movedBookings, parsed.leftOut));
  const joinedBookings = joinConversions(leaveOutSums(movedBookings, addLeftOut), addLeftOut);
  const bookingsInCurrency = keepChosenCurrencies(
    joinedBookings,
    options.currency?.split(',').map(readCurrency),
    addLeftOut,
    questions,
  );
  const doubleEntries = askAboutDoubleEntries(bookingsInCurrency);
  questions.push(...askAboutBalances(bookingsInCurrency), ...doubleEntries);
  const transfers = findTransfers(doubleEntries.length > 0 ? [] : bookingsInCurrency);
  questions.push(...transfers.questions);
  findings.push(...transfers.findings);
  const withoutTransfers = bookingsInCurrency.filter(
    (booking) => !transfers.transferRows.has(booking) || addLeftOut(booking, TRANSFER),
  );
  questions.push(...askAboutFlags(withoutTransfers));
  const { bookings, finding, question } = decideDirection(withoutTransfers, options);
  if (finding !== undefined) findings.push(finding);
  if (question !== undefined) questions.push(question);
  findings.push(...describeAccounts(bookings));
  questions.push(...askAboutDates(bookings, options.today));
  return {
    bookings,
    leftOut: leftOut.toSorted((a, b) => a.line - b.line),
    refused: parsed.refused.toSorted((a, b) => a.line - b.line),
    findings,
    questions: options.isPreviewAccepted
      ? questions.filter(({ topic }) => topic === 'currency')
      : questions,
  };
}

const TRANSFER = 'a transfer between two accounts of the file';

/** Records a booking as left out. Returns false, so that a filter drops it. */
type AddLeftOut = (booking: Booking, reason: string) => false;

/** Keeps the bookings that moved money in the chosen account. */
function keepMovedBookings(
  bookings: readonly Booking[],
  { leaveOut, onlyAccount }: CheckOptions,
  addLeftOut: AddLeftOut,
): readonly Booking[] {
  return bookings.filter((booking) => {
    const reason = findLeaveOutReason(booking.status, leaveOut);
    if (reason !== undefined) return addLeftOut(booking, reason);
    if (onlyAccount !== undefined && booking.account !== onlyAccount)
      return addLeftOut(booking, 'of another account');
    return booking.signed !== 0 || addLeftOut(booking, 'amount 0');
  });
}

function askAboutFlags(bookings: readonly Booking[]): readonly Question[] {
  const doubtfulBookings = bookings.filter(({ doubtfulColumn }) => doubtfulColumn !== undefined);
  const bookingsByColumn = Map.groupBy(doubtfulBookings, ({ doubtfulColumn }) => doubtfulColumn);
  return [...bookingsByColumn].flatMap(([header, [first, ...others]]): Question[] => {
    if (header === undefined || !first) return [];
    const message = `The column "${header}" marks ${pluralize(others.length + 1, 'row')}, such as line ${first.line}: they may not count. Leave them out with --leave-out "${header}", or import them with --as-it-is.`;
    return [{ topic: 'status', message }];
  });
}

/** Leaves out rows that repeat the money of other rows: totals, and bookings that the next lines split into parts. */
function leaveOutSums(bookings: readonly Booking[], addLeftOut: AddLeftOut): readonly Booking[] {
  const splitBookings = findSplitBookings(bookings);
  const totals = findTotals(bookings);
  return bookings.filter((booking) => {
    if (totals.has(booking)) return addLeftOut(booking, 'a total: the sum of other rows');
    return (
      !splitBookings.has(booking) || addLeftOut(booking, 'split into the parts of the next lines')
    );
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
function askAboutUnknownStates(
  bookings: readonly Booking[],
  leftOut: readonly LeftOutLine[],
): readonly Question[] {
  const words = new Set(bookings.flatMap(({ status }) => status ?? []));
  const unknownWords = [...words].filter((word) => findStatus(word) === undefined);
  if (unknownWords.length === 0 || (words.size === 1 && leftOut.length === 0)) return [];
  const shownWords = unknownWords
    .slice(0, MAX_SHOWN)
    .map((word) => `"${word}"`)
    .join(', ');
  const message = `The status column has unknown words: ${shownWords}. Leave out the rows with such a word with --leave-out "${unknownWords[0]}", or import all of them with --status-column none.`;
  return [{ topic: 'status', message }];
}

/** Number of a payment's conversion rows that are compared. */
const MAX_RELATED = 10;
/** Distance in rows between a payment and conversion rows that have no reference to it. */
const MAX_DISTANCE = 3;

/**
 * Joins the three rows of a payment in another currency into one: the payment, and the two sides of its conversion. The joined
 * booking has the amount in the currency that the account paid.
 */
function joinConversions(bookings: readonly Booking[], addLeftOut: AddLeftOut): readonly Booking[] {
  if (countCurrencies(bookings) < 2) return bookings;
  const isConversion = ({ bookingType, texts }: Booking) =>
    [bookingType ?? '', ...texts].some(isConversionText);
  const conversions = bookings.filter(
    (booking) => booking.currency !== null && isConversion(booking),
  );
  if (conversions.length === 0) return bookings;
  const joinedByPayment = new Map<Booking, Booking>();
  const usedBookings = new Set<Booking>();
  const byReference = Map.groupBy(conversions, ({ reference }) => reference);
  const conversionSet = new Set(conversions);
  for (const [n, payment] of bookings.entries()) {
    if (conversionSet.has(payment)) continue;
    const nearBookings = bookings.slice(Math.max(0, n - MAX_DISTANCE), n + MAX_DISTANCE + 1);
    const candidates =
      (payment.bankId !== null && byReference.get(payment.bankId)) ||
      nearBookings.filter((each) => conversionSet.has(each) && each.date === payment.date);
    const unusedCandidates = candidates
      .slice(0, MAX_RELATED)
      .filter((each) => !usedBookings.has(each));
    const oppositeSide = unusedCandidates.find(
      ({ currency, signed }) => currency === payment.currency && signed === -payment.signed,
    );
    const paidSide =
      oppositeSide &&
      unusedCandidates.find(
        (each) =>
          each.currency !== oppositeSide.currency &&
          Math.sign(each.signed) === Math.sign(payment.signed),
      );
    if (!oppositeSide || !paidSide) continue;
    for (const each of [oppositeSide, paidSide]) {
      usedBookings.add(each);
      addLeftOut(each, 'currency conversion, part of its payment');
    }
    joinedByPayment.set(payment, {
      ...payment,
      signed: paidSide.signed,
      currency: paidSide.currency,
    });
  }
  return bookings
    .filter((booking) => !usedBookings.has(booking))
    .map((booking) => joinedByPayment.get(booking) ?? booking);
}

function normalizeCurrencies(
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

function keepChosenCurrencies(
  bookings: readonly Booking[],
  chosenCodes: readonly string[] | undefined,
  addLeftOut: AddLeftOut,
  questions: Question[],
): readonly Booking[] {
  if (chosenCodes !== undefined)
    return bookings.filter(
      (booking) =>
        booking.currency === null ||
        chosenCodes.includes(booking.currency) ||
        addLeftOut(booking, `in ${booking.currency}`),
    );
  const currencies = [...Map.groupBy(bookings, ({ currency }) => currency)].flatMap(
    ([currency, rows]) => (currency === null ? [] : { currency, rows: rows.length }),
  );
  if (currencies.length > 1)
    questions.push({ topic: 'currency', message: describeCurrencies(currencies) });
  return bookings;
}

interface CurrencyCount {
  readonly currency: string;
  readonly rows: number;
}

function describeCurrencies(counts: readonly CurrencyCount[]): string {
  const mostFrequent = counts.toSorted((a, b) => b.rows - a.rows).slice(0, MAX_SHOWN);
  const shownCurrencies = mostFrequent.map(
    ({ currency, rows }) => `${currency} (${pluralize(rows, 'row')})`,
  );
  const moreTexts =
    counts.length > mostFrequent.length ? [`${counts.length - mostFrequent.length} more`] : [];
  const codes = mostFrequent.map(({ currency }) => currency);
  const [pair] = codes.flatMap((first, n) =>
    codes
      .slice(n + 1)
      .flatMap((second) => (mayBeSameCurrency(first, second) ? { first, second } : [])),
  );
  const quote = (text: string) => (isCurrencyCode(text) ? text : `'${text}'`);
  const names = quote(`${pair?.first},${pair?.second}`);
  const renamingAdvice = pair
    ? `; if ${pair.first} is ${pair.second}, import both with --currency ${names}`
    : '';
  return `The amounts are in several currencies, which cannot be added up: ${[...shownCurrencies, ...moreTexts].join(', ')}. Import only one with --currency ${quote(codes[0] ?? '')}${renamingAdvice}.`;
}

/** Adds up each account of the file: one sum over several accounts says little. */
function describeAccounts(bookings: readonly Booking[]): readonly string[] {
  if (bookings.every(({ account }) => account === bookings[0]?.account)) return [];
  const accounts = [...Map.groupBy(bookings, ({ account }) => account ?? 'no account')];
  const shownAccounts = accounts.slice(0, MAX_SHOWN).map(([account, rows]) => {
    const addUp = (sign: 1 | -1) => {
      const cents = rows.map(({ signed }) => Math.max(0, Math.round(sign * signed * 100)));
      return (cents.reduce((sum, each) => sum + each, 0) / 100).toFixed(2);
    };
    return `${account}: ${pluralize(rows.length, 'row')}, income ${addUp(1)}, expense ${addUp(-1)}`;
  });
  const moreTexts =
    accounts.length > shownAccounts.length
      ? [`${accounts.length - shownAccounts.length} more`]
      : [];
  return [`${accounts.length} accounts: ${[...shownAccounts, ...moreTexts].join('; ')}`];
}

/** Asks about an export of double-entry books, which repeats each transaction for every account that it touches. */
function askAboutDoubleEntries(bookings: readonly Booking[]): readonly Question[] {
  const groups = Map.groupBy(bookings, ({ date }) => date)
    .values()
    .flatMap((sameDate) =>
      Map.groupBy(sameDate, ({ bankId, texts }) => bankId ?? texts[0]).values(),
    );
  const balancedGroups = [...groups].filter(
    (group) =>
      group.length > 1 &&
      Math.round(group.reduce((sum, { signed }) => sum + signed, 0) * 100) === 0,
  );
  const rows = balancedGroups.reduce((sum, group) => sum + group.length, 0);
  if (balancedGroups.length < 2 || rows < bookings.length * 0.8) return [];
  const accounts = [...new Set(bookings.flatMap(({ account }) => account ?? []))];
  const advice =
    accounts.length > 1
      ? `Import only one account with --only-account NAME; the file has ${accounts.slice(0, MAX_SHOWN).join(', ')}.`
      : 'Export one account alone, or add --as-it-is.';
  return [
    {
      topic: 'postings',
      message: `Rows cancel each other out: each transaction seems to be in the file once for each of its accounts. ${advice}`,
    },
  ];
}

interface DirectionDecision {
  readonly bookings: readonly Booking[];
  readonly finding?: string;
  readonly question?: Question;
}

/**
 * Decides whether the signs are reversed. Most bookings of a household are expenses, so a file that has mostly income by its
 * signs alone is suspect.
 */
function decideDirection(
  bookings: readonly Booking[],
  { isInverted, isPreviewAccepted }: CheckOptions,
): DirectionDecision {
  const invert = () =>
    bookings.map((booking) =>
      booking.isDirectionStated ? booking : { ...booking, signed: 0 - booking.signed },
    );
  if (isInverted)
    return { bookings: bookings.map((booking) => ({ ...booking, signed: 0 - booking.signed })) };
  const unstatedBookings = bookings.filter(({ isDirectionStated }) => !isDirectionStated);
  const incomeBookings = unstatedBookings.filter(({ signed }) => signed > 0);
  const negativeBookings = unstatedBookings.filter(({ signed }) => signed < 0);
  const isMostlyIncome = incomeBookings.length * 2 > bookings.length;
  if (isPreviewAccepted) return { bookings };
  const isPayment = hasText(isCardPayment);
  const isCardFile =
    negativeBookings.some(isPayment) &&
    negativeBookings.every((each) => isPayment(each) || hasText(isCardRefund)(each));
  if (isMostlyIncome && isCardFile && !incomeBookings.some(({ texts }) => texts.some(isIncomeText)))
    return {
      bookings: invert(),
      finding:
        'positive amounts are expenses: the negative ones are payments to the card (--as-it-is reads them as they are)',
    };
  if (isMostlyIncome)
    return {
      bookings,
      question: {
        topic: 'direction',
        message: describeIncome(incomeBookings.length, bookings.length),
      },
    };
  const { agreeingCount, reversedCount, pairCount } = compareWithBalances(bookings);
  if (reversedCount > agreeingCount && reversedCount * 2 >= pairCount)
    return {
      bookings,
      question: {
        topic: 'direction',
        message:
          'The balances contradict the signs: they fall where the amounts are positive. Reverse the signs with --invert, or keep them with --as-it-is.',
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

function describeIncome(incomeCount: number, rowCount: number): string {
  return `${incomeCount} of ${pluralize(rowCount, 'row')} would be income. If positive amounts are expenses, as on cards, add --invert. If a column says which is which, name it and its words: --type COLUMN --income WORD --expense WORD. If the preview is right, add --as-it-is.`;
}
