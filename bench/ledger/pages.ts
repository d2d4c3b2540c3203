// Selects the pages of a list to measure: the first, the second, the middle, the last, and some at random.
import type { SeededRandom } from '../../cli/seeded-random.ts';

export const PER_PAGE = 20;
const RANDOM_PAGES = 12;

export function findLastPage(total: number): number {
  return Math.max(1, Math.ceil(total / PER_PAGE));
}

/** Selects page numbers without duplicates. */
export function selectPages(total: number, random: SeededRandom): number[] {
  const last = findLastPage(total);
  const randomPages = Array.from({ length: RANDOM_PAGES }, () => random.integer(1, last));
  return [...new Set([1, Math.min(2, last), Math.ceil(last / 2), last, ...randomPages])];
}
