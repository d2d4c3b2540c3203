// Decides which transactions match a search.
import type { PageRequest } from './pagination.ts';
import type { CategoriesFilter, Transaction } from './transaction.ts';

/** Maximum number of transactions with the dates, type and categories of a search. The search reads all of them. */
export const MAX_SEARCHED_ROWS = 25_000;

export interface SearchCriteria extends CategoriesFilter {
  /** Words in any order, each of them in the description or the notes. */
  readonly text?: string | undefined;
  /** Smallest and largest amount, inclusive. */
  readonly minAmount?: number | undefined;
  readonly maxAmount?: number | undefined;
}

export type SearchQuery = SearchCriteria & PageRequest;

/** Creates a check of a transaction's text and amount. Callers apply it to transactions that meet the other criteria. */
export function createMatcher(search: SearchCriteria): (row: Transaction) => boolean {
  const { text, minAmount = -Infinity, maxAmount = Infinity } = search;
  const words = foldText(text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '');
  return ({ amount, description, notes }) => {
    if (amount < minAmount || amount > maxAmount) return false;
    if (text === undefined) return true;
    const searchedText = foldText(`${description}\n${notes ?? ''}`);
    // A text that has only accents has no words. It must match nothing, not everything.
    return words.length > 0 && words.every((word) => searchedText.includes(word));
  };
}

const ASCII = /^[\0-\x7f]*$/;
const ACCENTS = /[\u0300-\u034e\u0350-\u036f]/g;
/** Normalization takes quadratic time for many marks in a row. A joiner after every 30 marks keeps the runs short. */
const MANY_MARKS = /\p{M}{30}/gu;
const MARK_JOINER = '\u034f';
/** Replaces letters that Unicode does not decompose, and the apostrophes that phones type. */
const PLAIN_FORMS: Readonly<Record<string, string>> = {
  ...{ Ø: 'O', Ł: 'L', Đ: 'D', Ħ: 'H', Ŧ: 'T', Æ: 'AE', Œ: 'OE' },
  ...{ '\u2019': "'", '\u02bc': "'" },
};
const HAS_PLAIN_FORM = new RegExp(`[${Object.keys(PLAIN_FORMS).join('')}]`, 'g');

/** Removes case and accents. The result is in upper case, because lower case has two forms of the Greek sigma. */
function foldText(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  return text
    .replace(MANY_MARKS, `$&${MARK_JOINER}`)
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .normalize('NFKC')
    .toUpperCase()
    .replace(HAS_PLAIN_FORM, (letter) => PLAIN_FORMS[letter] ?? letter);
}
