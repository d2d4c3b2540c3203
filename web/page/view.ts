// Reads everything that the page shows of one scope: one page of its rows, the sums of all its rows, and the sums of the previous
// period.
import type {
  Caller,
  CategoryList,
  Summary,
  SummarySeries,
  TransactionPage,
  TransactionSearch,
  TransactionsPart,
} from '../../lib/ledger/http/api-types.ts';
import { pathWith } from './client.ts';
import { addUpRows, type Cell, readSummary, type Totals } from './figures.ts';
import { withKey } from './key-question.ts';
import { type CachedResponse, callCached, forgetResponses } from './responses.ts';
import type { Row } from './rows.ts';
import {
  type Dates,
  datesBefore,
  findAdjacentPeriod,
  isMonth,
  periodDates,
  type Scope,
  unitOf,
} from './scope.ts';

const PER_PAGE = 100;
const READ_TIMEOUT_MS = 120_000;

/** Everything that the page shows of one scope, read together. */
export interface View {
  readonly scope: Scope;
  readonly dates: Dates | undefined;
  /** Sums of all categories, even if the scope has only one; for a search, only the sums of the rows found. */
  readonly cells: readonly Cell[];
  /** Sums of the previous period; undefined for all dates and for searches. */
  readonly previous: { readonly dates: Dates; readonly cells: readonly Cell[] } | undefined;
  /** Totals of a search, which may have more rows than one page. */
  readonly searchTotals?: Totals;
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  /** When the sums were requested, in milliseconds since 1970: they may lack writes that were confirmed later. */
  readonly readAt: number;
}

/** Reads the caller, the categories and the view of a scope. @throws ApiError */
export async function readView(scope: Scope, signal: AbortSignal) {
  const dates = periodDates(scope.period, new Date());
  const [caller, categories, sums, list] = await Promise.all([
    callCached<Caller>('/me', signal),
    callCached<CategoryList>('/categories?active_only=false&include_counts=true', signal),
    scope.q === '' ? readSums(scope, dates, signal) : undefined,
    scope.q === '' ? readList(scope, dates, signal) : search(scope, dates, signal),
  ]);
  const emptySums = { cells: [], previous: undefined, readAt: Date.now() };
  const view: View = { scope, dates, ...emptySums, ...list, ...sums };
  return { caller: caller.body.data, categories: categories.body.data, view };
}

async function readSums({ period, type }: Scope, dates: Dates | undefined, signal: AbortSignal) {
  const unit = unitOf(period);
  if (unit === 'day' && dates) {
    const previousDates = isMonth(period)
      ? periodDates(findAdjacentPeriod(period, -1) ?? period, new Date())
      : datesBefore(period, new Date());
    const start = previousDates?.start_date ?? dates.start_date;
    const allRows = await readAll({ type, start_date: start, end_date: dates.end_date }, signal);
    const allCells = addUpRows(allRows.rows, unit);
    return {
      readAt: allRows.requestedAt,
      cells: allCells.filter(({ period: day }) => day >= dates.start_date),
      previous: previousDates && {
        dates: previousDates,
        cells: allCells.filter(({ period: day }) => day < dates.start_date),
      },
    };
  }
  const read = async (range: Dates | undefined) => {
    const path = pathWith('/summary', { group_by: `category,${unit}`, type, ...range });
    const { requestedAt, body } = await callCached<Summary | SummarySeries>(path, signal);
    return { requestedAt, cells: readSummary(body.data, range) };
  };
  const previousDates = datesBefore(period, new Date());
  const [current, previous] = await Promise.all([
    read(dates),
    previousDates && read(previousDates),
  ]);
  return {
    readAt: current.requestedAt,
    cells: current.cells,
    previous: previousDates && previous && { dates: previousDates, cells: previous.cells },
  };
}

async function readList(scope: Scope, dates: Dates | undefined, signal: AbortSignal) {
  const { category, type, page } = scope;
  const filters = { category_id: category, type, ...dates, page, per_page: PER_PAGE };
  const { body } = await callCached<TransactionPage>(pathWith('/transactions', filters), signal);
  const { data, pagination } = body;
  return { rows: data, page, pages: pagination.pages, total: pagination.total };
}

/**
 * Reads one page of a search. Charts and chips need every row, so they have figures only if all rows fit on that page. The totals
 * are exact for any number of rows.
 */
async function search(
  scope: Scope,
  dates: Dates | undefined,
  signal: AbortSignal,
): Promise<Omit<View, 'scope' | 'dates' | 'previous'>> {
  const { q, type, category, page, period } = scope;
  const filters = { q, type, category_id: category, ...dates, page, per_page: PER_PAGE };
  const path = pathWith('/transactions/search', filters);
  const { requestedAt, body } = await callCached<TransactionSearch>(path, signal);
  const { data, pagination, summary } = body;
  return {
    readAt: requestedAt,
    rows: data,
    cells: pagination.pages <= 1 ? addUpRows(data, unitOf(period)) : [],
    searchTotals: summary,
    page,
    pages: pagination.pages,
    total: pagination.total,
  };
}

/** Reads all rows that match the filters, newest first. */
async function readAll(
  filters: Readonly<Record<string, string | number | undefined>>,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Row[]; readonly requestedAt: number }> {
  const rows: Row[] = [];
  let requestedAt = Date.now();
  let path: string | null = pathWith('/transactions/export', { format: 'json', ...filters });
  while (path !== null) {
    const part: CachedResponse<TransactionsPart> = await callCached<TransactionsPart>(path, signal);
    rows.push(...part.body.data);
    requestedAt = Math.min(requestedAt, part.requestedAt);
    path = part.body.next === null ? null : `/transactions/export?${part.body.next}`;
  }
  return { rows: rows.reverse(), requestedAt };
}

/** Reads every row of the scope, not only one page. */
export async function readScopeRows({ q, type, category, period }: Scope): Promise<readonly Row[]> {
  const filters = { q: q || undefined, type, category_id: category };
  return await readRows({ ...filters, ...periodDates(period, new Date()) });
}

/**
 * Reads the current rows for an action of a person. The action continues when the person leaves the view or the view is loaded
 * again.
 */
export async function readRows(
  filters: Readonly<Record<string, string | number | undefined>>,
): Promise<readonly Row[]> {
  return await withKey(async () => {
    forgetResponses();
    return (await readAll(filters, AbortSignal.timeout(READ_TIMEOUT_MS))).rows;
  });
}
