// Pages by number, and pages that continue after a row, especially at their edges.
import { expect, test } from 'vitest';
import {
  computePageOffset,
  createComparator,
  paginate,
  type RowOrder,
  type RowPosition,
  takePage,
} from '../../../../lib/ledger/domain/pagination.ts';

const createPosition = (id: number, amount = id): RowPosition => ({
  date: '2026-03-05',
  createdAt: 0,
  id,
  amount,
});
const makeRows = (count: number) => Array.from({ length: count }, (_, n) => createPosition(n + 1));

test.each([
  [1, 20, 0, { pages: 0, hasNext: false, hasPrev: false }],
  [3, 20, 0, { pages: 0, hasNext: false, hasPrev: true }],
  [1, 20, 1, { pages: 1, hasNext: false, hasPrev: false }],
  [1, 20, 20, { pages: 1, hasNext: false, hasPrev: false }],
  [1, 20, 21, { pages: 2, hasNext: true, hasPrev: false }],
  [2, 20, 21, { pages: 2, hasNext: false, hasPrev: true }],
  [2, 1, 3, { pages: 3, hasNext: true, hasPrev: true }],
  [9, 100, 101, { pages: 2, hasNext: false, hasPrev: true }],
])(
  'page %i, with %i rows per page and %i rows in total, tells whether pages precede and follow it',
  (page, perPage, total, flags) => {
    const order = 'date';
    const rows = takePage(makeRows(total), { page, perPage, order });
    const next = flags.hasNext ? { ...createPosition(page * perPage), order } : null;
    expect(paginate({ page, perPage, order }, rows)).toStrictEqual({
      page,
      perPage,
      total,
      ...flags,
      next,
    });
  },
);

test.each([
  [0, [1, 2], true],
  [1.5, [2, 3], false],
  [2, [3], false],
  [3, [], false],
])(
  'a page continues after a row, whether or not the row still exists: %d',
  (after, ids, hasNext) => {
    const request = { perPage: 2, after: createPosition(after), order: 'date' } as const;
    const page = takePage(makeRows(3), request);
    expect(page.items.map(({ id }) => id)).toEqual(ids);
    const next = hasNext ? { ...createPosition(ids.at(-1) ?? 0), order: 'date' } : null;
    expect(paginate(request, page)).toMatchObject({ page: null, hasPrev: true, hasNext, next });
  },
);

test.each<[RowOrder, number[]]>([
  ['date', [1, 2, 3]],
  ['-date', [3, 2, 1]],
  ['amount', [2, 1, 3]],
  ['-amount', [3, 2, 1]],
])('rows are sorted by %s', (order, ids) => {
  const rows = [createPosition(1, 5), createPosition(2, 5), createPosition(3, 9)];
  expect(rows.toSorted(createComparator(order)).map(({ id }) => id)).toEqual(ids);
});

test.each([
  [1, 20, 0],
  [2, 20, 20],
  [5, 7, 28],
])('page %i, with %i rows per page, starts after %i rows', (page, perPage, offset) => {
  expect(computePageOffset({ page, perPage })).toBe(offset);
});
