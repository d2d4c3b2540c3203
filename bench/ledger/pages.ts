// The pages of a list that are measured: the first, the second, the middle, the last, and some at random.
import type { SeededRandom } from '../../cli/seeded-random.ts';

export const PER_PAGE = 20;
const PICKED_BY_CHANCE = 12;

export function lastPage(total: number): number {
  return Math.max(1, Math.ceil(total / PER_PAGE));
}

/** Returns the page numbers without duplicates. */
export function measuredPages(total: number, random: SeededRandom): number[] {
  const last = lastPage(total);
  const picked = Array.from({ length: PICKED_BY_CHANCE }, () => random.integer(1, last));
  return [...new Set([1, Math.min(2, last), Math.ceil(last / 2), last, ...picked])];
}
