// The scope that totals, charts and list share, written in the address as `#period=2026-10&category=3&q=tea&page=2`. The API
// key is never part of the address.

export type CategoryKey = number | 'none';
export type Type = 'income' | 'expense';

export interface Scope {
  /** `2026-10`, `2026`, `3m`, `12m`, `all`, or `2026-10-01..2026-10-15`. */
  readonly period: string;
  readonly category: CategoryKey | undefined;
  readonly type: Type | undefined;
  readonly q: string;
  readonly page: number;
}

export interface Dates {
  readonly start_date: string;
  readonly end_date: string;
}

/** Length of time that one bar of the chart covers. */
export type Unit = 'day' | 'month' | 'year';

const MAX_SEARCH_LENGTH = 100;
const MONTH = /^(?!0000)\d{4}-(0[1-9]|1[0-2])$/;
const YEAR = /^(?!0000)\d{4}$/;
const RANGE = /^((?!0000)\d{4}-\d\d-\d\d)\.\.((?!0000)\d{4}-\d\d-\d\d)$/;
const RECENT_MONTHS: Readonly<Record<string, number>> = { '3m': 3, '12m': 12 };

/** Reads the scope from the address, and ignores values that it does not understand. */
export function readScope(hash: string, today = new Date()): Scope {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const readParameter = (name: string, pattern: RegExp) =>
    pattern.exec(parameters.get(name) ?? '')?.[0];
  const category = readParameter('category', /^(none|[1-9]\d{0,14})$/);
  const period = parameters.get('period') ?? '';
  return {
    period: isPeriod(period) ? period : monthKey(today),
    category: category === undefined || category === 'none' ? category : Number(category),
    type: readParameter('type', /^(income|expense)$/) as Type | undefined,
    q: [...(parameters.get('q') ?? '').trim()].slice(0, MAX_SEARCH_LENGTH).join(''),
    page: Number(readParameter('page', /^[1-9]\d{0,8}$/) ?? 1),
  };
}

/** Writes the address of the scope with these changes. The page is the first one, unless the changes name another. */
export function scopeHash(scope: Scope, changes: Partial<Scope> = {}, today = new Date()): string {
  const newScope = { ...scope, page: 1, ...changes };
  const parameters = new URLSearchParams({
    ...(newScope.period !== monthKey(today) && { period: newScope.period }),
    ...(newScope.category !== undefined && { category: String(newScope.category) }),
    ...(newScope.type !== undefined && { type: newScope.type }),
    ...(newScope.q !== '' && { q: newScope.q }),
    ...(newScope.page !== 1 && { page: String(newScope.page) }),
  });
  return `#${parameters}`;
}

/** Part of a scope that shows every row of its period */
export const UNFILTERED = { category: undefined, type: undefined, q: '' } satisfies Partial<Scope>;

/** True if the scope shows only a part of its period. */
export function isFiltered({ category, type, q }: Scope): boolean {
  return q !== '' || category !== undefined || type !== undefined;
}

/** Names the list of a scope. The name is the same on all its pages and, unlike the address, does not depend on the current month. */
export function nameList({ page: _, ...list }: Scope): string {
  return JSON.stringify(list);
}

/** Returns the first and last day of a period; undefined for all dates. */
export function periodDates(period: string, today: Date): Dates | undefined {
  if (period === 'all') return undefined;
  const months = RECENT_MONTHS[period];
  if (months !== undefined) {
    const [year, month] = [today.getFullYear(), today.getMonth()];
    return {
      start_date: formatDay(year, month - months + 1, 1),
      end_date: formatDay(year, month + 1, 0),
    };
  }
  const [, start = '', end = ''] = RANGE.exec(period) ?? [];
  if (start) return { start_date: start, end_date: end };
  if (YEAR.test(period)) return { start_date: `${period}-01-01`, end_date: `${period}-12-31` };
  const [year = 0, month = 1] = period.split('-').map(Number);
  return { start_date: `${period}-01`, end_date: formatDay(year, month, 0) };
}

/** Returns the period that covers exactly these dates: a month or a year if the dates are exactly that, otherwise the range. */
export function periodOf({ start_date: start, end_date: end }: Dates): string {
  const wholePeriod = [start.slice(0, 7), start.slice(0, 4)].find((period) => {
    const dates = periodDates(period, new Date());
    return dates?.start_date === start && dates.end_date === end;
  });
  return wholePeriod ?? `${start}..${end}`;
}

/** Finds the period of the same kind before (-1) or after (1) this one; undefined if there is none. */
export function findAdjacentPeriod(period: string, step: -1 | 1): string | undefined {
  if (MONTH.test(period)) {
    const [year = 0, month = 1] = period.split('-').map(Number);
    return returnIfValid(formatDay(year, month - 1 + step, 1).slice(0, 7));
  }
  if (YEAR.test(period)) return returnIfValid(String(Number(period) + step).padStart(4, '0'));
  const dates = RANGE.test(period) ? periodDates(period, new Date()) : undefined;
  if (!dates) return undefined;
  const length = countDays(dates) * step;
  return returnIfValid(`${addDays(dates.start_date, length)}..${addDays(dates.end_date, length)}`);
}

/**
 * Returns the dates of the previous period of the same length. While the period is under way, the previous one ends on the same
 * day: the first 23 days of a month are compared with 23 days.
 */
export function datesBefore(period: string, today: Date): Dates | undefined {
  const dates = periodDates(period, today);
  if (dates === undefined) return undefined;
  const currentDay = localDay(today);
  const isPeriodUnderWay = dates.start_date <= currentDay && currentDay < dates.end_date;
  const months = MONTH.test(period) ? 1 : YEAR.test(period) ? 12 : RECENT_MONTHS[period];
  if (months === undefined) {
    const length = -countDays(dates);
    return {
      start_date: addDays(dates.start_date, length),
      end_date: addDays(dates.end_date, length),
    };
  }
  const [year = 0, month = 1] = dates.start_date.split('-').map(Number);
  const start_date = formatDay(year, month - 1 - months, 1);
  if (!isPeriodUnderWay) return { start_date, end_date: addDays(dates.start_date, -1) };
  const [thisYear, thisMonth] = [today.getFullYear(), today.getMonth() - months];
  const lastOfMonth = new Date(thisYear, thisMonth + 1, 0).getDate();
  return {
    start_date,
    end_date: formatDay(thisYear, thisMonth, Math.min(today.getDate(), lastOfMonth)),
  };
}

export function unitOf(period: string): Unit {
  if (period === 'all') return 'year';
  if (MONTH.test(period)) return 'day';
  const dates = RANGE.test(period) ? periodDates(period, new Date()) : undefined;
  return dates && countDays(dates) <= 62 ? 'day' : 'month';
}

export function isMonth(period: string): boolean {
  return MONTH.test(period);
}

export function isRange(period: string): boolean {
  return RANGE.test(period);
}

export function monthKey(date: Date): string {
  return localDay(date).slice(0, 7);
}

/** Formats the day of a moment in this browser's time zone. */
export function localDay(date: Date): string {
  return formatDay(date.getFullYear(), date.getMonth(), date.getDate());
}

export function listDays({ start_date, end_date }: Dates): string[] {
  return Array.from({ length: countDays({ start_date, end_date }) }, (_, n) =>
    addDays(start_date, n),
  );
}

function countDays({ start_date, end_date }: Dates): number {
  return Math.max(1, (toTime(end_date) - toTime(start_date)) / 86_400_000 + 1);
}

function addDays(date: string, days: number): string {
  return new Date(toTime(date) + days * 86_400_000).toISOString().slice(0, 10);
}

function toTime(date: string): number {
  return new Date(`${date}T00:00Z`).getTime();
}

/** Formats a date. A month or day beyond its range carries over, and a year below 100 is taken literally. */
function formatDay(year: number, month: number, date: number): string {
  const moment = new Date(0);
  moment.setUTCFullYear(year, month, date);
  return moment.toISOString().slice(0, 10);
}

function isPeriod(period: string): boolean {
  const [, start = '', end = ''] = RANGE.exec(period) ?? [];
  const isRealDate = (date: string) => !Number.isNaN(toTime(date)) && addDays(date, 0) === date;
  if (start) return isRealDate(start) && isRealDate(end) && start <= end;
  return period === 'all' || period in RECENT_MONTHS || MONTH.test(period) || YEAR.test(period);
}

function returnIfValid(period: string): string | undefined {
  return isPeriod(period) ? period : undefined;
}
