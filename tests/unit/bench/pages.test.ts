// Which pages are measured.
import { describe, expect, it } from 'vitest';
import { lastPage, measuredPages } from '../../../bench/pages.ts';
import { seededRandom } from '../../../cli/seed/seeded-random.ts';

describe('the last page', () => {
  it.each([
    { total: 0, page: 1 },
    { total: 20, page: 1 },
    { total: 21, page: 2 },
    { total: 100_000, page: 5_000 },
  ])('of $total rows is $page', ({ total, page }) => {
    expect(lastPage(total)).toBe(page);
  });
});

it('first, second, middle and last are always measured, and none twice', () => {
  const pages = measuredPages(100_000, seededRandom(1));
  expect(pages.slice(0, 4)).toEqual([1, 2, 2_500, 5_000]);
  expect(new Set(pages).size).toBe(pages.length);
  expect(pages.length).toBeGreaterThan(10);
});

it('of a list that has one page, that page is measured once', () => {
  expect(measuredPages(3, seededRandom(1))).toEqual([1]);
});
