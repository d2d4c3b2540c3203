// The charts: sums by period as bars and a line, and categories as sorted bars.
import { fill, h, svg } from './dom.ts';
import { type CategoryBar, foldSmall, type Period, ticksOf } from './figures.ts';
import { format } from './format.ts';
import { hashOf, type State } from './state.ts';
import { explain } from './tooltip.ts';

const HEIGHT = 280;
const MARGIN = { top: 12, right: 8, bottom: 40 };
/** At most, of a digit of a tick. */
const DIGIT = 8;
const WIDEST_BAR = 30;
const NARROWEST_LABEL = 38;

/** Income up, expense down, and a line for net. One stop for the tab key; the arrow keys go from bar to bar. */
export function drawPeriods(container: HTMLElement, periods: readonly Period[]): void {
  const width = container.clientWidth;
  if (width === 0) return;
  const values = periods.flatMap(({ income, expense, net }) => [income, -expense, net]);
  const ticks = ticksOf(Math.min(0, ...values), Math.max(0, ...values));
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const left = 12 + DIGIT * Math.max(...ticks.map((tick) => format.short(tick).length));
  const inner = HEIGHT - MARGIN.top - MARGIN.bottom;
  const y = (value: number) => MARGIN.top + ((highest - value) / (highest - lowest)) * inner;
  const band = (width - left - MARGIN.right) / Math.max(1, periods.length);
  const middle = (n: number) => left + band * (n + 0.5);

  const grid = ticks.flatMap((tick) => [
    svg('line', {
      x1: left,
      x2: width - MARGIN.right,
      y1: y(tick),
      y2: y(tick),
      class: tick === 0 ? 'zero' : 'grid',
    }),
    svg('text', { x: left - 8, y: y(tick) + 4, class: 'tick end' }, format.short(tick)),
  ]);
  const every = Math.ceil(NARROWEST_LABEL / band);
  const labels = periods.flatMap(({ key }, n) =>
    n % every === 0 ? labelOf(key, middle(n), periods[n - every]?.key) : [],
  );
  const bars = periods.map((period, n) =>
    barsOf(period, { x: middle(n), band, y, isFirst: n === 0 }),
  );
  const points = periods.map(({ net }, n) => `${middle(n)},${y(net)}`).join(' ');
  const dots = periods.map(({ net }, n) =>
    svg('circle', { cx: middle(n), cy: y(net), r: band < 12 ? 0 : 3, class: 'net' }),
  );
  const drawing = svg(
    'svg',
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: 'group',
      'aria-label': 'Income, expense and net of each period. Use the arrow keys.',
    },
    svg('g', { 'aria-hidden': 'true' }, ...grid, ...labels),
    ...bars,
    svg(
      'g',
      { 'aria-hidden': 'true', class: 'line' },
      svg('polyline', { points, class: 'net' }),
      ...dots,
    ),
  );
  drawing.addEventListener('keydown', moveFocus);
  fill(container, drawing);
}

/** The month, and its year below the first label of each year. */
function labelOf(key: string, x: number, before: string | undefined): SVGElement[] {
  const month = svg('text', { x, y: HEIGHT - 22, class: 'tick' }, format.shortPeriod(key));
  const year = key.slice(0, 4);
  if (key === year || before?.startsWith(year)) return [month];
  return [month, svg('text', { x, y: HEIGHT - 7, class: 'tick year' }, year)];
}

interface Place {
  readonly x: number;
  readonly band: number;
  readonly y: (value: number) => number;
  readonly isFirst: boolean;
}

function barsOf({ key, income, expense, net }: Period, { x, band, y, isFirst }: Place): SVGElement {
  const thickness = Math.max(1, Math.min(WIDEST_BAR, band * 0.62));
  const bar = (value: number, name: string) =>
    svg('rect', {
      x: x - thickness / 2,
      width: thickness,
      rx: Math.min(3, thickness / 4),
      class: name,
      y: Math.min(y(0), y(value)),
      height: Math.abs(y(value) - y(0)),
    });
  const rows = [
    ['Income', format.money(income)],
    ['Expense', format.money(expense)],
    ['Net', format.signed(net)],
  ];
  const label = `${format.period(key)}: ${rows.map((row) => row.join(' ')).join(', ')}`;
  const drawn = svg(
    'g',
    {
      class: 'period',
      role: 'img',
      tabindex: isFirst ? 0 : -1,
      'aria-label': label,
      'data-focus': key,
    },
    svg('rect', {
      x: x - band / 2,
      y: MARGIN.top,
      width: band,
      class: 'hit',
      rx: 4,
      height: HEIGHT - MARGIN.top - MARGIN.bottom,
    }),
    bar(income, 'income'),
    bar(-expense, 'expense'),
  );
  explain(drawn, format.period(key), rows);
  return drawn;
}

function moveFocus(event: KeyboardEvent): void {
  const all = [...(event.currentTarget as SVGElement).querySelectorAll<SVGElement>('.period')];
  const at = all.indexOf(event.target as SVGElement);
  const next = {
    ArrowRight: at + 1,
    ArrowLeft: at - 1,
    Home: 0,
    End: all.length - 1,
  }[event.key];
  const target = next === undefined ? undefined : all[next];
  if (!target) return;
  event.preventDefault();
  for (const each of all) each.setAttribute('tabindex', each === target ? '0' : '-1');
  target.focus();
}

/** The same figures, to read or to copy. */
export function periodsTable(periods: readonly Period[]): HTMLElement {
  const head = ['Period', 'Income', 'Expense', 'Net'].map((name) =>
    h('th', { scope: 'col' }, name),
  );
  const rows = periods.map(({ key, income, expense, net }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, format.period(key)),
      ...[format.money(income), format.money(expense), format.signed(net)].map((figure) =>
        h('td', {}, figure),
      ),
    ),
  );
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...rows));
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Figures by period' },
    table,
  );
}

export interface CategoriesChart {
  readonly bars: readonly CategoryBar[];
  readonly colorOf: (bar: CategoryBar, position: number) => string;
}

/** A click filters by the category, or takes the filter away. */
export function drawCategories(
  container: HTMLElement,
  state: State,
  { bars, colorOf }: CategoriesChart,
): void {
  const { large, small } = state.isOpen ? { large: bars, small: undefined } : foldSmall(bars);
  const longest = Math.max(...large.map(({ amount }) => amount), small?.amount ?? 0, 0.01);
  const rows = large.map((bar, n) => {
    const isChosen = state.category === bar.key;
    const href = hashOf(state, { category: isChosen ? undefined : bar.key });
    const mark = { color: colorOf(bar, n), part: bar.amount / longest };
    return barRow(bar, mark, { href, 'data-focus': bar.key, 'aria-current': isChosen && 'true' });
  });
  if (small) {
    const mark = { color: 'var(--quiet)', part: small.amount / longest };
    const others = { ...small, name: `Other (${format.count(small.count)})` };
    rows.push(
      barRow(others, mark, { href: hashOf(state, { isOpen: true }), 'data-focus': 'other' }),
    );
  } else if (state.isOpen && foldSmall(bars).small) {
    const link = { href: hashOf(state, { isOpen: false }), 'data-focus': 'other', class: 'less' };
    rows.push(h('li', {}, h('a', link, 'Show the largest')));
  }
  fill(container, ...rows);
  container.classList.toggle('filtered', state.category !== undefined);
}

function barRow(
  { name, amount, share }: Pick<CategoryBar, 'name' | 'amount' | 'share'>,
  { color, part }: { readonly color: string; readonly part: number },
  attributes: Readonly<Record<string, string | number | boolean>>,
): HTMLLIElement {
  const filled = h('span', { class: 'filled' });
  filled.style.width = `${Math.max(0.5, Math.max(0, part) * 100)}%`;
  filled.style.background = color;
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'bar', ...attributes },
      h('span', { class: 'name' }, name),
      h('span', { class: 'amount' }, format.money(amount)),
      h('span', { class: 'share' }, share === undefined ? '' : format.percent(share)),
      h('span', { class: 'track' }, filled),
    ),
  );
}
