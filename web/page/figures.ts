// What the charts draw, from the sums that the API answers with.
import type { Summary } from './api-types.ts';

export interface Period {
  /** `2026-03`, or a year. */
  readonly key: string;
  readonly income: number;
  readonly expense: number;
  readonly net: number;
}

export interface CategoryBar {
  readonly key: number | 'none';
  readonly name: string;
  readonly amount: number;
  /** Of all that the side has; undefined where it has nothing, or less. */
  readonly share: number | undefined;
}

export const UNCATEGORIZED = 'No category';
const LARGEST = 8;

type Data = Summary['data'];
type Figure = 'income' | 'expense' | 'net';

/** Sums of a category, or of all, by period. */
export function periodsOf(data: Data, category: number | 'none' | undefined): Period[] {
  const groups = data.groups.filter(
    ({ key }) => category === undefined || (key ?? 'none') === category,
  );
  return (data.months ?? data.years ?? []).map((key, n) => {
    const sum = (figure: Figure) =>
      round(groups.reduce((total, group) => total + ([group[figure]].flat()[n] ?? 0), 0));
    return { key, income: sum('income'), expense: sum('expense'), net: sum('net') };
  });
}

/** Categories that have something on this side, largest first. */
export function categoriesOf(data: Data, side: 'income' | 'expense'): CategoryBar[] {
  const bars = data.groups
    .map(({ key, name, [side]: figures }) => ({
      key: typeof key === 'number' ? key : ('none' as const),
      name: name ?? UNCATEGORIZED,
      amount: round([figures].flat().reduce((total, each) => total + each, 0)),
    }))
    .filter(({ amount }) => amount !== 0)
    .toSorted((a, b) => b.amount - a.amount);
  const total = data[side];
  return bars.map((bar) => ({
    ...bar,
    share: total > 0 && bar.amount >= 0 ? bar.amount / total : undefined,
  }));
}

/** The largest, and the sum of the others where there are at least two. */
export function foldSmall(bars: readonly CategoryBar[]) {
  if (bars.length <= LARGEST + 1) return { large: bars, small: undefined };
  const small = bars.slice(LARGEST);
  const share = small.reduce((sum, each) => sum + (each.share ?? 0), 0);
  const amount = round(small.reduce((sum, each) => sum + each.amount, 0));
  return { large: bars.slice(0, LARGEST), small: { count: small.length, amount, share } };
}

/** Round values from below the lowest to above the highest, zero among them. */
export function ticksOf(lowest: number, highest: number, wanted = 4): number[] {
  const span = Math.max(highest, 0) - Math.min(lowest, 0) || 1;
  const power = 10 ** Math.floor(Math.log10(span / wanted));
  const step = power * ([1, 2, 5, 10].find((each) => each * power * wanted >= span) ?? 10);
  const first = Math.floor(Math.min(lowest, 0) / step);
  const last = Math.ceil(Math.max(highest, 0) / step);
  return Array.from({ length: Math.max(1, last - first) + 1 }, (_, n) => (first + n) * step);
}

/** Pages to link to: the first, the last and those around the current one; undefined for a gap. */
export function pagesAround(page: number, pages: number): (number | undefined)[] {
  const near = [1, page - 1, page, page + 1, pages].filter((each) => each >= 1 && each <= pages);
  const sorted = [...new Set(near)].toSorted((a, b) => a - b);
  return sorted.flatMap((each, n) => {
    const before = sorted[n - 1];
    if (before === undefined || each - before === 1) return [each];
    return each - before === 2 ? [each - 1, each] : [undefined, each];
  });
}

/** Sums of floats, back to cents. */
function round(amount: number): number {
  return Math.round(amount * 100) / 100 || 0;
}
