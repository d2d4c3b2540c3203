// Finds both sides of a transfer between two accounts of one file: neither of them is income or expense.
import { toDayNumber } from '../domain/calendar-date.ts';
import type { Entry, Question } from './entry.ts';

export interface Transfers {
  /** Rows on both sides of each certain transfer. */
  readonly transferRows: ReadonlySet<Entry>;
  readonly findings: readonly string[];
  readonly questions: readonly Question[];
}

/** Days between the sides, nearest first: a transfer between two banks takes up to three over a weekend. */
const DAY_OFFSETS = [0, 1, -1, 2, -2, 3, -3];
/** Maximum number of rows that each row is compared with: a day may have thousands of equal amounts. */
const MAX_COMPARED = 20;
const MAX_SHOWN = 5;

export function findTransfers(entries: readonly Entry[]): Transfers {
  const pairs = listPairs(entries);
  const { sure = [], likely = [], possible = [] } = Object.groupBy(pairs, rateCertainty);
  return {
    transferRows: new Set(sure.flatMap(({ outgoing, incoming }) => [outgoing, incoming])),
    questions: likely.length === 0 ? [] : [askAboutTransfers(likely)],
    findings: possible.length === 0 ? [] : [describePossible(possible)],
  };
}

interface Pair {
  readonly outgoing: Entry;
  readonly incoming: Entry;
  readonly days: number;
  /** The evidence of both sides, the weaker one first. */
  readonly evidence: readonly [Evidence, Evidence];
}

/** Lists pairs of opposite amounts in two accounts, each row in at most one pair. */
function listPairs(entries: readonly Entry[]): readonly Pair[] {
  const entriesWithAccount = entries.filter(({ account }) => account !== null);
  if (entriesWithAccount.every(({ account }) => account === entriesWithAccount[0]?.account))
    return [];
  const groups = Map.groupBy(
    entriesWithAccount,
    ({ signed, currency }) => `${Math.abs(signed)} ${currency}`,
  );
  return [...groups.values()].flatMap(pairGroup);
}

/**
 * Chooses between pairs that share a row: the most evidence wins, then the nearest date. A payment may have the same amount.
 */
function pairGroup(group: readonly Entry[]): readonly Pair[] {
  const usedEntries = new Set<Entry>();
  return listCandidates(group)
    .toSorted((a, b) => addEvidence(b.evidence) - addEvidence(a.evidence) || a.days - b.days)
    .filter(({ outgoing, incoming }) => {
      const isPairFree = !usedEntries.has(outgoing) && !usedEntries.has(incoming);
      if (isPairFree) usedEntries.add(outgoing).add(incoming);
      return isPairFree;
    });
}

function listCandidates(group: readonly Entry[]): readonly Pair[] {
  const { expenses = [], incomes = [] } = Object.groupBy(group, ({ signed }) =>
    signed < 0 ? 'expenses' : 'incomes',
  );
  const incomesByDay = Map.groupBy(incomes, ({ date }) => toDayNumber(date));
  return expenses.flatMap((outgoing) => {
    const day = toDayNumber(outgoing.date);
    return DAY_OFFSETS.flatMap((offset) => incomesByDay.get(day + offset) ?? [])
      .filter((incoming) => incoming.account !== outgoing.account)
      .slice(0, MAX_COMPARED)
      .map((incoming) => ({
        ...{ outgoing, incoming, days: Math.abs(toDayNumber(incoming.date) - day) },
        evidence: compareEvidence(outgoing, incoming),
      }));
  });
}

function compareEvidence(outgoing: Entry, incoming: Entry): Pair['evidence'] {
  const [first, second] = [readEvidence(outgoing, incoming), readEvidence(incoming, outgoing)];
  return first < second ? [first, second] : [second, first];
}

function addEvidence([weaker, stronger]: Pair['evidence']): number {
  return weaker + stronger;
}

type Rating = 'sure' | 'likely' | 'possible' | 'chance';

/** Rates a pair. It is sure if both texts mention a transfer, and one of them shows that it is between the user's own accounts. */
function rateCertainty({ days, evidence: [weaker, stronger] }: Pair): Rating {
  if (weaker !== EVIDENCE.none && stronger === EVIDENCE.own) return 'sure';
  if (stronger !== EVIDENCE.none) return 'likely';
  return days === 0 ? 'possible' : 'chance';
}

const EVIDENCE = { none: 0, transfer: 1, own: 2 } as const;
type Evidence = (typeof EVIDENCE)[keyof typeof EVIDENCE];

/** Words for a transfer. They do not prove that it is between the user's own accounts: rent and wages are paid by transfer too. */
const TRANSFER =
  /(?<!\p{L})(?:transfers?|xfer|tfr|trf|transferencias?|transferência|trasferimento|bonifico|virement|virt?|überweisung|overboeking|överföring|overføring|overførsel|tilisiirto|siirto|przelew|prevod|převod|havale|перевод|переказ|card payment)(?!\p{L})|转账|轉帳|振替|이체/iu;
const OWN_TRANSFER =
  /(?<!\p{L})(?:giroconto|traspaso|übertrag|umbuchung|átvezetés|virman|credit card payment|umsatz eigenes konto)(?!\p{L})/iu;
const MIN_NAME_LENGTH = 3;

/**
 * Rates the evidence of a row. A transfer between the user's own accounts is shown by a word for it, the name of the other
 * account, a category that is only for transfers, or the absence of other text.
 */
function readEvidence({ texts, entryType, category, notes }: Entry, { account }: Entry): Evidence {
  const allTexts = [...texts, entryType ?? '', category ?? '', notes ?? ''].join('\n');
  const saysTransfer = TRANSFER.test(allTexts);
  // The text must say nothing else: "Transfers & payments" is a category of other payments as well.
  const saysOnlyTransfer =
    saysTransfer &&
    (saysNothingElse([category ?? '-']) || saysNothingElse([...texts, notes ?? '']));
  if (OWN_TRANSFER.test(allTexts) || isNamed(account, allTexts) || saysOnlyTransfer)
    return EVIDENCE.own;
  return saysTransfer ? EVIDENCE.transfer : EVIDENCE.none;
}

function saysNothingElse(texts: readonly string[]): boolean {
  return texts.every((text) => text.replace(TRANSFER, '').trim() === '');
}

/**
 * Characters that continue a word: "cashew" does not name the account "cash". Letters without upper and lower case do not
 * count, because their scripts may have no spaces between words.
 */
const WORD_CHARACTER = /[\p{Lu}\p{Ll}\p{N}]/u;

function isNamed(account: string | null, text: string): boolean {
  const [name, lowerCaseText] = [account?.toLowerCase() ?? '', text.toLowerCase()];
  if (name.length < MIN_NAME_LENGTH) return false;
  const parts = lowerCaseText.split(name);
  return parts.some((before, n) => {
    const after = parts[n + 1];
    return after !== undefined && !WORD_CHARACTER.test(`${before.slice(-1)}${after.slice(0, 1)}`);
  });
}

function showPairs(pairs: readonly Pair[]): string {
  const shownPairs = pairs
    .slice(0, MAX_SHOWN)
    .map(
      ({ outgoing, incoming }) =>
        `${outgoing.date} ${incoming.signed} (lines ${outgoing.line} and ${incoming.line})`,
    );
  const moreTexts =
    pairs.length > shownPairs.length ? [`${pairs.length - shownPairs.length} more`] : [];
  return [...shownPairs, ...moreTexts].join(', ');
}

function askAboutTransfers(pairs: readonly Pair[]): Question {
  const message = `Rows may be both sides of a transfer between accounts of the file: ${showPairs(pairs)}. Import one account alone with --only-account "${pairs[0]?.outgoing.account}", or add --as-it-is if they are income and expenses.`;
  return { topic: 'postings', message };
}

function describePossible(pairs: readonly Pair[]): string {
  return `rows of two accounts cancel each other out on one day: ${showPairs(pairs)}. If they are transfers, import one account alone with --only-account "${pairs[0]?.outgoing.account}"`;
}
