// The page's state of the ledger: the caller, the categories, and the rows and sums of the scope. It requests the parts that it
// does not have yet, and all of them again after a write.
import { batch, computed, signal } from '@preact/signals';
import type {
  Caller,
  CallerData,
  Category,
  Summary,
  SummarySeries,
  TransactionPage,
  TransactionSearch,
} from '../../lib/ledger/http/api-types.ts';
import { ApiError, pauseAfter } from './api-error.ts';
import { call, pathWith, storedKey } from './client.ts';
import {
  addUp,
  addUpRows,
  type Cell,
  cellsOfChanges,
  readSummary,
  type Totals,
} from './figures.ts';
import { format } from './format.ts';
import { createOutbox, type Refusal } from './outbox.ts';
import { applyChanges, isInScope, type Row } from './rows.ts';
import {
  type Dates,
  datesBefore,
  isMonth,
  neighbour,
  periodDates,
  readScope,
  type Scope,
  scopeHash,
  unitOf,
} from './scope.ts';

const PER_PAGE = 100;
const REFRESH_DELAY_MS = 250;
const MAX_READING_MS = 120_000;
const MAX_KNOWN_ANSWERS = 40;

/** Everything that is shown of one scope, read together. */
export interface View {
  readonly scope: Scope;
  readonly dates: Dates | undefined;
  /** Sums of all categories: those of the scope are among them. */
  readonly cells: readonly Cell[];
  /** The same of the time before; undefined for all dates and searches. */
  readonly before: { readonly dates: Dates; readonly cells: readonly Cell[] } | undefined;
  /** Sums of a search, which may have more rows than its page. */
  readonly found?: Totals;
  readonly rows: readonly Row[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
  /** When the oldest of its answers was asked for. */
  readonly readAt: number;
}

export interface Failing {
  readonly scope: Scope;
  readonly error: ApiError;
}

export interface Notice {
  readonly text: string;
  readonly details?: readonly string[];
  readonly action?: { readonly name: string; readonly run: () => void };
}

export const scope = signal(readScope(location.hash));
export const me = signal<CallerData | undefined>(undefined);
export const categories = signal<readonly Category[]>([]);
export const view = signal<View | undefined>(undefined);
export const failure = signal<Failing | undefined>(undefined);
export const isLoading = signal(true);
/** Undefined unless a key is asked for; then whether the last one was refused. */
export const keyQuestion = signal<{ readonly refused: ApiError | undefined } | undefined>(
  undefined,
);
export const notice = signal<Notice | undefined>(undefined);
/** Read out by screen readers. */
export const announcement = signal('');
/** Shown for correction in the row where it was typed. */
export const refusedCreate = signal<{ readonly row: Row; readonly error: ApiError } | undefined>(
  undefined,
);

export const canWrite = computed(() => me.value?.scope === 'write');
export const categoriesById = computed(
  () => new Map(categories.value.map((category) => [category.id, category])),
);

export const outbox = createOutbox({
  call,
  storage: sessionStorage,
  onConfirmed: () => refreshSoon(),
  onRefused: reportRefusals,
  onUnauthenticated: () => askForKey(undefined),
  onDefect: (error) => reportError(error),
});

let running = new AbortController();
let answers = new Map<string, Answer<unknown>>();
let refreshTimer: ReturnType<typeof setTimeout> | undefined;
let repeatTimer: ReturnType<typeof setTimeout> | undefined;
/** Since the last one that succeeded. */
let failedLoads = 0;

/** Writes that the sums of the view do not have yet. */
const newerWrites = computed(() => {
  const readAt = view.value?.readAt ?? 0;
  return outbox.writes.value.filter(
    ({ confirmedAt = Number.POSITIVE_INFINITY }) => confirmedAt >= readAt,
  );
});

/** Sums of the scope, and of all its categories, with the writes of this page. */
export const cells = computed(() => {
  const shown = view.value;
  if (!shown) return [];
  const { period, type, q } = shown.scope;
  const isIn = isInScope({ period, type, q }, shown.dates);
  const changes = newerWrites.value.flatMap((write) => write.changes);
  return [...shown.cells, ...cellsOfChanges(changes, { unit: unitOf(period), isIn })];
});

export const cellsOfCategory = computed(() => onlyCategory(cells.value, view.value));
export const totals = computed<Totals>(() => {
  const shown = view.value;
  return shown?.found && shown.pages > 1 ? shown.found : addUp(cellsOfCategory.value);
});
/** True if charts and chips would show only a part of the rows. */
export const isOnlySums = computed(() => view.value?.found !== undefined && view.value.pages > 1);
export const totalsBefore = computed<Totals | undefined>(() => {
  const shown = view.value;
  if (!shown?.before) return undefined;
  const last = datesBefore(shown.scope.period, new Date())?.end_date ?? '';
  const some = shown.before.cells.filter(({ period }) => period <= last.slice(0, period.length));
  return addUp(onlyCategory(some, shown));
});

/** Rows of the list with the writes of this page. */
export const rows = computed<readonly Row[]>(() => {
  const shown = view.value;
  if (!shown) return [];
  const changes = outbox.writes.value.flatMap((write) => write.changes);
  return applyChanges(shown, changes, isInScope(shown.scope, shown.dates));
});

export function onlyCategory(some: readonly Cell[], shown: View | undefined): readonly Cell[] {
  const category = shown?.scope.category;
  return category === undefined ? some : some.filter((cell) => cell.category === category);
}

/** Rows that are being written, for a quiet mark. */
export const unsaved = computed(
  () =>
    new Set(
      outbox.waiting.value.flatMap(({ changes }) =>
        changes.flatMap(({ after }) => after?.id ?? []),
      ),
    ),
);

export async function show(): Promise<void> {
  running.abort();
  running = new AbortController();
  clearTimeout(repeatTimer);
  const { signal: given } = running;
  const [wanted, began] = [scope.value, Date.now()];
  isLoading.value = true;
  try {
    if (outbox.isCreating()) await resolveCreates(given);
    const next = await load(wanted, given);
    batch(() => {
      view.value = next;
      failure.value = undefined;
      keyQuestion.value = undefined;
      isLoading.value = false;
    });
    failedLoads = 0;
    outbox.open(me.value?.ledger ?? '');
  } catch (cause) {
    if (given.aborted) return;
    running.abort();
    const error =
      cause instanceof ApiError ? cause : new ApiError(String(cause), { isRetryable: false });
    if (error.status === 401) return askForKey(error);
    forgetAnswers(({ at }) => at >= began);
    batch(() => {
      failure.value = { scope: wanted, error };
      isLoading.value = false;
    });
    repeatTimer = setTimeout(repeatFailed, pauseAfter(failedLoads));
    failedLoads += 1;
  }
}

/** Until it succeeds, as long as the page is seen. */
function repeatFailed(): void {
  if (failure.value?.error.isRetryable && !document.hidden) void show();
}

/** Attempts them before anything is read: a list that has such a row would show it beside the one that waits. */
async function resolveCreates(given: AbortSignal): Promise<void> {
  const caller = await ask<Caller>('/me', given);
  outbox.open(caller.body.data.ledger);
  await outbox.retryNow();
  given.throwIfAborted();
}

/** Requests everything again, except the caller. */
export function refresh(): void {
  forgetAnswers();
  void show();
}

/** A load under way keeps none of its answers for later. */
function forgetAnswers(isForgotten: (answer: Answer<unknown>) => boolean = () => true): void {
  answers = new Map([...answers].filter(([path, each]) => path === '/me' || !isForgotten(each)));
}

/** Waits a moment: another write may follow immediately. */
function refreshSoon(): void {
  forgetAnswers();
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() => {
    if (outbox.waiting.value.every(({ sendAt, queuedAt }) => sendAt > queuedAt)) refresh();
  }, REFRESH_DELAY_MS);
}

/** @param isReplaced true if Back does not return to the present scope */
export function go(changes: Partial<Scope>, { isReplaced = false } = {}): void {
  const hash = scopeHash(scope.value, changes);
  if (isReplaced) location.replace(hash);
  else location.hash = hash;
}

export function start(): void {
  addEventListener('hashchange', () => {
    scope.value = readScope(location.hash);
  });
  // Not an effect: it would also run at each write, because a view waits for those that are under way.
  scope.subscribe(() => void show());
  addEventListener('online', () => {
    void outbox.retryNow();
    repeatFailed();
  });
  addEventListener('pagehide', () => outbox.flush());
  document.addEventListener('visibilitychange', () =>
    document.hidden ? outbox.flush() : repeatFailed(),
  );
}

export function openWithKey(key: string, isKept: boolean): void {
  storedKey.write(key, { isKept });
  answers = new Map();
  void show();
}

export function forgetKey(): void {
  outbox.flush();
  storedKey.forget();
  location.reload();
}

function askForKey(error: ApiError | undefined): void {
  const refused = storedKey.read() === undefined ? undefined : error;
  storedKey.forget();
  outbox.close();
  answers = new Map();
  batch(() => {
    keyQuestion.value = { refused };
    me.value = undefined;
    view.value = undefined;
    isLoading.value = false;
  });
}

interface Answer<Body> {
  /** When it was asked for. */
  readonly at: number;
  readonly body: Body;
}

async function ask<Body>(path: string, given: AbortSignal): Promise<Answer<Body>> {
  const known = answers.get(path) as Answer<Body> | undefined;
  if (known) return known;
  const at = Date.now();
  const asked = answers;
  const answer = { at, body: await call<Body>(path, { signal: given }) };
  asked.set(path, answer);
  if (asked.size > MAX_KNOWN_ANSWERS) asked.delete([...asked.keys()][1] ?? '');
  return answer;
}

async function load(wanted: Scope, given: AbortSignal): Promise<View> {
  const dates = periodDates(wanted.period, new Date());
  const [caller, known, sums, list] = await Promise.all([
    ask<Caller>('/me', given),
    ask<{ data: Category[] }>('/categories?active_only=false&include_counts=true', given),
    wanted.q === '' ? readSums(wanted, dates, given) : undefined,
    wanted.q === '' ? readList(wanted, dates, given) : search(wanted, dates, given),
  ]);
  batch(() => {
    me.value = caller.body.data;
    categories.value = known.body.data;
  });
  const empty = { cells: [], before: undefined, readAt: Date.now() };
  return { scope: wanted, dates, ...empty, ...list, ...sums };
}

async function readSums({ period, type }: Scope, dates: Dates | undefined, given: AbortSignal) {
  const unit = unitOf(period);
  if (unit === 'day' && dates) {
    const before = isMonth(period)
      ? periodDates(neighbour(period, -1) ?? period, new Date())
      : datesBefore(period, new Date());
    const start = before?.start_date ?? dates.start_date;
    const all = await readAll({ type, start_date: start, end_date: dates.end_date }, given);
    const cellsOfAll = addUpRows(all.rows, unit);
    return {
      readAt: all.at,
      cells: cellsOfAll.filter(({ period: day }) => day >= dates.start_date),
      before: before && {
        dates: before,
        cells: cellsOfAll.filter(({ period: day }) => day < dates.start_date),
      },
    };
  }
  const read = async (some: Dates | undefined) => {
    const path = pathWith('/summary', { group_by: `category,${unit}`, type, ...some });
    const { at, body } = await ask<Summary | SummarySeries>(path, given);
    return { at, cells: readSummary(body.data, some) };
  };
  const before = datesBefore(period, new Date());
  const [now, earlier] = await Promise.all([read(dates), before && read(before)]);
  return {
    readAt: now.at,
    cells: now.cells,
    before: before && earlier && { dates: before, cells: earlier.cells },
  };
}

async function readList(wanted: Scope, dates: Dates | undefined, given: AbortSignal) {
  const { category, type, page } = wanted;
  const filters = { category_id: category, type, ...dates, page, per_page: PER_PAGE };
  const { body } = await ask<TransactionPage>(pathWith('/transactions', filters), given);
  const { data, pagination } = body;
  return { rows: data, page, pages: pagination.pages, total: pagination.total };
}

/** Charts and chips are those of all rows: where these are on one page. The sums are exact for any number. */
async function search(wanted: Scope, dates: Dates | undefined, given: AbortSignal) {
  const { q, type, category, page, period } = wanted;
  const filters = { q, type, category_id: category, ...dates, page, per_page: PER_PAGE };
  const path = pathWith('/transactions/search', filters);
  const { at, body } = await ask<TransactionSearch>(path, given);
  const { data, pagination, summary } = body;
  return {
    readAt: at,
    rows: data,
    cells: pagination.pages <= 1 ? addUpRows(data, unitOf(period)) : [],
    found: summary,
    page,
    pages: pagination.pages,
    total: pagination.total,
  };
}

interface Part {
  readonly data: readonly Row[];
  readonly next: string | null;
}

/** All rows that the filters leave, newest first. */
async function readAll(
  filters: Readonly<Record<string, string | number | undefined>>,
  given: AbortSignal,
): Promise<{ readonly rows: readonly Row[]; readonly at: number }> {
  const found: Row[] = [];
  let at = Date.now();
  let path: string | null = pathWith('/transactions/export', { format: 'json', ...filters });
  while (path !== null) {
    const part: Answer<Part> = await ask<Part>(path, given);
    found.push(...part.body.data);
    at = Math.min(at, part.at);
    path = part.body.next === null ? null : `/transactions/export?${part.body.next}`;
  }
  return { rows: found.reverse(), at };
}

/** Every row of the scope, not only those of its page. */
export async function readScopeRows({ q, type, category, period }: Scope): Promise<readonly Row[]> {
  const filters = { q: q || undefined, type, category_id: category };
  return await readRows({ ...filters, ...periodDates(period, new Date()) });
}

/** Rows that an action of a person needs, as they are now: the action goes on when the view is left or read again. */
export async function readRows(
  filters: Readonly<Record<string, string | number | undefined>>,
): Promise<readonly Row[]> {
  forgetAnswers();
  return (await readAll(filters, AbortSignal.timeout(MAX_READING_MS))).rows;
}

function reportRefusals(refusals: readonly Refusal[]): void {
  const [first] = refusals;
  if (!first) return;
  const { change, error } = first;
  const request = error.requestId ? ` (request ${error.requestId})` : '';
  if (refusals.length === 1 && !change.before && change.after)
    refusedCreate.value = { row: change.after, error };
  const name = (change.after ?? change.before)?.description ?? '';
  notice.value =
    refusals.length === 1
      ? { text: `“${name}” was not saved. ${explain(error)}${request}` }
      : {
          text: `${format.counted(refusals.length, 'transaction')} were not changed${request}:`,
          details: refusals.map(
            (each) =>
              `${(each.change.before ?? each.change.after)?.description}: ${explain(each.error)}`,
          ),
        };
  refreshSoon();
}

function explain({ message, status }: ApiError): string {
  return status === 412 ? 'It was changed elsewhere meanwhile.' : message;
}

export function removeRows(some: readonly Row[]): void {
  outbox.remove(some);
  announcement.value =
    some.length === 1
      ? `Deleted ${some[0]?.description}`
      : `Deleted ${format.counted(some.length, 'transaction')}`;
}

interface CategoryAnswer {
  readonly data: Category;
}

/** @returns the category of this name, created where it is missing */
export async function ensureCategory(name: string): Promise<Category> {
  const same = (each: Category) => each.name.toLowerCase() === name.trim().toLowerCase();
  const known = categories.value.find(same);
  if (known) return known;
  const created = await createCategory({ name: name.trim() });
  announcement.value = `Category ${created.name} created`;
  return created;
}

const ATTEMPTS = 3;

/** @throws ApiError */
export async function createCategory(body: object): Promise<Category> {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const request = { method: 'POST', body, headers } as const;
      const { data } = await call<CategoryAnswer>('/categories', request);
      keepCategory(data);
      return data;
    } catch (error) {
      if (!(error instanceof ApiError && error.isRetryable) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** @throws ApiError */
export async function updateCategory({ id, etag }: Category, changes: object): Promise<Category> {
  const request = { method: 'PUT', body: changes, headers: { 'if-match': etag } } as const;
  const { data } = await call<CategoryAnswer>(`/categories/${id}`, request);
  keepCategory(data);
  refreshSoon();
  return data;
}

function keepCategory(changed: Category): void {
  const others = categories.value.filter(({ id }) => id !== changed.id);
  const [before] = categories.value.filter(({ id }) => id === changed.id);
  categories.value = [...others, { ...before, ...changed }].toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  for (const path of answers.keys()) if (path.startsWith('/categories')) answers.delete(path);
}

export function categoryName(row: Row): string {
  if (row.category_id === null) return '';
  return categoriesById.value.get(row.category_id)?.name ?? row.category_name ?? '';
}
