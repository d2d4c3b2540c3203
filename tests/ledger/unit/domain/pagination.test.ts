// Page numbers over a total, its edges above all.
import { expect, test } from 'vitest';
import { offsetOf, paginate } from '../../../../lib/ledger/domain/pagination.ts';

test.each([
  [1, 20, 0, { pages: 0, hasNext: false, hasPrev: false }],
  [3, 20, 0, { pages: 0, hasNext: false, hasPrev: true }],
  [1, 20, 1, { pages: 1, hasNext: false, hasPrev: false }],
  [1, 20, 20, { pages: 1, hasNext: false, hasPrev: false }],
  [1, 20, 21, { pages: 2, hasNext: true, hasPrev: false }],
  [2, 20, 21, { pages: 2, hasNext: false, hasPrev: true }],
  [2, 1, 3, { pages: 3, hasNext: true, hasPrev: true }],
  [9, 100, 101, { pages: 2, hasNext: false, hasPrev: true }],
])('page %i of %i a page over %i', (page, perPage, total, rest) => {
  expect(paginate(page, perPage, total)).toStrictEqual({ page, perPage, total, ...rest });
});

test.each([
  [1, 20, 0],
  [2, 20, 20],
  [5, 7, 28],
])('before page %i of %i a page come %i', (page, perPage, offset) => {
  expect(offsetOf(page, perPage)).toBe(offset);
});
