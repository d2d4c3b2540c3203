// What the page shows, as its address has it: `#range=12m&category=3&page=2`. The key is never part of it.

export interface State {
  /** `month`, `3m`, `12m`, `all`, or a year such as `2025`. */
  readonly range: string;
  readonly category: number | 'none' | undefined;
  readonly type: 'income' | 'expense' | undefined;
  readonly search: string;
  readonly page: number;
  /** The side that the categories show. */
  readonly side: 'income' | 'expense';
  /** All categories, not only the largest. */
  readonly isOpen: boolean;
}

export interface Dates {
  readonly start_date: string;
  readonly end_date: string;
}

export const MONTHS_OF_RANGE: Readonly<Record<string, number>> = { month: 1, '3m': 3, '12m': 12 };
const DEFAULT_RANGE = '12m';
const LONGEST_SEARCH = 100;

/** Takes what it understands; the rest is as on a first visit. */
export function readState(hash: string): State {
  const sent = new URLSearchParams(hash.replace(/^#/, ''));
  const get = (name: string, pattern: RegExp) => pattern.exec(sent.get(name) ?? '')?.[0];
  const category = get('category', /^(none|[1-9]\d{0,14})$/);
  return {
    range: get('range', /^(month|3m|12m|all|[1-9]\d{3})$/) ?? DEFAULT_RANGE,
    category: category === undefined || category === 'none' ? category : Number(category),
    type: get('type', /^(income|expense)$/) as State['type'],
    search: [...(sent.get('search') ?? '').trim()].slice(0, LONGEST_SEARCH).join(''),
    page: Number(get('page', /^[1-9]\d{0,8}$/) ?? 1),
    side: get('side', /^income$/) === undefined ? 'expense' : 'income',
    isOpen: sent.get('categories') === 'all',
  };
}

/** The address of the state with these changes. A change of what is listed begins at its first page. */
export function hashOf(state: State, changes: Partial<State> = {}): string {
  const isOtherList = ['range', 'category', 'type', 'search'].some((name) => name in changes);
  const next = { ...state, ...(isOtherList && { page: 1 }), ...changes };
  const written = new URLSearchParams({
    ...(next.range !== DEFAULT_RANGE && { range: next.range }),
    ...(next.category !== undefined && { category: String(next.category) }),
    ...(next.type !== undefined && { type: next.type }),
    ...(next.search !== '' && { search: next.search }),
    ...(next.page !== 1 && { page: String(next.page) }),
    ...(next.side !== 'expense' && { side: next.side }),
    ...(next.isOpen && { categories: 'all' }),
  });
  return `#${written}`;
}

/** @returns undefined for all dates */
export function datesOf(range: string, today: Date): Dates | undefined {
  if (range === 'all') return undefined;
  const months = MONTHS_OF_RANGE[range];
  if (months === undefined) return { start_date: `${range}-01-01`, end_date: `${range}-12-31` };
  return {
    start_date: day(today.getFullYear(), today.getMonth() - months + 1, 1),
    end_date: day(today.getFullYear(), today.getMonth() + 1, 0),
  };
}

/**
 * As long a time before it. Where the range is under way, the one before it ends on the same day: a month of 23 days is
 * compared with 23 days.
 */
export function datesBefore(range: string, today: Date): Dates | undefined {
  const dates = datesOf(range, today);
  if (dates === undefined) return undefined;
  const months = MONTHS_OF_RANGE[range] ?? 12;
  const [year = 0, month = 1] = dates.start_date.split('-').map(Number);
  const [start, end] = [dates.start_date, dates.end_date].map((each) => new Date(`${each}T00:00`));
  const isWhole = !(start && end && start <= today && today < end);
  const last = isWhole ? (end ?? today) : today;
  const endMonth = last.getMonth() - months;
  const lastOfMonth = new Date(last.getFullYear(), endMonth + 1, 0).getDate();
  return {
    start_date: day(year, month - 1 - months, 1),
    end_date: day(
      last.getFullYear(),
      endMonth,
      isWhole ? lastOfMonth : Math.min(last.getDate(), lastOfMonth),
    ),
  };
}

function day(year: number, month: number, date: number): string {
  return new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10);
}
