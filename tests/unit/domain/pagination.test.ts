// Page numbers over a total, its edges above all.
import { expect, test } from 'vitest';
import { offsetOf, paginate } from '../../../lib/domain/pagination.ts';

test.each([
  [1, 20, 0, { pages: 0, has_next: false, has_prev: false }],
  [3, 20, 0, { pages: 0, has_next: false, has_prev: true }],
  [1, 20, 1, { pages: 1, has_next: false, has_prev: false }],
  [1, 20, 20, { pages: 1, has_next: false, has_prev: false }],
  [1, 20, 21, { pages: 2, has_next: true, has_prev: false }],
  [2, 20, 21, { pages: 2, has_next: false, has_prev: true }],
  [2, 1, 3, { pages: 3, has_next: true, has_prev: true }],
  [9, 100, 101, { pages: 2, has_next: false, has_prev: true }],
])('page %i of %i a page over %i', (page, per_page, total, rest) => {
  expect(paginate(page, per_page, total)).toStrictEqual({ page, per_page, total, ...rest });
});

test.each([
  [1, 20, 0],
  [2, 20, 20],
  [5, 7, 28],
])('before page %i of %i a page come %i', (page, perPage, offset) => {
  expect(offsetOf(page, perPage)).toBe(offset);
});
