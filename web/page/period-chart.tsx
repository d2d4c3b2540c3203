// The chart by time. By day it shows the amount spent so far, with a line for the previous period; by month or year, income and
// expense with a line for net.
import { signal } from '@preact/signals';
import type { TargetedKeyboardEvent } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { chooseTicks } from './figures.ts';
import { format } from './format.ts';
import { changeScope, view } from './ledger.ts';
import { type Bar, createDayBars, createPeriodBars, namePreviousPeriod } from './period-bars.ts';
import { isFiltered, isMonth, unitOf } from './scope.ts';

const HEIGHT = 156;
const MARGIN = { top: 10, right: 6, bottom: 38 };
const MAX_DIGIT_WIDTH = 8;
const MAX_BAR_WIDTH = 28;
const MIN_LABEL_WIDTH = 34;
const TOOLTIP_GAP = 8;

interface Tip {
  readonly bar: Bar;
  readonly x: number;
  readonly y: number;
}

const tip = signal<Tip | undefined>(undefined);

export function PeriodChart() {
  const currentView = view.value;
  if (!currentView) return null;
  const unit = unitOf(currentView.scope.period);
  const isByDay = unit === 'day' && currentView.dates !== undefined;
  const bars = isByDay ? createDayBars(currentView) : createPeriodBars();
  const side = currentView.scope.type === 'income' ? 'Received' : 'Spent';
  const title = isByDay ? `Total ${side.toLowerCase()} up to each day` : `By ${unit}`;
  return (
    <section class="card" aria-label="By time">
      <div class="title">
        <h3>{title}</h3>
        <p class="legend">
          {isByDay ? (
            <>
              <span class={`key ${currentView.scope.type ?? 'expense'}`}>{side}</span>
              {bars[0]?.line !== undefined && (
                <span class="key line">{namePreviousPeriod(currentView.previous)}</span>
              )}
            </>
          ) : (
            <>
              <span class="key income">Income</span>
              <span class="key expense">Expense</span>
              <span class="key line">Net</span>
            </>
          )}
        </p>
      </div>
      <Drawing bars={bars} hasFilter={isFiltered(currentView.scope)} />
      <AsTable bars={bars} />
    </section>
  );
}

/**
 * Shows the figures of a bar only when the pointer moves, not when the page scrolls below a resting pointer. The Tab key stops
 * once in the drawing; the arrow keys move from bar to bar, and Enter opens the period of a bar.
 */
function Drawing({
  bars,
  hasFilter,
}: {
  readonly bars: readonly Bar[];
  readonly hasFilter: boolean;
}) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const hasFigures = bars.some(({ values, line }) => line || values.some(({ value }) => value));
  return (
    <div class="chart" ref={box} onPointerLeave={hideTip}>
      {hasFigures ? (
        width > 0 && <ChartSvg bars={bars} width={width} />
      ) : (
        <p class="no-figures">
          {hasFilter ? 'No transactions match.' : 'Nothing in this period yet.'}
        </p>
      )}
    </div>
  );
}

interface Plot {
  readonly width: number;
  readonly left: number;
  readonly ticks: readonly number[];
  /** Width of one bar with its gap. */
  readonly band: number;
  readonly middle: (n: number) => number;
  readonly y: (value: number) => number;
}

function planPlot(bars: readonly Bar[], width: number): Plot {
  const values = bars.flatMap((bar) => [...bar.values.map(({ value }) => value), bar.line ?? 0]);
  const ticks = chooseTicks(Math.min(0, ...values), Math.max(0, ...values), 3);
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const left = 10 + MAX_DIGIT_WIDTH * Math.max(...ticks.map((tick) => format.short(tick).length));
  const plotHeight = HEIGHT - MARGIN.top - MARGIN.bottom;
  const band = (width - left - MARGIN.right) / Math.max(1, bars.length);
  return {
    ...{ width, left, ticks, band },
    middle: (n) => left + band * (n + 0.5),
    y: (value) => MARGIN.top + ((highest - value) / (highest - lowest)) * plotHeight,
  };
}

function ChartSvg({ bars, width }: { readonly bars: readonly Bar[]; readonly width: number }) {
  const plot = planPlot(bars, width);
  const { band, middle, y } = plot;
  const points = bars.flatMap(({ line }, n) =>
    line === undefined ? [] : `${middle(n).toFixed(1)},${y(line).toFixed(1)}`,
  );
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no element for a group
    <svg
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="group"
      aria-label="Figures of each period. Use the arrow keys; Enter opens one."
      onPointerMove={({ target }) => showTip(bars, target)}
      onFocusCapture={({ target }) => showTip(bars, target)}
      onBlurCapture={hideTip}
      onClick={({ target }) => openPeriod(target)}
      onKeyDown={(event) => (event.key === 'Enter' ? openPeriod(event.target) : moveFocus(event))}
    >
      <Axes bars={bars} plot={plot} />
      {bars.map((bar, n) => (
        <BarGroup key={bar.key} bar={bar} x={middle(n)} band={band} y={y} isFirst={n === 0} />
      ))}
      <polyline points={points.join(' ')} class="line" />
    </svg>
  );
}

function Axes({ bars, plot }: { readonly bars: readonly Bar[]; readonly plot: Plot }) {
  const { width, left, ticks, band, middle, y } = plot;
  const labelInterval = Math.ceil(MIN_LABEL_WIDTH / band);
  return (
    <g>
      {ticks.map((tick) => (
        <g key={tick}>
          <line
            x1={left}
            x2={width - MARGIN.right}
            y1={y(tick)}
            y2={y(tick)}
            class={tick === 0 ? 'zero' : 'grid'}
          />
          <text x={left - 8} y={y(tick) + 4} class="tick end">
            {format.short(tick)}
          </text>
        </g>
      ))}
      {bars.map(
        ({ key }, n) =>
          n % labelInterval === 0 && (
            <Label
              key={key}
              period={key}
              x={middle(n)}
              previousPeriod={bars[n - labelInterval]?.key}
            />
          ),
      )}
    </g>
  );
}

/** Draws the day or month, and the year below the first month of each year. */
function Label({
  period,
  x,
  previousPeriod,
}: {
  readonly period: string;
  readonly x: number;
  readonly previousPeriod: string | undefined;
}) {
  const year = period.slice(0, 4);
  const hasYear = isMonth(period) && !previousPeriod?.startsWith(year);
  return (
    <>
      <text x={x} y={HEIGHT - 22} class="tick">
        {format.tick(period)}
      </text>
      {hasYear && (
        <text x={x} y={HEIGHT - 7} class="tick year">
          {year}
        </text>
      )}
    </>
  );
}

interface BarGroupProps {
  readonly bar: Bar;
  readonly x: number;
  readonly band: number;
  readonly y: (value: number) => number;
  readonly isFirst: boolean;
}

/** Draws one bar without listeners: the drawing listens for all bars. */
function BarGroup({ bar, x, band, y, isFirst }: BarGroupProps) {
  const thickness = Math.max(1, Math.min(MAX_BAR_WIDTH, band * 0.66));
  const label = `${format.period(bar.key)}: ${bar.figures.map((row) => row.join(' ')).join(', ')}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a drawing has no buttons
    <g
      class="period"
      role="button"
      tabindex={isFirst ? 0 : -1}
      aria-label={label}
      data-key={bar.key}
    >
      <rect
        x={x - band / 2}
        y={MARGIN.top}
        width={band}
        height={HEIGHT - MARGIN.top - MARGIN.bottom}
        class="hit"
      />
      {bar.values.map(({ side, value }) => (
        <rect
          key={side}
          x={x - thickness / 2}
          width={thickness}
          rx={Math.min(3, thickness / 4)}
          class={side}
          y={Math.min(y(0), y(value))}
          height={Math.abs(y(value) - y(0))}
        />
      ))}
    </g>
  );
}

function findGroup(target: EventTarget | null): SVGElement | null {
  return target instanceof Element ? target.closest<SVGElement>('.period') : null;
}

function openPeriod(target: EventTarget | null): void {
  const key = findGroup(target)?.dataset.key;
  if (key !== undefined) changeScope({ period: key.length === 10 ? `${key}..${key}` : key });
}

function showTip(bars: readonly Bar[], target: EventTarget | null): void {
  const group = findGroup(target);
  const bar = bars.find(({ key }) => key === group?.dataset.key);
  if (!group || !bar || tip.peek()?.bar === bar) return;
  const { left, width, top } = group.getBoundingClientRect();
  tip.value = { bar, x: left + width / 2, y: top };
}

function hideTip(): void {
  tip.value = undefined;
}

/** Shows the figures of a bar, for the mouse and the keyboard alike. Screen readers read the label of the bar instead. */
export function Tooltip() {
  const currentTip = tip.value;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!currentTip || !element) return;
    const maxLeft = document.documentElement.clientWidth - element.offsetWidth - TOOLTIP_GAP;
    element.style.left = `${Math.max(TOOLTIP_GAP, Math.min(currentTip.x - element.offsetWidth / 2, maxLeft))}px`;
    element.style.top = `${Math.max(TOOLTIP_GAP, currentTip.y - element.offsetHeight - TOOLTIP_GAP)}px`;
  }, [currentTip]);
  useLayoutEffect(() => {
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && hideTip();
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (!currentTip) return null;
  return (
    <div id="tooltip" ref={box} aria-hidden="true">
      <strong>{format.period(currentTip.bar.key)}</strong>
      <table>
        <tbody>
          {currentTip.bar.figures.map(([name, value]) => (
            <tr key={name}>
              <th>{name}</th>
              <td>{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function moveFocus(event: TargetedKeyboardEvent<SVGSVGElement>): void {
  const groups = [...event.currentTarget.querySelectorAll<SVGElement>('.period')];
  const index = groups.indexOf(event.target as SVGElement);
  const nextIndex = {
    ArrowRight: index + 1,
    ArrowLeft: index - 1,
    Home: 0,
    End: groups.length - 1,
  }[event.key];
  const target = nextIndex === undefined ? undefined : groups[nextIndex];
  if (!target) return;
  event.preventDefault();
  for (const each of groups) each.setAttribute('tabindex', each === target ? '0' : '-1');
  target.focus();
}

function useWidth(box: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    // The observer also reports the first width, without forcing an extra layout.
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** The figures of the chart as a table, rendered only when opened: a month has about 120 figures. */
function AsTable({ bars }: { readonly bars: readonly Bar[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="as-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <FigureTable bars={bars} />}
    </details>
  );
}

function FigureTable({ bars }: { readonly bars: readonly Bar[] }) {
  const names = bars[0]?.figures.map(([name]) => name) ?? [];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the section scrolls, and the keyboard must be able to scroll it
    <section class="scroll" tabIndex={0} aria-label="Figures by period">
      <table>
        <thead>
          <tr>
            <th scope="col">Period</th>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map(({ key, figures }) => (
            <tr key={key}>
              <th scope="row">{format.period(key)}</th>
              {figures.map(([name, value]) => (
                <td key={name}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
