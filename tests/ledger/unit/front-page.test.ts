// The parts of the front page that need no browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import { describe, expect, test } from 'vitest';
import { typesOf } from '../../../cli/describe/client-types.ts';
import type { Summary } from '../../../web/page/api-types.ts';
import { colorOf, contrastOf } from '../../../web/page/colors.ts';
import {
  categoriesOf,
  foldSmall,
  pagesAround,
  periodsOf,
  ticksOf,
} from '../../../web/page/figures.ts';
import { datesBefore, datesOf, hashOf, readState } from '../../../web/page/state.ts';

const PROJECT = join(import.meta.dirname, '../../..');

const first = readState('');

describe('the state in the address', () => {
  test.each([
    '#',
    '#range=3m&category=3&type=income&search=a%26b&page=2&side=income&categories=all',
    '#range=2025&category=none',
  ])('%s is read and written', (hash) => {
    expect(hashOf(readState(hash))).toBe(hash);
  });

  test.each(['#range=x&category=-1&type=y&page=0&side=z', '#page=1e9&category=0', '#%'])(
    '%s is a first visit',
    (hash) => {
      expect(readState(hash)).toEqual(first);
    },
  );

  test('another list begins at its first page, and another page is of the same list', () => {
    const state = readState('#search=tea&page=7');
    expect(hashOf(state, { category: 3 })).toBe('#category=3&search=tea');
    expect(hashOf(state, { side: 'income' })).toBe('#search=tea&page=7&side=income');
  });
});

describe('dates', () => {
  const today = new Date(2024, 1, 29);
  test.each([
    ['month', '2024-02-01', '2024-02-29', '2024-01-01', '2024-01-31'],
    ['12m', '2023-03-01', '2024-02-29', '2022-03-01', '2023-02-28'],
    ['2023', '2023-01-01', '2023-12-31', '2022-01-01', '2022-12-31'],
    // Not over yet.
    ['2024', '2024-01-01', '2024-12-31', '2023-01-01', '2023-02-28'],
    // Not begun.
    ['2025', '2025-01-01', '2025-12-31', '2024-01-01', '2024-12-31'],
  ])('%s is %s to %s, and before it %s to %s', (range, start, end, startBefore, endBefore) => {
    expect(datesOf(range, today)).toEqual({ start_date: start, end_date: end });
    const before = { start_date: startBefore, end_date: endBefore };
    expect(datesBefore(range, today)).toEqual(before);
  });

  test('all dates have none, and nothing before them', () => {
    expect([datesOf('all', today), datesBefore('all', today)]).toEqual([undefined, undefined]);
  });
});

describe('figures', () => {
  const group = (key: number | null, income: number[], expense: number[]) => {
    const net = income.map((each, n) => each - (expense[n] ?? 0));
    return {
      key,
      name: key === null ? key : `No. ${key}`,
      income,
      expense,
      net,
      count: income.map(() => 1),
    };
  };
  const data = {
    income: 5,
    expense: 0.4,
    net: 4.6,
    count: 6,
    months: ['2026-01', '2026-02'],
    groups: [group(1, [5, 0], [0, 0.1]), group(2, [0, 0], [0.1, 0]), group(null, [0, 0], [0, 0.2])],
  } satisfies Summary['data'];

  test('are those of all categories or of one, exact to the cent', () => {
    expect(periodsOf(data, undefined).map(({ expense }) => expense)).toEqual([0.1, 0.3]);
    expect(periodsOf(data, 'none')).toEqual([
      { key: '2026-01', income: 0, expense: 0, net: 0 },
      { key: '2026-02', income: 0, expense: 0.2, net: -0.2 },
    ]);
  });

  test('categories come by amount, without those that have nothing', () => {
    expect(categoriesOf(data, 'expense').map(({ key, share }) => [key, share])).toEqual([
      ['none', 0.5],
      [1, 0.25],
      [2, 0.25],
    ]);
    expect(categoriesOf(data, 'income').map(({ key }) => key)).toEqual([1]);
  });

  test('the small ones are one bar, from ten categories on', () => {
    const bars = Array.from({ length: 10 }, (_, n) => ({
      key: n + 1,
      name: String(n),
      amount: 10 - n,
      share: 0.1,
    }));
    expect(foldSmall(bars.slice(1)).small).toBeUndefined();
    expect(foldSmall(bars).small).toMatchObject({ count: 2, amount: 3 });
  });

  test.each([
    [-30, 70, [-40, -20, 0, 20, 40, 60, 80]],
    [0, 0, [0, 0.5]],
    [-1_000_000, 0, [-1_000_000, -500_000, 0]],
  ])('ticks of %d to %d hold both and zero', (lowest, highest, ticks) => {
    const values = ticksOf(lowest, highest);
    expect(Math.min(...values)).toBeLessThanOrEqual(lowest);
    expect(Math.max(...values)).toBeGreaterThanOrEqual(highest);
    expect(values).toContain(0);
    expect(values.length).toBeLessThanOrEqual(ticks.length + 2);
  });

  test.each([
    [1, 1, [1]],
    [1, 61, [1, 2, undefined, 61]],
    [4, 61, [1, 2, 3, 4, 5, undefined, 61]],
    [61, 61, [1, undefined, 60, 61]],
  ])('page %d of %d links to %j', (page, pages, links) => {
    expect(pagesAround(page, pages)).toEqual(links);
  });
});

test.each(['#ffffff', '#171b22'])('colors can be seen on %s', (background) => {
  const own = ['#FBC02D', '#000', '#ffff', '#12345678', null];
  const colors = [...own, ...own, ...own].map((color, n) => colorOf(color, n, background));
  for (const color of colors)
    expect(contrastOf(color, background), color).toBeGreaterThanOrEqual(4.5);
});

test('its types are those of the API: `npm run describe` writes them', async () => {
  const types = readFileSync(join(PROJECT, 'web/page/api-types.ts'), 'utf8');
  const description = join(PROJECT, 'lib/ledger/http/openapi.json');
  expect(types).toBe(typesOf(await generateSource(description)));
  expect(types).toContain('export type Summary = {');
});
