// The page's state of the ledger: the caller, and the rows and sums of the scope, with the writes of this page applied to them.
// The state is loaded again after a write, and after a failed load.
import { batch, computed, signal } from '@preact/signals';
import type { Caller, CallerData } from '../../lib/ledger/http/api-types.ts';
import { ApiError, PRECONDITION_FAILED, pauseAfter } from './api-error.ts';
import { forgetWrittenCategories, showCategories } from './category-list.ts';
import { call, storedKey } from './client.ts';
import { addUp, type Cell, cellsOfChanges, type Totals } from './figures.ts';
import { format } from './format.ts';
import { createJournal } from './journal.ts';
import { askForKey, keyQuestion } from './key-question.ts';
import { createOutbox } from './outbox.ts';
import { callCached, forgetAllResponses, forgetResponses } from './responses.ts';
import { applyChanges, isInScope, type Row } from './rows.ts';
import {
  datesBefore,
  nameList,
  readScope,
  type Scope,
  scopeHash,
  UNFILTERED,
  unitOf,
} from './scope.ts';
import type { Refusal } from './send-write.ts';
import { deviceStorage, tabStorage } from './storage.ts';
import { readView, type View } from './view.ts';
import { afterWork, isWorking } from './work-under-way.ts';

const REFRESH_DELAY_MS = 250;

export interface FailedLoad {
  readonly scope: Scope;
  readonly error: ApiError;
}

export interface Notice {
  readonly text: string;
  readonly details?: readonly string[];
  readonly action?: { readonly name: string; readonly run: () => void };
  /** True if the notice disappears by itself: it only confirms an action. */
  readonly isBrief?: boolean;
}

export const scope = signal(readScope(location.hash));
export const me = signal<CallerData | undefined>(undefined);
export const view = signal<View | undefined>(undefined);
export const failure = signal<FailedLoad | undefined>(undefined);
export const isLoading = signal(true);
export const notice = signal<Notice | undefined>(undefined);
/** The sentence that screen readers read out. */
export const announcement = signal('');
/** A refused create, which the form shows again for correction. */
export const refusedCreate = signal<{ readonly row: Row; readonly error: ApiError } | undefined>(
  undefined,
);

/** Name of the list whose rows are shown; undefined before the first view. */
export const shownList = computed(() => view.value && nameList(view.value.scope));

export const canWrite = computed(() => me.value?.scope === 'write');

export const outbox = createOutbox({
  call,
  journal: createJournal({ device: deviceStorage, tab: tabStorage, locks: navigator.locks }),
  onCreated: noticeIfHidden,
  onConfirmed: () => refreshSoon(),
  onRefused: reportRefusals,
  onUnauthenticated: () => askForKey(undefined),
  onDefect: (error) => reportError(error),
});

let currentLoad = new AbortController();
let refreshTimer: ReturnType<typeof setTimeout> | undefined;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
/** Number of failed loads since the last one that succeeded. */
let failedLoads = 0;
/** The only ledger of this page until a reload, even while the page waits for a key. */
let openedLedger: string | undefined;

/** Writes that the sums of the view may not include yet. */
const newerWrites = computed(() => {
  const readAt = view.value?.readAt ?? 0;
  return outbox.writes.value.filter(
    ({ confirmedAt = Number.POSITIVE_INFINITY }) => confirmedAt >= readAt,
  );
});

/** Sums of the scope in every category, including the writes of this page. */
export const cells = computed(() => {
  const currentView = view.value;
  if (!currentView) return [];
  const { period, type, q } = currentView.scope;
  const isIn = isInScope({ period, type, q }, currentView.dates);
  const changes = newerWrites.value.flatMap((write) => write.changes);
  return [...currentView.cells, ...cellsOfChanges(changes, { unit: unitOf(period), isIn })];
});

export const cellsOfCategory = computed(() => filterByCategory(cells.value, view.value));
export const totals = computed<Totals>(() => {
  const currentView = view.value;
  return currentView?.searchTotals && currentView.pages > 1
    ? currentView.searchTotals
    : addUp(cellsOfCategory.value);
});
/** True if the page has only the totals of the rows found: charts and chips would cover only some of these rows. */
export const hasOnlySums = computed(
  () => view.value?.searchTotals !== undefined && view.value.pages > 1,
);
/** Totals of the previous period; undefined if it has no rows to compare with. */
export const previousTotals = computed<Totals | undefined>(() => {
  const currentView = view.value;
  if (!currentView?.previous) return undefined;
  const lastDate = datesBefore(currentView.scope.period, new Date())?.end_date ?? '';
  const previousCells = currentView.previous.cells.filter(
    ({ period }) => period <= lastDate.slice(0, period.length),
  );
  const comparedTotals = addUp(filterByCategory(previousCells, currentView));
  return comparedTotals.count > 0 ? comparedTotals : undefined;
});

/** Rows of the list, including the writes of this page. */
export const rows = computed<readonly Row[]>(() => {
  const currentView = view.value;
  if (!currentView) return [];
  const changes = outbox.writes.value.flatMap((write) => write.changes);
  return applyChanges(currentView, changes, isInScope(currentView.scope, currentView.dates));
});

/** Returns the cells of the category that the view shows; all cells if it shows every category. */
export function filterByCategory(
  allCells: readonly Cell[],
  currentView: View | undefined,
): readonly Cell[] {
  const category = currentView?.scope.category;
  return category === undefined ? allCells : allCells.filter((cell) => cell.category === category);
}

/** Keys of rows whose writes are not confirmed yet; the list marks them. */
export const unsavedKeys = computed(
  () =>
    new Set(
      outbox.waiting.value.flatMap(({ changes }) =>
        changes.flatMap(({ after }) => (after ? outbox.keyOf(after.id) : [])),
      ),
    ),
);

export async function loadView(): Promise<void> {
  currentLoad.abort();
  currentLoad = new AbortController();
  clearTimeout(retryTimer);
  const { signal: abortSignal } = currentLoad;
  const [requestedScope, startedAt] = [scope.value, Date.now()];
  isLoading.value = true;
  try {
    if (outbox.isCreating()) await resolveCreates(abortSignal);
    const loaded = await readView(requestedScope, abortSignal);
    batch(() => {
      void openOutbox(loaded.caller);
      me.value = loaded.caller;
      showCategories(loaded.categories);
      view.value = loaded.view;
      failure.value = undefined;
      keyQuestion.value = undefined;
      isLoading.value = false;
    });
    failedLoads = 0;
  } catch (cause) {
    if (abortSignal.aborted) return;
    currentLoad.abort();
    const error =
      cause instanceof ApiError ? cause : new ApiError(String(cause), { isRetryable: false });
    if (error.status === 401) return askForKey(error);
    forgetResponses(({ requestedAt }) => requestedAt >= startedAt);
    batch(() => {
      failure.value = { scope: requestedScope, error };
      isLoading.value = false;
    });
    retryTimer = setTimeout(retryFailedLoad, pauseAfter(failedLoads));
    failedLoads += 1;
  }
}

/** Loads again after a failure, if the page is visible. */
function retryFailedLoad(): void {
  if (failure.value?.error.isRetryable && !document.hidden) void loadView();
}

/** Sends the waiting creates before a list is read: if the service already has such a row, the list would show it twice. */
async function resolveCreates(abortSignal: AbortSignal): Promise<void> {
  const caller = await callCached<Caller>('/me', abortSignal);
  await openOutbox(caller.body.data);
  await outbox.retryNow();
  abortSignal.throwIfAborted();
}

async function openOutbox({ ledger, scope: scopeOfKey }: CallerData): Promise<void> {
  openedLedger = ledger;
  await outbox.open(ledger, { canWrite: scopeOfKey === 'write' });
}

/** Requests everything again except the caller. */
export function refresh(): void {
  forgetResponses();
  void loadView();
}

/** Refreshes after a moment, because another write may follow immediately. */
export function refreshSoon(): void {
  forgetResponses();
  clearTimeout(refreshTimer);
  refreshTimer = setTimeout(() => {
    if (outbox.waiting.value.every(({ sendAt, queuedAt }) => sendAt > queuedAt)) refresh();
  }, REFRESH_DELAY_MS);
}

/** Changes the scope. @param isReplaced true to replace the history entry, so that Back does not return to the present scope */
export function changeScope(changes: Partial<Scope>, { isReplaced = false } = {}): void {
  const hash = scopeHash(scope.value, changes);
  if (isReplaced) location.replace(hash);
  else location.hash = hash;
}

export function startLedger(): void {
  addEventListener('hashchange', () => {
    scope.value = readScope(location.hash);
    if (notice.peek()?.isBrief) notice.value = undefined;
  });
  // Not an effect: `loadView` reads the outbox, so an effect would also run at each write.
  scope.subscribe(() => void loadView());
  addEventListener('online', () => {
    void outbox.retryNow();
    retryFailedLoad();
  });
  addEventListener('storage', () => void reloadIfKeyReplaced());
  addEventListener('pagehide', () => outbox.flush());
  addEventListener('beforeunload', (event) => {
    if (outbox.isAtRisk() || isWorking()) event.preventDefault();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return outbox.flush();
    retryFailedLoad();
    void outbox.takeOver();
  });
}

/**
 * Opens the ledger of the key. If the page has shown another ledger, a reload ends everything that is still under way there: an
 * import or a merge would otherwise continue with the new key, in the wrong ledger.
 */
export async function openWithKey(key: string, isOnDevice: boolean): Promise<void> {
  let ledger = openedLedger;
  if (ledger !== undefined) {
    try {
      ledger = (await askForCaller(key)).ledger;
    } catch (error) {
      keyQuestion.value = { refused: error as ApiError };
      return;
    }
  }
  if (ledger !== openedLedger) {
    storedKey.storeForReload(key, { isOnDevice });
    location.reload();
    return;
  }
  storedKey.write(key, { isOnDevice });
  forgetAllResponses();
  void loadView();
}

async function askForCaller(key: string): Promise<CallerData> {
  const headers = { authorization: `Bearer ${key}` };
  return (await call<Caller>('/me', { headers })).data;
}

export function forgetKey(): void {
  outbox.flush();
  storedKey.forget();
  location.reload();
}

/** Reloads if another tab has replaced or forgotten the key, but only after an import or a merge that is under way. */
export async function reloadIfKeyReplaced(): Promise<void> {
  if (!storedKey.isReplaced()) return;
  await afterWork(() => {
    // The other tab may have brought the key back meanwhile.
    if (!storedKey.isReplaced()) return;
    outbox.flush();
    location.reload();
  });
}

keyQuestion.subscribe((question) => {
  if (question) closeLedger();
});

/** Notices stay, and are shown again with the next key: a key of another ledger reloads the page. */
function closeLedger(): void {
  currentLoad.abort();
  outbox.close();
  forgetAllResponses();
  batch(() => {
    me.value = undefined;
    forgetWrittenCategories();
    view.value = undefined;
    isLoading.value = false;
  });
}

/** Shows a notice if the list lacks a created row: otherwise the row would seem to be lost. */
function noticeIfHidden(row: Row): void {
  const { description, transaction_date: date } = row;
  const currentScope = scope.peek();
  if (isInScope(currentScope)(row)) return;
  const isInPeriod = isInScope({ ...UNFILTERED, period: currentScope.period })(row);
  const currentNotice = notice.peek();
  // A notice that the person has to read stays.
  if (currentNotice && !currentNotice.isBrief) return;
  notice.value = {
    text: `Added ${description} on ${format.date(date)}, ${isInPeriod ? 'hidden by the filter' : 'outside the period shown'}`,
    action: { name: 'Show', run: () => changeScope({ ...UNFILTERED, period: date.slice(0, 7) }) },
    isBrief: true,
  };
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
  return status === PRECONDITION_FAILED ? 'It was changed elsewhere meanwhile.' : message;
}

export function removeRows(removedRows: readonly Row[]): void {
  outbox.remove(removedRows);
  announcement.value = `Deleted ${nameRows(removedRows)}`;
}

export function undoRemovals(): void {
  const removals = outbox.undoable.value.flatMap(({ changes }) => changes);
  outbox.undoRemovals();
  announcement.value = `Restored ${nameRows(removals.flatMap(({ before }) => before ?? []))}`;
}

function nameRows(namedRows: readonly Row[]): string {
  const [first] = namedRows;
  return first && namedRows.length === 1
    ? first.description
    : format.counted(namedRows.length, 'transaction');
}
