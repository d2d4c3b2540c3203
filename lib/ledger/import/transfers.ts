// Finds both sides of a transfer between two accounts of one file: together they are neither income nor an expense.
import { toDayNumber } from '../domain/calendar-date.ts';
import type { Booking, Need } from './booking.ts';

export interface Transfers {
  /** Both rows of each certain transfer. */
  readonly sides: ReadonlySet<Booking>;
  readonly findings: readonly string[];
  readonly needs: readonly Need[];
}

/** Days between the sides, nearest first: three between two banks, with a weekend. */
const STEPS = [0, 1, -1, 2, -2, 3, -3];
/** Number of rows compared: a day may have thousands of equal amounts. */
const MAX_COMPARED = 20;
const MAX_SHOWN = 5;

export function findTransfers(bookings: readonly Booking[]): Transfers {
  const pairs = listPairs(bookings);
  const { sure = [], likely = [], possible = [] } = Object.groupBy(pairs, rate);
  return {
    sides: new Set(sure.flatMap(({ out, back }) => [out, back])),
    needs: likely.length === 0 ? [] : [askAboutTransfers(likely)],
    findings: possible.length === 0 ? [] : [describePossible(possible)],
  };
}

interface Pair {
  readonly out: Booking;
  readonly back: Booking;
  readonly days: number;
  /** The evidence of both sides, the weaker one first. */
  readonly evidence: readonly [Evidence, Evidence];
}

/** Lists pairs of opposite amounts in two accounts, each row in at most one pair. */
function listPairs(bookings: readonly Booking[]): readonly Pair[] {
  const named = bookings.filter(({ account }) => account !== null);
  if (named.every(({ account }) => account === named[0]?.account)) return [];
  const groups = Map.groupBy(named, ({ signed, currency }) => `${Math.abs(signed)} ${currency}`);
  return [...groups.values()].flatMap(pairGroup);
}

/**
 * Chooses between pairs that share a row, because a payment may have the same amount: the most evidence wins, then the nearest
 * date.
 */
function pairGroup(group: readonly Booking[]): readonly Pair[] {
  const used = new Set<Booking>();
  return listCandidates(group)
    .toSorted((one, other) => sum(other.evidence) - sum(one.evidence) || one.days - other.days)
    .filter(({ out, back }) => {
      const isFree = !used.has(out) && !used.has(back);
      if (isFree) used.add(out).add(back);
      return isFree;
    });
}

function listCandidates(group: readonly Booking[]): readonly Pair[] {
  const { outs = [], backs = [] } = Object.groupBy(group, ({ signed }) =>
    signed < 0 ? 'outs' : 'backs',
  );
  const backsByDay = Map.groupBy(backs, ({ date }) => toDayNumber(date));
  return outs.flatMap((out) => {
    const day = toDayNumber(out.date);
    return STEPS.flatMap((step) => backsByDay.get(day + step) ?? [])
      .filter((back) => back.account !== out.account)
      .slice(0, MAX_COMPARED)
      .map((back) => ({
        ...{ out, back, days: Math.abs(toDayNumber(back.date) - day) },
        evidence: compareEvidence(out, back),
      }));
  });
}

function compareEvidence(out: Booking, back: Booking): Pair['evidence'] {
  const [one, other] = [readEvidence(out, back), readEvidence(back, out)];
  return one < other ? [one, other] : [other, one];
}

function sum([one, other]: Pair['evidence']): number {
  return one + other;
}

type Rating = 'sure' | 'likely' | 'possible' | 'chance';

/** Rates a pair. It is sure if both sides speak of a transfer, and one of them shows that it is between own accounts. */
function rate({ days, evidence: [less, more] }: Pair): Rating {
  if (less !== EVIDENCE.none && more === EVIDENCE.own) return 'sure';
  if (more !== EVIDENCE.none) return 'likely';
  return days === 0 ? 'possible' : 'chance';
}

const EVIDENCE = { none: 0, transfer: 1, own: 2 } as const;
type Evidence = (typeof EVIDENCE)[keyof typeof EVIDENCE];

/** Words for a transfer. They do not prove one between own accounts: rent and wages are paid by transfer as well. */
const TRANSFER =
  /(?<!\p{L})(?:transfers?|xfer|tfr|trf|transferencias?|transferência|trasferimento|bonifico|virement|virt?|überweisung|overboeking|överföring|overføring|overførsel|tilisiirto|siirto|przelew|prevod|převod|havale|перевод|переказ|card payment)(?!\p{L})|转账|轉帳|振替|이체/iu;
const OWN_TRANSFER =
  /(?<!\p{L})(?:giroconto|traspaso|übertrag|umbuchung|átvezetés|virman|credit card payment|umsatz eigenes konto)(?!\p{L})/iu;
const MIN_NAME_LENGTH = 3;

/**
 * Reads how strongly a row speaks of a transfer. Between own accounts, a row has a word for that, the name of the other
 * account, a category of transfers alone, or no other text.
 */
function readEvidence(
  { texts, bookingType, category, notes }: Booking,
  { account }: Booking,
): Evidence {
  const all = [...texts, bookingType ?? '', category ?? '', notes ?? ''].join('\n');
  const isTold = TRANSFER.test(all);
  // The text must say nothing else: "Transfers & payments" is a category of other payments as well.
  const isAlone =
    isTold && (saysNothingElse([category ?? '-']) || saysNothingElse([...texts, notes ?? '']));
  if (OWN_TRANSFER.test(all) || isNamed(account, all) || isAlone) return EVIDENCE.own;
  return isTold ? EVIDENCE.transfer : EVIDENCE.none;
}

function saysNothingElse(texts: readonly string[]): boolean {
  return texts.every((text) => text.replace(TRANSFER, '').trim() === '');
}

/**
 * Characters that continue a word: "cash" is not named in "cashew". Scripts without upper and lower case are not among them,
 * because they may have no spaces between words.
 */
const CASED = /[\p{Lu}\p{Ll}\p{N}]/u;

function isNamed(account: string | null, text: string): boolean {
  const [name, lower] = [account?.toLowerCase() ?? '', text.toLowerCase()];
  if (name.length < MIN_NAME_LENGTH) return false;
  const parts = lower.split(name);
  return parts.some((before, n) => {
    const after = parts[n + 1];
    return after !== undefined && !CASED.test(`${before.slice(-1)}${after.slice(0, 1)}`);
  });
}

function showPairs(pairs: readonly Pair[]): string {
  const shown = pairs
    .slice(0, MAX_SHOWN)
    .map(({ out, back }) => `${out.date} ${back.signed} (lines ${out.line} and ${back.line})`);
  const more = pairs.length > shown.length ? [`${pairs.length - shown.length} more`] : [];
  return [...shown, ...more].join(', ');
}

function askAboutTransfers(pairs: readonly Pair[]): Need {
  const message = `Rows may be both sides of a transfer between accounts of the file: ${showPairs(pairs)}. Import one account alone with --only-account "${pairs[0]?.out.account}", or add --as-it-is if they are income and expenses.`;
  return { question: 'postings', message };
}

function describePossible(pairs: readonly Pair[]): string {
  return `rows of two accounts cancel each other out on one day: ${showPairs(pairs)}. If they are transfers, import one account alone with --only-account "${pairs[0]?.out.account}"`;
}
