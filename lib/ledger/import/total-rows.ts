// Finds rows that are sums of other rows: totals that card issuers write for each card and month, dated like an entry, and
// balances in the first and last row of a file.
import type { Entry, Question } from './entry.ts';

const TOTAL =
  /\b(?:sub ?totals?|totals?|totale|totaal|sum|suma|summa|summe|gesamt|gesamtsumme|razem|celkem|toplam|yhteensä)\b|итого|всего|合計|小計|合计|總計|합계/iu;

/**
 * Finds rows that are called a total and are the sum of at least two rows before them, or after them if the newest row comes
 * first. The name alone proves nothing, because a shop may be called Total. Nor does the sum of a single row.
 */
export function findTotals(entries: readonly Entry[]): ReadonlySet<Entry> {
  if (!entries.some(isNamedTotal)) return new Set();
  return new Set([...findSums(entries), ...findSums(entries.toReversed())]);
}

/** A fast first test: only texts that match it need the slow match of whole words in all scripts. */
const HINT = /tota|sum|gesamt|razem|celkem|toplam|yhteens|[\u0400-\uffff]/i;

function isNamedTotal({ texts }: Entry): boolean {
  return texts.some((text) => HINT.test(text) && TOTAL.test(text));
}

function findSums(entries: readonly Entry[]): readonly Entry[] {
  const totals: Entry[] = [];
  let [totalCents, sectionCents, rowCount] = [0, 0, 0];
  for (const entry of entries) {
    const cents = Math.round(entry.signed * 100);
    if (
      isNamedTotal(entry) &&
      rowCount > 1 &&
      [totalCents, sectionCents].some((sum) => equals(sum, cents))
    ) {
      totals.push(entry);
      sectionCents = 0;
      continue;
    }
    totalCents += cents;
    sectionCents += cents;
    rowCount += 1;
  }
  return totals;
}

/** Compares without signs, because a total may have none. */
function equals(sum: number, cents: number): boolean {
  return sum !== 0 && Math.abs(sum) === Math.abs(cents);
}

const MIN_ROWS_BETWEEN = 3;

/** Asks whether the first and the last row are balances, in any language: the rows between add up to the difference. */
export function askAboutBalances(entries: readonly Entry[]): readonly Question[] {
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last || entries.length < MIN_ROWS_BETWEEN + 2) return [];
  const toCents = ({ signed }: Entry) => Math.round(signed * 100);
  const movedCents = entries.slice(1, -1).reduce((sum, entry) => sum + toCents(entry), 0);
  if (movedCents === 0 || Math.abs(toCents(last) - toCents(first)) !== Math.abs(movedCents))
    return [];
  const message = `Lines ${first.line} and ${last.line} seem to be balances: the rows between them add up to the difference. Remove both from the file, or add --as-it-is if they are transactions.`;
  return [{ topic: 'columns', message }];
}
