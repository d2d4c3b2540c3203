// Checks entries of any format before they become transactions: entries that failed are left out, the rows of a
// currency conversion become one payment, and questions that only the user can answer are collected.

import { compareWithBalances } from './balance.ts';
import {
  type CurrencyReader,
  createCurrencyReader,
  isCurrencyCode,
  mayBeSameCurrency,
} from './currencies.ts';
import {
  type Entry,
  type LeftOutLine,
  type ParsedEntries,
  pluralize,
  type Question,
  type RefusedLine,
} from './entry.ts';
import {
  findLeaveOutReason,
  findStatus,
  isCardPayment,
  isCardRefund,
  isConversionText,
} from './entry-words.ts';
import { askAboutDates } from './far-dates.ts';
import { findSplitEntries } from './split-rows.ts';
import { askAboutBalances, findTotals } from './total-rows.ts';
import { findTransfers } from './transfers.ts';

export interface CheckOptions {
  readonly isInverted: boolean;
  /** The user has accepted the preview (--as-it-is): only a question about the currency is still asked. */
  readonly isPreviewAccepted: boolean;
  readonly currency: string | undefined;
  readonly leaveOut: readonly string[];
  /** Imports only the entries of this account, if the file has several. */
  readonly onlyAccount: string | undefined;
  /** `YYYY-MM-DD` */
  readonly today: string;
}

export interface CheckedEntries {
  readonly entries: readonly Entry[];
  readonly refused: readonly RefusedLine[];
  readonly leftOut: readonly LeftOutLine[];
  readonly findings: readonly string[];
  readonly questions: readonly Question[];
}

const MAX_SHOWN = 5;

export function checkEntries(parsed: ParsedEntries, options: CheckOptions): CheckedEntries {
  const leftOut = [...parsed.leftOut];
  const findings = [...parsed.findings];
  const questions = [...parsed.questions];
  const addLeftOut: AddLeftOut = (entry, reason) => {
    leftOut.push({ line: entry.line, reason, text: describeEntry(entry) });
    return false;
  };
  const readCurrency = createCurrencyReader(parsed.currencies);
  const moneyMovements = keepMoneyMovements(
    normalizeCurrencies(parsed.entries, readCurrency),
    options,
    addLeftOut,
  );
  questions.push(...askAboutUnknownStates(moneyMovements, parsed.leftOut));
  const joinedEntries = joinConversions(leaveOutSums(moneyMovements, addLeftOut), addLeftOut);
  const entriesInCurrency = keepChosenCurrencies(
    joinedEntries,
    options.currency?.split(',').map(readCurrency),
    addLeftOut,
    questions,
  );
  const doubleEntries = askAboutDoubleEntries(entriesInCurrency);
  questions.push(...askAboutBalances(entriesInCurrency), ...doubleEntries);
  const transfers = findTransfers(doubleEntries.length > 0 ? [] : entriesInCurrency);
  questions.push(...transfers.questions);
  findings.push(...transfers.findings);
  const withoutTransfers = entriesInCurrency.filter(
    (entry) => !transfers.transferRows.has(entry) || addLeftOut(entry, TRANSFER),
  );
  questions.push(...askAboutFlags(withoutTransfers));
  const { entries, finding, question } = decideDirection(withoutTransfers, options);
  if (finding !== undefined) findings.push(finding);
  if (question !== undefined) questions.push(question);
  findings.push(...describeAccounts(entries));
  questions.push(...askAboutDates(entries, options.today));
  return {
    entries,
    leftOut: leftOut.toSorted((a, b) => a.line - b.line),
    refused: parsed.refused.toSorted((a, b) => a.line - b.line),
    findings,
    questions: options.isPreviewAccepted
      ? questions.filter(({ topic }) => topic === 'currency')
      : questions,
  };
}

const TRANSFER = 'a transfer between two accounts of the file';

/** Records an entry as left out. Returns false, so that a filter drops it. */
type AddLeftOut = (entry: Entry, reason: string) => false;

/** Keeps the entries that moved money in the chosen account. */
function keepMoneyMovements(
  entries: readonly Entry[],
  { leaveOut, onlyAccount }: CheckOptions,
  addLeftOut: AddLeftOut,
): readonly Entry[] {
  return entries.filter((entry) => {
    const reason = findLeaveOutReason(entry.status, leaveOut);
    if (reason !== undefined) return addLeftOut(entry, reason);
    if (onlyAccount !== undefined && entry.account !== onlyAccount)
      return addLeftOut(entry, 'of another account');
    return entry.signed !== 0 || addLeftOut(entry, 'amount 0');
  });
}

function askAboutFlags(entries: readonly Entry[]): readonly Question[] {
  const doubtfulEntries = entries.filter(({ doubtfulColumn }) => doubtfulColumn !== undefined);
  const entriesByColumn = Map.groupBy(doubtfulEntries, ({ doubtfulColumn }) => doubtfulColumn);
  return [...entriesByColumn].flatMap(([header, [first, ...others]]): Question[] => {
    if (header === undefined || !first) return [];
    const message = `The column "${header}" marks ${pluralize(others.length + 1, 'row')}, such as line ${first.line}: they may not count. Leave them out with --leave-out "${header}", or import them with --as-it-is.`;
    return [{ topic: 'status', message }];
  });
}

/** Leaves out rows that repeat the money of other rows: totals, and entries that the next lines split into parts. */
function leaveOutSums(entries: readonly Entry[], addLeftOut: AddLeftOut): readonly Entry[] {
  const splitEntries = findSplitEntries(entries);
  const totals = findTotals(entries);
  return entries.filter((entry) => {
    if (totals.has(entry)) return addLeftOut(entry, 'a total: the sum of other rows');
    return !splitEntries.has(entry) || addLeftOut(entry, 'split into the parts of the next lines');
  });
}

export function describeEntry({
  date,
  signed,
  texts,
  entryType,
}: Pick<Entry, 'date' | 'signed' | 'texts' | 'entryType'>): string {
  return `${date} ${signed} ${texts[0] ?? entryType ?? ''}`;
}

/**
 * Asks about unknown status words: one of them may mean that no money has moved. If all entries have the same word and no row
 * was left out, the word cannot tell rows apart.
 */
function askAboutUnknownStates(
  entries: readonly Entry[],
  leftOut: readonly LeftOutLine[],
): readonly Question[] {
  const words = new Set(entries.flatMap(({ status }) => status ?? []));
  const unknownWords = [...words].filter((word) => findStatus(word) === undefined);
  if (unknownWords.length === 0 || (words.size === 1 && leftOut.length === 0)) return [];
  const shownWords = unknownWords
    .slice(0, MAX_SHOWN)
    .map((word) => `"${word}"`)
    .join(', ');
  const message = `The status column has unknown words: ${shownWords}. Leave out the rows with such a word with --leave-out "${unknownWords[0]}", or import all of them with --status-column none.`;
  return [{ topic: 'status', message }];
}

/** Maximum number of conversion rows that are compared with a payment. */
const MAX_RELATED = 10;
/** Maximum distance in rows between a payment and conversion rows that have no reference to it. */
const MAX_DISTANCE = 3;

/**
 * Joins the three rows of a payment in another currency: the payment and both sides of its conversion. The joined entry has the
 * amount in the currency that the account paid.
 */
function joinConversions(entries: readonly Entry[], addLeftOut: AddLeftOut): readonly Entry[] {
  if (countCurrencies(entries) < 2) return entries;
  const isConversion = ({ entryType, texts }: Entry) =>
    [entryType ?? '', ...texts].some(isConversionText);
  const conversions = entries.filter((entry) => entry.currency !== null && isConversion(entry));
  if (conversions.length === 0) return entries;
  const joinedByPayment = new Map<Entry, Entry>();
  const usedEntries = new Set<Entry>();
  const byReference = Map.groupBy(conversions, ({ reference }) => reference);
  const conversionSet = new Set(conversions);
  for (const [n, payment] of entries.entries()) {
    if (conversionSet.has(payment)) continue;
    const nearEntries = entries.slice(Math.max(0, n - MAX_DISTANCE), n + MAX_DISTANCE + 1);
    const candidates =
      (payment.bankId !== null && byReference.get(payment.bankId)) ||
      nearEntries.filter((each) => conversionSet.has(each) && each.date === payment.date);
    const unusedCandidates = candidates
      .slice(0, MAX_RELATED)
      .filter((each) => !usedEntries.has(each));
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
      usedEntries.add(each);
      addLeftOut(each, 'currency conversion, part of its payment');
    }
    joinedByPayment.set(payment, {
      ...payment,
      signed: paidSide.signed,
      currency: paidSide.currency,
    });
  }
  return entries
    .filter((entry) => !usedEntries.has(entry))
    .map((entry) => joinedByPayment.get(entry) ?? entry);
}

function normalizeCurrencies(
  entries: readonly Entry[],
  readCurrency: CurrencyReader,
): readonly Entry[] {
  return entries.map((entry) =>
    entry.currency === null ? entry : { ...entry, currency: readCurrency(entry.currency) },
  );
}

function countCurrencies(entries: readonly Entry[]): number {
  return new Set(entries.flatMap(({ currency }) => currency ?? [])).size;
}

function keepChosenCurrencies(
  entries: readonly Entry[],
  chosenCodes: readonly string[] | undefined,
  addLeftOut: AddLeftOut,
  questions: Question[],
): readonly Entry[] {
  if (chosenCodes !== undefined)
    return entries.filter(
      (entry) =>
        entry.currency === null ||
        chosenCodes.includes(entry.currency) ||
        addLeftOut(entry, `in ${entry.currency}`),
    );
  const currencies = [...Map.groupBy(entries, ({ currency }) => currency)].flatMap(
    ([currency, rows]) => (currency === null ? [] : { currency, rows: rows.length }),
  );
  if (currencies.length > 1)
    questions.push({ topic: 'currency', message: describeCurrencies(currencies) });
  return entries;
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
function describeAccounts(entries: readonly Entry[]): readonly string[] {
  if (entries.every(({ account }) => account === entries[0]?.account)) return [];
  const accounts = [...Map.groupBy(entries, ({ account }) => account ?? 'no account')];
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
function askAboutDoubleEntries(entries: readonly Entry[]): readonly Question[] {
  const groups = Map.groupBy(entries, ({ date }) => date)
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
  if (balancedGroups.length < 2 || rows < entries.length * 0.8) return [];
  const accounts = [...new Set(entries.flatMap(({ account }) => account ?? []))];
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
  readonly entries: readonly Entry[];
  readonly finding?: string;
  readonly question?: Question;
}

/**
 * Decides whether the signs are reversed. Most entries of a household are expenses, so a file that has mostly income by its
 * signs alone is suspect.
 */
function decideDirection(
  entries: readonly Entry[],
  { isInverted, isPreviewAccepted }: CheckOptions,
): DirectionDecision {
  const invert = () =>
    entries.map((entry) =>
      entry.isDirectionStated ? entry : { ...entry, signed: 0 - entry.signed },
    );
  if (isInverted)
    return { entries: entries.map((entry) => ({ ...entry, signed: 0 - entry.signed })) };
  const unstatedEntries = entries.filter(({ isDirectionStated }) => !isDirectionStated);
  const incomeEntries = unstatedEntries.filter(({ signed }) => signed > 0);
  const negativeEntries = unstatedEntries.filter(({ signed }) => signed < 0);
  const isMostlyIncome = incomeEntries.length * 2 > entries.length;
  if (isPreviewAccepted) return { entries };
  const isPayment = hasText(isCardPayment);
  const isCardFile =
    negativeEntries.some(isPayment) &&
    negativeEntries.every((each) => isPayment(each) || hasText(isCardRefund)(each));
  if (isMostlyIncome && isCardFile && !incomeEntries.some(({ texts }) => texts.some(isIncomeText)))
    return {
      entries: invert(),
      finding:
        'positive amounts are expenses: the negative ones are payments to the card (--as-it-is reads them as they are)',
    };
  if (isMostlyIncome)
    return {
      entries,
      question: {
        topic: 'direction',
        message: describeIncome(incomeEntries.length, entries.length),
      },
    };
  const { agreeingCount, reversedCount, pairCount } = compareWithBalances(entries);
  if (reversedCount > agreeingCount && reversedCount * 2 >= pairCount)
    return {
      entries,
      question: {
        topic: 'direction',
        message:
          'The balances contradict the signs: they fall where the amounts are positive. Reverse the signs with --invert, or keep them with --as-it-is.',
      },
    };
  return { entries };
}

function hasText(matches: (text: string) => boolean) {
  return ({ texts, entryType }: Entry) => [...texts, entryType ?? ''].some(matches);
}

const INCOME_TEXT =
  /salary|payroll|wage|gehalt|lohn|salaire|salario|stipendio|pension|rente\b|工资|給与/i;

function isIncomeText(text: string): boolean {
  return INCOME_TEXT.test(text);
}

function describeIncome(incomeCount: number, rowCount: number): string {
  return `${incomeCount} of ${pluralize(rowCount, 'row')} would be income. If positive amounts are expenses, as on cards, add --invert. If a column says which is which, name it and its words: --type COLUMN --income WORD --expense WORD. If the preview is right, add --as-it-is.`;
}
