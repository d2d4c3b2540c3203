// Sums of the scope as one list of cells, each for a category in a period. Totals, charts and chips are all added up from these
// cells, so that they always agree. Cells hold whole cents: sums of floats would drift.
import type { SeriesData, SummaryData, Transaction } from '../../lib/ledger/http/api-types.ts';
import type { CategoryKey, Dates, Type, Unit } from './scope.ts';

export interface Cell {
  readonly category: CategoryKey;
  readonly period: string;
  readonly income: number;
  readonly expense: number;
  readonly count: number;
}

export interface Totals {
  readonly income: number;
  readonly expense: number;
  readonly net: number;
  readonly count: number;
}

export interface Period extends Totals {
  /** A day such as `2026-03-05`, a month such as `2026-03`, or a year. */
  readonly key: string;
}

export interface CategoryBar {
  readonly key: CategoryKey;
  readonly amount: number;
  /** Share of the side's total; undefined if the total is zero or less, or the amount is negative. */
  readonly share: number | undefined;
}

/** A row before and after a write: a create has no `before`, a deletion no `after`. */
export interface Change<Row = Transaction> {
  readonly before?: Row | undefined;
  readonly after?: Row | undefined;
}

const UNIT_LENGTHS = { day: 10, month: 7, year: 4 } as const;

export function readSummary(data: SummaryData | SeriesData, dates: Dates | undefined): Cell[] {
  const listedPeriods = 'months' in data ? data.months : 'years' in data ? data.years : undefined;
  const periods = listedPeriods ?? [dates?.start_date ?? ''];
  return data.groups.flatMap((group) => {
    const [income, expense, count] = [group.income, group.expense, group.count].map((each) =>
      [each].flat(),
    );
    return periods.map((period, n) => ({
      category: group.category_id ?? ('none' as const),
      period,
      income: toCents(income?.[n] ?? 0),
      expense: toCents(expense?.[n] ?? 0),
      count: count?.[n] ?? 0,
    }));
  });
}

export function addUpRows(rows: readonly Transaction[], unit: Unit): Cell[] {
  return rows.map((row) => readCell(row, unit, 1));
}

/**
 * Returns the cells to add to a sum for these changes: a negative cell for each row before, a positive cell for each row after.
 */
export function cellsOfChanges(
  changes: readonly Change[],
  { unit, isIn }: { readonly unit: Unit; readonly isIn: (row: Transaction) => boolean },
): Cell[] {
  return changes.flatMap(({ before, after }) => [
    ...(before && isIn(before) ? [readCell(before, unit, -1)] : []),
    ...(after && isIn(after) ? [readCell(after, unit, 1)] : []),
  ]);
}

function readCell(row: Transaction, unit: Unit, sign: 1 | -1): Cell {
  const cents = toCents(row.amount) * sign;
  return {
    category: row.category_id ?? 'none',
    period: row.transaction_date.slice(0, UNIT_LENGTHS[unit]),
    income: row.type === 'income' ? cents : 0,
    expense: row.type === 'expense' ? cents : 0,
    count: sign,
  };
}

export function addUp(cells: readonly Cell[]): Totals {
  let [income, expense, count] = [0, 0, 0];
  for (const cell of cells) {
    income += cell.income;
    expense += cell.expense;
    count += cell.count;
  }
  return { income: income / 100, expense: expense / 100, net: (income - expense) / 100, count };
}

/** @param keys periods to show, including those without cells */
export function addUpPeriods(cells: readonly Cell[], keys: readonly string[]): Period[] {
  const byPeriod = Map.groupBy(cells, ({ period }) => period);
  return keys.map((key) => ({ key, ...addUp(byPeriod.get(key) ?? []) }));
}

/** Adds up the amounts of each category on this side, the largest first. */
export function addUpCategories(cells: readonly Cell[], side: Type): CategoryBar[] {
  const byCategory = Map.groupBy(cells, ({ category }) => category);
  const bars = [...byCategory]
    .map(([key, categoryCells]) => ({ key, amount: addUp(categoryCells)[side] }))
    .filter(({ amount }) => amount !== 0)
    .toSorted((a, b) => b.amount - a.amount);
  const total = addUp(cells)[side];
  return bars.map((bar) => ({
    ...bar,
    share: total > 0 && bar.amount >= 0 ? bar.amount / total : undefined,
  }));
}

export function countByCategory(cells: readonly Cell[]): ReadonlyMap<CategoryKey, number> {
  const counts = new Map<CategoryKey, number>();
  for (const { category, count } of cells)
    counts.set(category, (counts.get(category) ?? 0) + count);
  return counts;
}

/** Returns running totals, up to and including each period. */
export function accumulate(amounts: readonly number[]): number[] {
  let cents = 0;
  return amounts.map((amount) => {
    cents += toCents(amount);
    return cents / 100;
  });
}

/** Chooses about `count` round values for the axis, from the lowest or below to the highest or above, including zero. */
export function chooseTicks(lowest: number, highest: number, count = 4): number[] {
  const span = Math.max(highest, 0) - Math.min(lowest, 0) || 1;
  const power = 10 ** Math.floor(Math.log10(span / count));
  const step = power * ([1, 2, 5, 10].find((each) => each * power * count >= span) ?? 10);
  const first = Math.floor(Math.min(lowest, 0) / step);
  const last = Math.ceil(Math.max(highest, 0) / step);
  return Array.from({ length: Math.max(1, last - first) + 1 }, (_, n) => (first + n) * step);
}

/** Chooses the pages to link to: the first, the last, and the pages around the current one; undefined for a gap. */
export function pagesAround(page: number, pages: number): (number | undefined)[] {
  const nearPages = [1, page - 1, page, page + 1, pages].filter(
    (each) => each >= 1 && each <= pages,
  );
  const sorted = [...new Set(nearPages)].toSorted((a, b) => a - b);
  return sorted.flatMap((each, n) => {
    const previousPage = sorted[n - 1];
    if (previousPage === undefined || each - previousPage === 1) return [each];
    return each - previousPage === 2 ? [each - 1, each] : [undefined, each];
  });
}

function toCents(amount: number): number {
  return Math.round(amount * 100);
}
