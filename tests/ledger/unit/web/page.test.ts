// The parts of the page that need no browser.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSource } from 'oazapfts';
import { describe, expect, test } from 'vitest';
import { extractTypes } from '../../../../cli/describe/client-types.ts';
import { colorOf, contrastOf } from '../../../../web/page/colors.ts';
import {
  accumulate,
  addUp,
  addUpCategories,
  addUpPeriods,
  addUpRows,
  cellsOfChanges,
  chooseTicks,
  pagesAround,
  readSummary,
} from '../../../../web/page/figures.ts';
import { applyChanges, isInScope, type Row, toSimilarityKey } from '../../../../web/page/rows.ts';
import {
  datesBefore,
  findAdjacentPeriod,
  nameList,
  periodDates,
  periodOf,
  readScope,
  scopeHash,
  unitOf,
} from '../../../../web/page/scope.ts';

const PROJECT = join(import.meta.dirname, '../../../..');
const TODAY = new Date(2024, 1, 29);

function createRow(id: number, changes: Partial<Row> = {}): Row {
  return {
    id,
    description: `Row ${id}`,
    amount: 10.1,
    type: 'expense',
    category_id: null,
    transaction_date: '2024-02-10',
    notes: null,
    created_at: `2024-02-10T00:00:0${id}.000Z`,
    updated_at: '',
    etag: `"t${id}.1.0"`,
    ...changes,
  };
}

type Matrix = readonly (readonly [number, number, number])[];

/** Transform linear RGB into what people with this color vision perceive (Machado, Oliveira and Fernandes 2009, severity 1). */
const COLOR_VISIONS: Readonly<Record<string, Matrix>> = {
  'full color vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const TO_CONES: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_OKLAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];

function multiply(matrix: Matrix, vector: readonly number[]): number[] {
  return matrix.map((line) => line.reduce((sum, part, n) => sum + part * (vector[n] ?? 0), 0));
}

/** Converts a color, as a person with this color vision perceives it, to Oklab, where distances match perceived differences. */
function perceiveColor(color: string, colorVision: Matrix): number[] {
  const linear = [1, 3, 5].map((start) => {
    const part = Number.parseInt(color.slice(start, start + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const perceived = multiply(colorVision, linear).map((part) => Math.min(1, Math.max(0, part)));
  return multiply(TO_OKLAB, multiply(TO_CONES, perceived).map(Math.cbrt));
}

describe('the scope in the address', () => {
  test.each([
    '#',
    '#period=3m&category=3&type=income&q=a%26b&page=2',
    '#period=2025&category=none',
    '#period=2024-01',
    '#period=2024-01-05..2024-02-03',
    '#period=all',
  ])('%s is read, and written unchanged', (hash) => {
    expect(scopeHash(readScope(hash, TODAY), { page: readScope(hash, TODAY).page }, TODAY)).toBe(
      hash,
    );
  });

  test.each([
    '#period=x&category=-1&type=y&page=0',
    '#period=2024-13&page=1e9&category=0',
    '#period=2024-02-30..2024-03-01',
    '#period=2024-03-02..2024-03-01',
    '#period=0000-01',
    '#%',
  ])('%s is invalid, and shows the current month', (hash) => {
    expect(readScope(hash, TODAY)).toEqual(readScope('', TODAY));
    expect(readScope(hash, TODAY).period).toBe('2024-02');
  });

  test('a new scope starts at its first page', () => {
    const scope = readScope('#q=tea&page=7', TODAY);
    expect(scopeHash(scope, { category: 3 }, TODAY)).toBe('#category=3&q=tea');
    expect(scopeHash(scope, { page: 8 }, TODAY)).toBe('#q=tea&page=8');
  });

  test('the list of the current month has one name on all its pages, and another name next month', () => {
    expect(nameList(readScope('#page=2', TODAY))).toBe(nameList(readScope('', TODAY)));
    const laterScope = readScope('', new Date(2024, 2, 1));
    expect(nameList(laterScope)).not.toBe(nameList(readScope('', TODAY)));
  });
});

describe('dates', () => {
  test.each([
    // A month that has not begun is compared with the whole month before.
    ['2024-03', '2024-03-01', '2024-03-31', '2024-02-01', '2024-02-29'],
    ['12m', '2023-03-01', '2024-02-29', '2022-03-01', '2023-02-28'],
    ['2023', '2023-01-01', '2023-12-31', '2022-01-01', '2022-12-31'],
    // A year that is under way is compared with the year before up to the same day.
    ['2024', '2024-01-01', '2024-12-31', '2023-01-01', '2023-02-28'],
    // A year that has not begun is compared with the whole year before.
    ['2025', '2025-01-01', '2025-12-31', '2024-01-01', '2024-12-31'],
    ['2024-02-10..2024-02-12', '2024-02-10', '2024-02-12', '2024-02-07', '2024-02-09'],
    ['0099', '0099-01-01', '0099-12-31', '0098-01-01', '0098-12-31'],
  ])(
    'the period %s is %s to %s, and the period before is %s to %s',
    (period, start, end, startBefore, endBefore) => {
      expect(periodDates(period, TODAY)).toEqual({ start_date: start, end_date: end });
      const previousDates = { start_date: startBefore, end_date: endBefore };
      expect(datesBefore(period, TODAY)).toEqual(previousDates);
    },
  );

  test.each([
    ['2024-02-01', '2024-02-29', '2024-02'],
    ['2023-01-01', '2023-12-31', '2023'],
    ['2024-02-01', '2024-02-28', '2024-02-01..2024-02-28'],
    ['2024-01-01', '2024-02-29', '2024-01-01..2024-02-29'],
    ['2024-02-10', '2024-02-29', '2024-02-10..2024-02-29'],
  ])('%s to %s are the period %s', (start_date, end_date, period) => {
    expect(periodOf({ start_date, end_date })).toBe(period);
  });

  test('the current month is compared with as many days of the previous month', () => {
    expect(datesBefore('2024-03', new Date(2024, 2, 12))).toEqual({
      start_date: '2024-02-01',
      end_date: '2024-02-12',
    });
  });

  test('the period of all dates has no bounds and no previous period', () => {
    expect([periodDates('all', TODAY), datesBefore('all', TODAY)]).toEqual([undefined, undefined]);
  });

  test.each([
    ['2024-01', -1, '2023-12'],
    ['2024-12', 1, '2025-01'],
    ['2024', 1, '2025'],
    ['9999-12', 1, undefined],
    ['0001-01', -1, undefined],
    ['2024-02-28..2024-03-01', 1, '2024-03-02..2024-03-04'],
    ['12m', 1, undefined],
  ] as const)('the period %s moved by %i is %s', (period, step, expected) => {
    expect(findAdjacentPeriod(period, step)).toBe(expected);
  });

  test.each([
    ['2024-02', 'day'],
    ['2024-02-01..2024-03-31', 'day'],
    ['2024-01-01..2024-03-31', 'month'],
    ['12m', 'month'],
    ['all', 'year'],
  ])('the chart of the period %s has a bar for each %s', (period, unit) => {
    expect(unitOf(period)).toBe(unit);
  });
});

describe('figures', () => {
  const createFigures = (income: number[], expense: number[]) => ({
    income,
    expense,
    net: income.map((amount, n) => amount - (expense[n] ?? 0)),
    count: income.map(() => 1),
  });
  const cells = readSummary(
    {
      income: 5,
      expense: 0.4,
      net: 4.6,
      count: 6,
      months: ['2026-01', '2026-02'],
      groups: [
        { category_id: 1, name: 'One', ...createFigures([5, 0], [0, 0.1]) },
        { category_id: 2, name: 'Two', ...createFigures([0, 0], [0.1, 0]) },
        { category_id: null, name: null, ...createFigures([0, 0], [0, 0.2]) },
      ],
    },
    undefined,
  );

  test('are exact to the cent, in total, by period and by category', () => {
    expect(addUp(cells)).toEqual({ income: 5, expense: 0.4, net: 4.6, count: 6 });
    expect(addUpPeriods(cells, ['2026-01', '2026-02']).map(({ expense }) => expense)).toEqual([
      0.1, 0.3,
    ]);
    expect(addUpCategories(cells, 'expense').map(({ key, share }) => [key, share])).toEqual([
      ['none', 0.5],
      [1, 0.25],
      [2, 0.25],
    ]);
    expect(accumulate([0.1, 0.2, -0.3])).toEqual([0.1, 0.3, 0]);
    // 8.2 times a hundred is 819.9999999999999 in floating point.
    expect(accumulate([8.2, 8.2, 8.2])).toEqual([8.2, 16.4, 24.6]);
  });

  test('subtract the row before a change, and add the row after it', () => {
    const [before, after] = [
      createRow(1),
      createRow(1, { amount: 4, type: 'income', category_id: 2 }),
    ];
    const isIn = isInScope({ period: '2024-02', type: undefined, q: '' });
    const sums = [
      ...addUpRows([before], 'day'),
      ...cellsOfChanges([{ before, after }], { unit: 'day', isIn }),
    ];
    expect(addUp(sums)).toEqual({ income: 4, expense: 0, net: 4, count: 1 });
  });

  test.each([
    [-30, 70, [-40, -20, 0, 20, 40, 60, 80]],
    [0, 0, [0, 0.5]],
    [-1_000_000, 0, [-1_000_000, -500_000, 0]],
  ])(
    'the ticks for values from %d to %d cover both values and zero',
    (lowest, highest, example) => {
      const ticks = chooseTicks(lowest, highest);
      expect(Math.min(...ticks)).toBeLessThanOrEqual(lowest);
      expect(Math.max(...ticks)).toBeGreaterThanOrEqual(highest);
      expect(ticks).toContain(0);
      expect(ticks.length).toBeLessThanOrEqual(example.length + 2);
    },
  );

  test.each([
    [1, 1, [1]],
    [1, 61, [1, 2, undefined, 61]],
    [4, 61, [1, 2, 3, 4, 5, undefined, 61]],
    [61, 61, [1, undefined, 60, 61]],
  ])('page %d of %d links to %j', (page, pages, links) => {
    expect(pagesAround(page, pages)).toEqual(links);
  });
});

describe('rows with the writes of the page', () => {
  const isIn = isInScope({ period: '2024-02', type: undefined, q: '' });
  const listIds = (rows: readonly Row[]) => rows.map(({ id }) => id);
  const page = { rows: [createRow(3), createRow(2), createRow(1)], page: 1, pages: 1 };

  test('a created row is shown while the list does not have it yet', () => {
    expect(listIds(applyChanges(page, [{ after: createRow(4) }], isIn))).toEqual([4, 3, 2, 1]);
    expect(listIds(applyChanges(page, [{ after: createRow(3) }], isIn))).toEqual([3, 2, 1]);
  });

  test('a row that was deleted, or moved out of the scope, does not reappear', () => {
    const movedRow = createRow(1, { transaction_date: '2024-03-01', etag: '"t1.2.0"' });
    expect(
      listIds(
        applyChanges(
          page,
          [{ before: createRow(3) }, { before: createRow(1), after: movedRow }],
          isIn,
        ),
      ),
    ).toEqual([2]);
  });

  test('a newer version of a row in the list wins over an older write', () => {
    const newerPage = { ...page, rows: [createRow(1, { amount: 7, etag: '"t1.3.0"' })] };
    const change = { before: createRow(1), after: createRow(1, { amount: 5, etag: '"t1.2.0"' }) };
    expect(applyChanges(newerPage, [change], isIn)[0]?.amount).toBe(7);
    expect(applyChanges(page, [change], isIn)[2]?.amount).toBe(5);
  });

  test('a change to one field keeps newer values of the other fields in the list', () => {
    const newerPage = { ...page, rows: [createRow(1, { amount: 7, etag: '"t1.5.0"' })] };
    const [before, after] = [createRow(1), createRow(1, { category_id: 3, category_name: 'Food' })];
    for (const etag of ['"t1.5.0"', '"t1.6.0"']) {
      const change = { before: { ...before, etag: '"t1.5.0"' }, after: { ...after, etag } };
      expect(applyChanges(newerPage, [change], isIn)).toMatchObject([
        { amount: 7, category_id: 3, category_name: 'Food', etag },
      ]);
    }
  });

  test('a row that belongs on another page is not added to this page', () => {
    const middle = { ...page, page: 2, pages: 3 };
    const [newest, oldest] = ['2024-02-28', '2024-02-01'].map((date, n) =>
      createRow(8 + n, { transaction_date: date }),
    );
    const changes = [{ after: newest }, { after: oldest }];
    expect(listIds(applyChanges(middle, changes, isIn))).toEqual([3, 2, 1]);
    expect(listIds(applyChanges({ ...middle, page: 1 }, changes, isIn))).toEqual([8, 3, 2, 1]);
  });

  test('a row of the scope matches its period, its type, its category and all words of its search', () => {
    const scope = { period: '2024-02', type: 'expense', q: 'CAFE row', category: 'none' } as const;
    const isFound = isInScope(scope);
    expect(isFound(createRow(1, { notes: 'café' }))).toBe(true);
    for (const changes of [
      { notes: null },
      { notes: 'café', type: 'income' as const },
      { notes: 'café', category_id: 3 },
      { notes: 'café', transaction_date: '2024-01-31' },
    ])
      expect(isFound(createRow(1, changes))).toBe(false);
  });

  test('descriptions that differ only in case, numbers and signs are similar', () => {
    expect(toSimilarityKey('PAYPAL *Spotify 3345')).toBe(toSimilarityKey('Paypal Spotify/9981'));
    expect(toSimilarityKey('Rent')).not.toBe(toSimilarityKey('Tent'));
    // "Bill" and "hair" in Hindi
    expect(toSimilarityKey('बिल 1')).not.toBe(toSimilarityKey('बाल 1'));
  });
});

describe.each(['#ffffff', '#171a21'])('the colors of categories on %s', (background) => {
  test('have enough contrast', () => {
    const customColors = [
      '#FBC02D',
      '#000',
      '#ffff',
      '#12345678',
      ...Array.from({ length: 8 }, () => null),
    ];
    const colors = [...customColors, ...customColors, ...customColors].map((color, n) =>
      colorOf(color, n, background),
    );
    for (const color of colors)
      expect(contrastOf(color, background), color).toBeGreaterThanOrEqual(4.5);
  });

  test.each(Object.entries(COLOR_VISIONS))('can be distinguished with %s', (_, colorVision) => {
    const perceived = Array.from({ length: 8 }, (_, id) =>
      perceiveColor(colorOf(null, id, background), colorVision),
    );
    const distances = perceived.flatMap((first, n) =>
      perceived
        .slice(n + 1)
        .map((second) => Math.hypot(...first.map((part, m) => part - (second[m] ?? 0)))),
    );
    expect(distances).toHaveLength(28);
    // In Oklab, black and white are 1 apart, and two barely distinguishable colors about 0.02.
    expect(Math.min(...distances)).toBeGreaterThan(0.08);
  });
});

test('api-types.ts has the types that `npm run describe` writes', async () => {
  const types = readFileSync(join(PROJECT, 'lib/ledger/http/api-types.ts'), 'utf8');
  const description = join(PROJECT, 'lib/ledger/http/openapi.json');
  expect(types).toBe(extractTypes(await generateSource(description)));
  expect(types).toContain('export type Summary = {');
});
