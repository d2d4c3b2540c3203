// Finds split entries. Some exports contain such an entry twice: whole, with "Split" as its category, and in parts below it.
import type { Entry } from './entry.ts';

const SPLIT_CATEGORY = /^[-–\s[(]*(?:splits?|split transaction|aufgeteilt)[-–\s\])]*$/i;
const MAX_PARTS = 30;

/** Finds entries whose parts follow: rows of the same date that add up to the amount. */
export function findSplitEntries(entries: readonly Entry[]): ReadonlySet<Entry> {
  return new Set(
    entries.filter((entry, n) => {
      const isNamedSplit = entry.category !== null && SPLIT_CATEGORY.test(entry.category);
      return isNamedSplit && isSum(entry, entries.slice(n + 1, n + 1 + MAX_PARTS));
    }),
  );
}

function isSum(total: Entry, followingEntries: readonly Entry[]): boolean {
  let cents = 0;
  for (const [n, { date, signed }] of followingEntries.entries()) {
    if (date !== total.date) return false;
    cents += Math.round(signed * 100);
    if (n > 0 && cents === Math.round(total.signed * 100)) return true;
  }
  return false;
}
