// The transactions of the range, a page at a time.

import { ApiError, get, pathOf } from './api.ts';
import type { Pagination, TransactionPage, TransactionRow } from './api-types.ts';
import { fill, h, stateLink } from './dom.ts';
import { pagesAround } from './figures.ts';
import { format } from './format.ts';
import { type Dates, hashOf, type State } from './state.ts';

const PER_PAGE = 20;
// A search of the list needs dates.
const ALL_DATES: Dates = { start_date: '0001-01-01', end_date: '9999-12-31' };

export interface Listed {
  readonly rows: readonly TransactionRow[];
  readonly pagination: Pick<Pagination, 'page' | 'pages' | 'total'>;
}

/** Of an export, which the generated types have as CSV alone. */
interface TransactionsPart {
  readonly data: readonly TransactionRow[];
  readonly next: string | null;
}

/** Reads pages, and keeps what a long search has found for as long as the search is the same. */
export function createListReader(onProgress: (text: string) => void) {
  let found: { readonly path: string; readonly rows: TransactionRow[] } | undefined;

  return async (state: State, dates: Dates | undefined, signal: AbortSignal): Promise<Listed> => {
    const { category, type, search, page } = state;
    const q = search === '' ? undefined : search;
    const filters = { category_id: category, type, q };
    const exported = pathOf('/transactions/export', { format: 'json', ...filters, ...dates });
    if (found?.path === exported) return pageOf(found.rows, page);
    const listed = { ...filters, ...(q ? (dates ?? ALL_DATES) : dates), page, per_page: PER_PAGE };
    try {
      const path = pathOf('/transactions', listed);
      const { data: rows, pagination } = await get<TransactionPage>(path, signal);
      return { rows, pagination };
    } catch (error) {
      // The list refuses a search that would read too much; the export, in parts, refuses only what is no search at all.
      if (!(error instanceof ApiError && error.refusalOf('q'))) throw error;
    }
    const rows = await searchExport(exported, signal, onProgress);
    found = { path: exported, rows };
    return pageOf(rows, page);
  };
}

/** Newest first, as the list. */
async function searchExport(
  path: string,
  signal: AbortSignal,
  onProgress: (text: string) => void,
): Promise<TransactionRow[]> {
  const rows: TransactionRow[] = [];
  for (let next: string | null = path; next !== null; ) {
    signal.throwIfAborted();
    onProgress(`Searching all transactions: ${format.count(rows.length)} found so far`);
    const part: TransactionsPart = await get(next, signal);
    rows.push(...part.data);
    next = part.next === null ? null : `/transactions/export?${part.next}`;
  }
  onProgress('');
  return rows.reverse();
}

function pageOf(rows: readonly TransactionRow[], page: number): Listed {
  const start = (page - 1) * PER_PAGE;
  const pages = Math.ceil(rows.length / PER_PAGE);
  return {
    rows: rows.slice(start, start + PER_PAGE),
    pagination: { page, pages, total: rows.length },
  };
}

export function drawList(container: HTMLElement, { rows, pagination }: Listed): void {
  if (rows.length === 0) {
    const isPastTheEnd = pagination.total > 0;
    const text = isPastTheEnd ? 'There is no such page.' : 'No transactions match.';
    fill(container, h('p', { class: 'nothing' }, text));
    return;
  }
  const head = ['Date', 'Description', 'Category', 'Amount'].map((name) =>
    h('th', { scope: 'col', class: name.toLowerCase() }, name),
  );
  const body = h('tbody', {}, ...rows.map(drawRow));
  fill(container, h('table', {}, h('thead', {}, h('tr', {}, ...head)), body));
}

function drawRow(row: TransactionRow): HTMLTableRowElement {
  const { type, amount, transaction_date: date, category_name: category = '', notes } = row;
  const signed = type === 'income' ? amount : -amount;
  const day = h('time', { datetime: date }, format.date(date));
  return h(
    'tr',
    {},
    h('td', { class: 'date' }, day),
    h(
      'td',
      { class: 'description' },
      h('span', {}, row.description),
      notes ? h('small', {}, notes) : undefined,
    ),
    h('td', { class: 'category' }, category),
    h('td', { class: `amount ${type}` }, format.signed(signed)),
  );
}

export function drawPages(container: HTMLElement, state: State, { pagination }: Listed): void {
  const { page, pages } = pagination;
  if (pages <= 1 && page === 1) {
    fill(container);
    return;
  }
  const to = (target: number, text: string, label: string) =>
    target < 1 || target > pages
      ? h('span', { 'aria-hidden': 'true' }, text)
      : stateLink(hashOf(state, { page: target }), text, { 'aria-label': label });
  const numbers = pagesAround(page, pages).map((each) => {
    if (each === undefined) return h('span', { 'aria-hidden': 'true', class: 'gap' }, '…');
    const current = { 'aria-current': each === page && 'page', class: 'number' };
    const label = `Page ${format.count(each)}`;
    return stateLink(hashOf(state, { page: each }), format.count(each), {
      ...current,
      'aria-label': label,
    });
  });
  const before = to(Math.min(page - 1, pages), '‹', 'Previous page');
  fill(container, before, ...numbers, to(page + 1, '›', 'Next page'));
}
