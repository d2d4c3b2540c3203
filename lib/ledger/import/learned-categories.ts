// Proposes categories for rows without one, from the rows that have one: rows whose descriptions share words, apart from the card
// numbers, dates and references that banks add. Income and expenses are learned apart.
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

/** How many rows with these words each category has. */
type Counts = Map<string, number>;

const MIN_ROWS = 2;
const MIN_SHARE = 4 / 5;
/** Words in more than a fifth of the rows may be the bank's own; fewer rows do not show it. */
const COMMON_SHARE = 1 / 5;
const MIN_LEDGER_ROWS = 30;
/** Longer phrases are found by these parts of them. */
const MAX_PHRASE_WORDS = 3;
/** Stands for every description of a type. */
const ANY_WORDS = '*';
/** Words that are used of a description, which may have 1,000 characters. */
const MAX_WORDS = 24;
const MIN_WORD_LENGTH = 2;
/** Standard score of the lower bound: one-sided 95 %. */
const CONFIDENCE = 1.645;
/** H&M and O'Neill are one word each. */
const JOINED = /(?<=\p{L})[&'’](?=\p{L})/gu;
/** A proposal stands when no other category has nearly the same support. */
const MIN_LEAD = 1.25;

/** @param rows earlier ones, with the names of their categories */
export function learnCategories(rows: Iterable<CategorisedRow>): ProposeCategory {
  const counts = new Map<string, Counts>();
  for (const { description, type, category } of rows)
    for (const phrase of new Set([ANY_WORDS, ...listPhrases(listWords(description))])) {
      const key = `${type} ${phrase}`;
      const known = counts.get(key) ?? new Map<string, number>();
      known.set(category, (known.get(category) ?? 0) + 1);
      counts.set(key, known);
    }
  return ({ description, type }) => {
    const words = listWords(description);
    const whole = words.join(' ');
    const general = counts.get(`${type} ${ANY_WORDS}`);
    const proposals = listPhrases(words).flatMap((phrase) => {
      const known = counts.get(`${type} ${phrase}`);
      return readProposal(phrase, known, phrase === whole ? undefined : general) ?? [];
    });
    return chooseProposal(proposals);
  };
}

/**
 * At least two rows, four fifths of them in one category.
 * @param general counts of all rows, where the words are only a part of the description: words that a bank puts into many rows tell
 * little, so the category must be much more frequent with them than without
 */
function readProposal(
  words: string,
  counts: Counts = new Map(),
  general: Counts = new Map(),
): Proposal | undefined {
  const rows = sumCounts(counts);
  const [category, most] = [...counts].reduce(
    (best, each) => (each[1] > best[1] ? each : best),
    ['', 0],
  );
  const all = sumCounts(general);
  const isCommon = all >= MIN_LEDGER_ROWS && rows > all * COMMON_SHARE;
  const usual = isCommon ? (general.get(category) ?? 0) / all : 0;
  const share = Math.max(MIN_SHARE, (1 + usual) / 2);
  return most < MIN_ROWS || most < rows * share ? undefined : { category, words, rows };
}

function sumCounts(counts: Counts): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}

/**
 * The category with the most support. "amazon prime" overrules "amazon", which it contains; of unrelated words, those of more rows
 * tell more, so a city that came up twice does not outvote a shop.
 */
function chooseProposal(proposals: readonly Proposal[]): Proposal | undefined {
  const standing = proposals.filter(
    ({ words, category }) =>
      !proposals.some((other) => other.category !== category && contains(other.words, words)),
  );
  const ranked = standing.toSorted((one, other) => support(other) - support(one));
  const [best] = ranked;
  const rival = ranked.find(({ category }) => category !== best?.category);
  return best && rival && support(best) < support(rival) * MIN_LEAD ? undefined : best;
}

function contains(phrase: string, part: string): boolean {
  return phrase.length > part.length && ` ${phrase} `.includes(` ${part} `);
}

/** Lower bound of the share that further rows with the words would have (Wilson), as if all so far agreed. */
function support({ rows }: Proposal): number {
  return rows / (rows + CONFIDENCE ** 2);
}

/** Runs of one to three words, and all of them. */
function listPhrases(words: readonly string[]): readonly string[] {
  if (words.length === 0) return [];
  const runs = words.flatMap((_, first) =>
    Array.from({ length: Math.min(MAX_PHRASE_WORDS, words.length - first) }, (_each, n) =>
      words.slice(first, first + n + 1).join(' '),
    ),
  );
  return words.length > MAX_PHRASE_WORDS ? [...runs, words.join(' ')] : runs;
}

/** In lower case. A word with digits is a number of a card, a date or a reference, unless it only ends with some. */
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
