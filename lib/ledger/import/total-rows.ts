// Finds rows that are sums of other rows: totals that card issuers write for each card and month, dated like a booking, and
// balances in the first and last row of a file.
import type { Booking, Question } from './booking.ts';

const TOTAL =
  /\b(?:sub ?totals?|totals?|totale|totaal|sum|suma|summa|summe|gesamt|gesamtsumme|razem|celkem|toplam|yhteensä)\b|итого|всего|合計|小計|合计|總計|합계/iu;

/**
 * Finds rows that are called a total and are the sum of at least two rows before them, or after them if the newest row comes
 * first. The name alone proves nothing, because a shop may be called Total. Nor does the sum of a single row.
 */
export function findTotals(bookings: readonly Booking[]): ReadonlySet<Booking> {
  if (!bookings.some(isNamedTotal)) return new Set();
  return new Set([...findSums(bookings), ...findSums(bookings.toReversed())]);
}

/** A fast first test: only texts that match it need the slow match of whole words in all scripts. */
const HINT = /tota|sum|gesamt|razem|celkem|toplam|yhteens|[\u0400-\uffff]/i;

function isNamedTotal({ texts }: Booking): boolean {
  return texts.some((text) => HINT.test(text) && TOTAL.test(text));
}

function findSums(bookings: readonly Booking[]): readonly Booking[] {
  const totals: Booking[] = [];
  let [totalCents, sectionCents, rowCount] = [0, 0, 0];
  for (const booking of bookings) {
    const cents = Math.round(booking.signed * 100);
    if (
      isNamedTotal(booking) &&
      rowCount > 1 &&
      [totalCents, sectionCents].some((sum) => equals(sum, cents))
    ) {
      totals.push(booking);
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
export function askAboutBalances(bookings: readonly Booking[]): readonly Question[] {
  const [first, last] = [bookings[0], bookings.at(-1)];
  if (!first || !last || bookings.length < MIN_ROWS_BETWEEN + 2) return [];
  const toCents = ({ signed }: Booking) => Math.round(signed * 100);
  const movedCents = bookings.slice(1, -1).reduce((sum, booking) => sum + toCents(booking), 0);
  if (movedCents === 0 || Math.abs(toCents(last) - toCents(first)) !== Math.abs(movedCents))
    return [];
  const message = `Lines ${first.line} and ${last.line} seem to be balances: the rows between them add up to the difference. Remove both from the file, or add --as-it-is if they are bookings.`;
  return [{ topic: 'columns', message }];
}
