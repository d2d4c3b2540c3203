// Proposes categories for rows without one, from categorised rows whose descriptions share words with theirs. Card numbers, dates
// and references, which banks add, do not count. Income and expenses are learned separately.
import type { TransactionType } from '../domain/transaction.ts';

/** A row to learn from, or to propose a category for. */
export interface DescribedRow {
  readonly description: string;
  readonly type: TransactionType;
}

export interface CategorisedRow extends DescribedRow {
  readonly category: string;
}

export interface Proposal {
  readonly category: string;
  /** Words that the earlier rows share with this one. */
  readonly words: string;
  /** How many earlier rows have these words. */
  readonly rows: number;
}

export type ProposeCategory = (row: DescribedRow) => Proposal | undefined;

/** Number of rows with the same words in each category. */
type Counts = Map<string, number>;

const MIN_ROWS = 2;
const MIN_SHARE = 4 / 5;
/** Words in more than this share of the rows may be the bank's own. */
const COMMON_SHARE = 1 / 5;
/** In a smaller ledger, frequent words prove nothing. */
const MIN_LEDGER_ROWS = 30;
/** Longer phrases are recognized by their runs of at most this many words. */
const MAX_PHRASE_WORDS = 3;
/** Key of the counts over all descriptions of a type. */
const ANY_WORDS = '*';
/** Number of words used from a description, which may have 1,000 characters. */
const MAX_WORDS = 24;
const MIN_WORD_LENGTH = 2;
/** Standard score of a one-sided lower bound of 95 %. */
const CONFIDENCE = 1.645;
/** Signs within a word: H&M and O'Neill are single words. */
const JOINED = /(?<=\p{L})[&'’](?=\p{L})/gu;
/** A proposal needs this many times the support of the next category. */
const MIN_LEAD = 1.25;

/** @param rows earlier rows, with the names of their categories */
export function learnCategories(rows: Iterable<CategorisedRow>): ProposeCategory {
  const counts = new Map<string, Counts>();
  for (const { description, type, category } of rows)
    for (const phrase of new Set([ANY_WORDS, ...listPhrases(listWords(description))])) {
      const key = `${type} ${phrase}`;
      const keyCounts = counts.get(key) ?? new Map<string, number>();
      keyCounts.set(category, (keyCounts.get(category) ?? 0) + 1);
      counts.set(key, keyCounts);
    }
  return ({ description, type }) => {
    const words = listWords(description);
    const wholeText = words.join(' ');
    const generalCounts = counts.get(`${type} ${ANY_WORDS}`);
    const proposals = listPhrases(words).flatMap((phrase) => {
      const phraseCounts = counts.get(`${type} ${phrase}`);
      return (
        createProposal(phrase, phraseCounts, phrase === wholeText ? undefined : generalCounts) ?? []
      );
    });
    return chooseProposal(proposals);
  };
}

/**
 * Proposes the category that at least two rows with these words have, and at least four fifths of all rows with them.
 * @param generalCounts counts of all rows, given if the words are only a part of the description: a bank puts some words into
 * many rows, so the category must be much more frequent with the words than without
 */
function createProposal(
  words: string,
  counts: Counts = new Map(),
  generalCounts: Counts = new Map(),
): Proposal | undefined {
  const rows = sumCounts(counts);
  const [category, rowCount] = [...counts].reduce(
    (best, each) => (each[1] > best[1] ? each : best),
    ['', 0],
  );
  const totalRows = sumCounts(generalCounts);
  const areWordsCommon = totalRows >= MIN_LEDGER_ROWS && rows > totalRows * COMMON_SHARE;
  const usualShare = areWordsCommon ? (generalCounts.get(category) ?? 0) / totalRows : 0;
  const minShare = Math.max(MIN_SHARE, (1 + usualShare) / 2);
  return rowCount < MIN_ROWS || rowCount < rows * minShare ? undefined : { category, words, rows };
}

function sumCounts(counts: Counts): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}

/**
 * Chooses the category with the most support. "amazon prime" outranks "amazon", which it contains; among unrelated words, those
 * in more rows count more, so a city that came up twice does not outvote a shop.
 */
function chooseProposal(proposals: readonly Proposal[]): Proposal | undefined {
  const uncontradictedProposals = proposals.filter(
    ({ words, category }) =>
      !proposals.some((other) => other.category !== category && containsPhrase(other.words, words)),
  );
  const rankedProposals = uncontradictedProposals.toSorted(
    (a, b) => measureSupport(b) - measureSupport(a),
  );
  const [bestProposal] = rankedProposals;
  const rivalProposal = rankedProposals.find(({ category }) => category !== bestProposal?.category);
  const hasClearLead =
    bestProposal &&
    (!rivalProposal || measureSupport(bestProposal) >= measureSupport(rivalProposal) * MIN_LEAD);
  return hasClearLead ? bestProposal : undefined;
}

function containsPhrase(phrase: string, part: string): boolean {
  return phrase.length > part.length && ` ${phrase} `.includes(` ${part} `);
}

/** Estimates the share of further rows with these words that will agree: the Wilson lower bound if all rows so far agreed. */
function measureSupport({ rows }: Proposal): number {
  return rows / (rows + CONFIDENCE ** 2);
}

/** Lists the runs of one to three words, and all words together. */
function listPhrases(words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const runs = words.flatMap((_, first) =>
    Array.from({ length: Math.min(MAX_PHRASE_WORDS, words.length - first) }, (_each, n) =>
      words.slice(first, first + n + 1).join(' '),
    ),
  );
  return words.length > MAX_PHRASE_WORDS ? [...runs, words.join(' ')] : runs;
}

/**
 * Lists the words of a description in lower case. Digits at the end of a longer word are cut off; any other word with digits is
 * dropped as a card number, a date or a reference.
 */
export function listWords(description: string): readonly string[] {
  return description
    .normalize('NFKC')
    .toLowerCase()
    .replace(JOINED, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map((word) => word.replace(/^(\p{L}{4,})\p{N}+$/u, '$1'))
    .filter((word) => word.length >= MIN_WORD_LENGTH && !/\p{N}/u.test(word))
    .slice(0, MAX_WORDS);
}
