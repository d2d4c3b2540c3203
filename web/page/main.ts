// The front page: what came in and went out, where it went, and what was last. It uses the public API alone.

import { ApiError, get, isSendable, pathOf, storedKey } from './api.ts';
import type { CategoryList, Me, Summary } from './api-types.ts';
import { drawCategories, drawPeriods, periodsTable } from './charts.ts';
import { colorOf } from './colors.ts';
import { byId, fill, h, stateLink } from './dom.ts';
import { categoriesOf, periodsOf, UNCATEGORIZED } from './figures.ts';
import { format } from './format.ts';
import { createListReader, drawList, drawPages, type Listed } from './list.ts';
import { type Dates, datesBefore, datesOf, hashOf, readState, type State } from './state.ts';
import { hideTooltip } from './tooltip.ts';

interface View {
  readonly state: State;
  readonly dates: Dates | undefined;
  readonly datesBefore: Dates | undefined;
  readonly me: Me['data'];
  readonly categories: CategoryList['data'];
  readonly sums: Summary['data'];
  readonly before: Summary['data'] | undefined;
  readonly listed: Listed;
}

const RANGES = [
  ['month', 'This month'],
  ['3m', '3 months'],
  ['12m', '12 months'],
  ['all', 'All'],
] as const;
const YEARS = 12;
const SEARCH_DELAY = 350;

const isDark = matchMedia('(prefers-color-scheme: dark)');
let shown: View | undefined;
let running = new AbortController();
let answers = createAnswers();

/** The last answer of each kind, so that a change asks only for what is different. */
function createAnswers() {
  const kept = new Map<string, { readonly key: string; readonly value: unknown }>();
  const readList = createListReader((text) => fill(byId('progress'), text));
  const keep = async <Value>(kind: string, key: string, ask: () => Promise<Value>) => {
    const known = kept.get(kind);
    if (known?.key === key) return known.value as Value;
    const value = await ask();
    kept.set(kind, { key, value });
    return value;
  };
  return {
    read: <Body extends { readonly data: unknown }>(
      kind: string,
      path: string,
      signal: AbortSignal,
    ) => keep(kind, path, () => get<Body>(path, signal)),
    list: (state: State, dates: Dates | undefined, signal: AbortSignal) => {
      const key = JSON.stringify([state.category, state.type, state.search, state.page, dates]);
      return keep('list', key, () => readList(state, dates, signal));
    },
  };
}

async function show(): Promise<void> {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  const state = readState(location.hash);
  hideTooltip();
  // Of a search that is given up.
  fill(byId('progress'));
  drawControls(state);
  byId('ledger').setAttribute('aria-busy', 'true');
  try {
    shown = await load(state, signal);
    byId('ask').hidden = true;
    byId('ledger').hidden = false;
    fill(byId('notice'));
    draw(shown);
    byId('ledger').setAttribute('aria-busy', 'false');
  } catch (error) {
    if (signal.aborted) return;
    // The answers of the others are not shown, and may be no better.
    running.abort();
    fill(byId('progress'));
    fail(error);
  }
}

async function load(state: State, signal: AbortSignal): Promise<View> {
  const today = new Date();
  const [dates, earlier] = [datesOf(state.range, today), datesBefore(state.range, today)];
  const period = dates === undefined ? 'year' : 'month';
  const sums = pathOf('/summary', { group_by: `category,${period}`, ...dates });
  const before = earlier && pathOf('/summary', { group_by: 'type', ...earlier });
  const [me, categories, ofRange, ofBefore, listed] = await Promise.all([
    answers.read<Me>('me', '/me', signal),
    answers.read<CategoryList>('categories', '/categories?active_only=false', signal),
    answers.read<Summary>('sums', sums, signal),
    before === undefined ? undefined : answers.read<Summary>('before', before, signal),
    answers.list(state, dates, signal),
  ]);
  return {
    state,
    dates,
    listed,
    datesBefore: earlier,
    me: me.data,
    categories: categories.data,
    sums: ofRange.data,
    before: ofBefore?.data,
  };
}

function fail(error: unknown): void {
  const { status = 0, requestId } = error instanceof ApiError ? error : {};
  if (status === 401) {
    askForKey(requestId);
    return;
  }
  const tooMany = error instanceof ApiError ? error.refusalOf('group_by') : undefined;
  if (tooMany !== undefined) {
    offerShorterRange(tooMany);
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  const retry = h('button', { type: 'button' }, 'Try again');
  retry.addEventListener('click', show);
  const sentence = h('p', {}, message, requestId ? ` (request ${requestId})` : '');
  fill(byId('notice'), h('div', { class: 'notice' }, sentence, retry));
  // What is there stays, and can be read.
  byId('ledger').setAttribute('aria-busy', 'false');
}

/** The figures of another range would be read as those of this one. */
function offerShorterRange(reason: string): void {
  shown = undefined;
  byId('ask').hidden = true;
  byId('ledger').hidden = false;
  for (const part of ['empty', 'charts', 'list']) byId(part).hidden = true;
  fill(byId('totals'));
  const shorter = stateLink(hashOf(readState(location.hash), { range: '12m' }), 'Show 12 months');
  const sentence = h('p', {}, reason, ' Choose a year, or a shorter range.');
  fill(byId('notice'), h('div', { class: 'notice' }, sentence, shorter));
  byId('ledger').setAttribute('aria-busy', 'false');
}

function askForKey(requestId: string | undefined): void {
  const wasRefused = storedKey.read() !== undefined;
  storedKey.forget();
  shown = undefined;
  answers = createAnswers();
  fill(byId('caller'));
  byId('forget').hidden = true;
  byId('ledger').hidden = true;
  byId('ask').hidden = false;
  const text = `This key is not valid${requestId ? ` (request ${requestId})` : ''}.`;
  fill(byId('notice'), wasRefused ? h('div', { class: 'notice' }, h('p', {}, text)) : undefined);
  byId('key').focus();
}

function draw(view: View): void {
  const { state, sums, listed, categories } = view;
  const hasAny = sums.count > 0;
  drawCaller(view);
  drawTotals(view);
  drawEmpty(view);
  byId('charts').hidden = !hasAny;
  byId('list').hidden = !hasAny && !state.search && !state.type && state.category === undefined;
  drawCategoryChoice(view);

  const name = nameOf(view, state.category);
  const unit = sums.months ? 'By month' : 'By year';
  fill(byId('periods-title'), name === undefined ? unit : `${unit}: ${name}`);
  const clear = stateLink(hashOf(state, { category: undefined }), 'All categories');
  const keys = ['Income', 'Expense', 'Net'].map((each) =>
    h('span', { class: `key ${each.toLowerCase()}` }, each),
  );
  fill(byId('legend'), ...keys, name === undefined ? undefined : clear);
  const colors = new Map(categories.map(({ id, color }) => [id as number | 'none', color]));
  const background = isDark.matches ? '#171b22' : '#ffffff';
  if (hasAny) {
    const periods = periodsOf(sums, state.category);
    drawPeriods(byId('periods-chart'), periods);
    fill(
      byId('periods-table').querySelector('div') ?? byId('periods-table'),
      periodsTable(periods),
    );
    drawCategories(byId('categories-chart'), state, {
      bars: categoriesOf(sums, state.side),
      colorOf: ({ key }, position) => colorOf(colors.get(key), position, background),
    });
  }
  fill(byId('list-title'), `Transactions (${format.count(listed.pagination.total)})`);
  drawList(byId('rows'), listed);
  drawPages(byId('pages'), state, listed);
}

function drawCaller({ me }: View): void {
  const { ledger, scope, kind, name, key_id: id } = me;
  const caller = kind === 'key' ? `, key ${name ?? id} (${scope})` : '';
  fill(byId('caller'), h('strong', {}, ledger), caller);
  byId('forget').hidden = storedKey.read() === undefined;
}

function drawTotals({ sums, before, datesBefore: dates }: View): void {
  const cards = (['income', 'expense', 'net'] as const).map((figure) => {
    const amount = sums[figure];
    const text = figure === 'net' ? format.signed(amount) : format.money(amount);
    const title = `${figure.slice(0, 1).toUpperCase()}${figure.slice(1)}`;
    const change = before && changeOf(amount, before[figure]);
    return h(
      'div',
      { class: `card total ${figure}` },
      h('h2', {}, title),
      h('p', { class: 'figure' }, text),
      change === undefined ? undefined : h('p', { class: 'change' }, change),
    );
  });
  const compared =
    dates && `Compared with ${format.date(dates.start_date)} – ${format.date(dates.end_date)}`;
  fill(byId('totals'), ...cards, h('p', { class: 'compared' }, compared ?? 'All dates'));
}

function changeOf(now: number, before: number): string {
  const share = before > 0 ? (now - before) / before : undefined;
  const percent = share === undefined ? '' : ` (${format.signedPercent(share)})`;
  return `${format.signed(now - before)}${percent}`;
}

function drawEmpty({ state, sums, dates }: View): void {
  const empty = byId('empty');
  empty.hidden = sums.count > 0;
  if (sums.count > 0) return;
  const range = dates && `${format.date(dates.start_date)} – ${format.date(dates.end_date)}`;
  fill(
    empty,
    h('h2', {}, range ? `No transactions in ${range}` : 'This ledger is empty'),
    range ? h('p', {}, stateLink(hashOf(state, { range: 'all' }), 'Show all dates')) : undefined,
    h('p', {}, 'To fill a new ledger, import the file of your bank, or make up a household:'),
    h('pre', {}, 'npm run import -- FILE.csv\nnpm run seed'),
  );
}

function nameOf({ sums }: View, category: State['category']): string | undefined {
  if (category === undefined) return undefined;
  if (category === 'none') return UNCATEGORIZED;
  return sums.groups.find(({ key }) => key === category)?.name ?? `Category ${category}`;
}

function drawCategoryChoice({ state, categories }: View): void {
  const value = String(state.category ?? '');
  const option = (id: string, name: string) =>
    h('option', { value: id, selected: id === value }, name);
  const known = categories.map(({ id, name }) => option(String(id), name));
  fill(byId('category'), option('', 'All categories'), ...known, option('none', UNCATEGORIZED));
}

/** What follows from the address alone. */
function drawControls(state: State): void {
  const ranges = RANGES.map(([range, text]) => {
    const isCurrent = range === state.range && 'true';
    return stateLink(hashOf(state, { range }), text, { 'aria-current': isCurrent });
  });
  fill(byId('ranges'), ...ranges);
  const thisYear = new Date().getFullYear();
  const recent = Array.from({ length: YEARS }, (_, n) => String(thisYear - n));
  const years = /^\d{4}$/.test(state.range) ? [...new Set([state.range, ...recent])] : recent;
  const choices = years
    .toSorted()
    .reverse()
    .map((year) => h('option', { value: year, selected: year === state.range }, year));
  fill(byId('year'), h('option', { value: '' }, 'Choose'), ...choices);
  byId('year').classList.toggle('chosen', years.includes(state.range));
  const sides = (['expense', 'income'] as const).map((side) =>
    stateLink(hashOf(state, { side }), side === 'income' ? 'Income' : 'Expense', {
      'aria-current': side === state.side && 'true',
    }),
  );
  fill(byId('shown'), ...sides);
  const search = byId<HTMLInputElement>('search');
  if (document.activeElement !== search) search.value = state.search;
  byId<HTMLSelectElement>('type').value = state.type ?? '';
}

function change(changes: Partial<State>): void {
  location.hash = hashOf(readState(location.hash), changes);
}

function listen(): void {
  addEventListener('hashchange', show);
  isDark.addEventListener('change', () => shown && draw(shown));
  new ResizeObserver(() => {
    if (shown && shown.sums.count > 0) {
      drawPeriods(byId('periods-chart'), periodsOf(shown.sums, shown.state.category));
    }
  }).observe(byId('periods'));
  addEventListener('keydown', ({ key }) => key === 'Escape' && hideTooltip());
  byId('ask').addEventListener('submit', (event) => {
    event.preventDefault();
    const field = byId<HTMLInputElement>('key');
    const key = field.value.trim();
    field.value = '';
    if (!isSendable(key)) {
      fill(byId('notice'), h('div', { class: 'notice' }, h('p', {}, 'This is not a key.')));
      return;
    }
    storedKey.write(key);
    show();
  });
  byId('forget').addEventListener('click', () => {
    storedKey.forget();
    location.reload();
  });
  byId('refresh').addEventListener('click', () => {
    answers = createAnswers();
    show();
  });
  byId<HTMLSelectElement>('year').addEventListener('change', ({ target }) => {
    const { value } = target as HTMLSelectElement;
    if (value) change({ range: value });
  });
  byId('type').addEventListener('change', ({ target }) =>
    change({ type: ((target as HTMLSelectElement).value || undefined) as State['type'] }),
  );
  byId('category').addEventListener('change', ({ target }) => {
    const { value } = target as HTMLSelectElement;
    const category = value === 'none' ? value : Number(value) || undefined;
    change({ category });
  });
  let timer = 0;
  const search = () => {
    clearTimeout(timer);
    const text = byId<HTMLInputElement>('search').value.trim();
    if (text !== readState(location.hash).search) change({ search: text });
  };
  byId('search').addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(search, SEARCH_DELAY);
  });
  byId('filters').addEventListener('submit', (event) => {
    event.preventDefault();
    search();
  });
}

listen();
show();
