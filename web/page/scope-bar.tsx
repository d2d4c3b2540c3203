// The bar with the period and the search, and the totals of the rows that they select.
import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, Field, ScopeLink } from './components.tsx';
import { format } from './format.ts';
import { changeScope, previousTotals, scope, totals } from './ledger.ts';
import {
  datesBefore,
  findAdjacentPeriod,
  isMonth,
  isRange,
  localDay,
  monthKey,
  periodDates,
  periodOf,
} from './scope.ts';
import { isPhone } from './screen.ts';
import { Sheet } from './sheet.tsx';

const RECENT_YEARS = 12;
const SEARCH_DELAY_MS = 300;
/** Above tenfold, a change is shown without a percentage: the earlier amount was too small to compare with. */
const MAX_RELATIVE_CHANGE = 10;

export function ScopeBar() {
  const { period } = scope.value;
  const kind = isMonth(period)
    ? 'month'
    : period.length === 4 && period !== 'all'
      ? 'year'
      : 'period';
  return (
    <div class="scope-bar">
      <div class="stepper">
        <Step kind={kind} step={-1} />
        <h2 aria-live="polite" tabIndex={-1}>
          {format.scope(period)}
        </h2>
        <Step kind={kind} step={1} />
      </div>
      <PeriodChoice />
      <Search />
    </div>
  );
}

function Step({ kind, step }: { readonly kind: string; readonly step: -1 | 1 }) {
  const adjacentPeriod = findAdjacentPeriod(scope.value.period, step);
  const label = `${step < 0 ? 'Previous' : 'Next'} ${kind}`;
  return (
    <Button
      kind="quiet"
      aria-label={label}
      title={label}
      disabled={adjacentPeriod === undefined}
      onClick={() => adjacentPeriod && changeScope({ period: adjacentPeriod })}
    >
      <span aria-hidden="true">{step < 0 ? '‹' : '›'}</span>
    </Button>
  );
}

function PeriodChoice() {
  const [isOpen, setOpen] = useState(false);
  const { period } = scope.value;
  const today = new Date();
  const thisYear = today.getFullYear();
  const years = Array.from({ length: RECENT_YEARS }, (_, n) => String(thisYear - n));
  const listedPeriods = [monthKey(today), '3m', '12m', 'all', ...years];
  const choose = (value: string, field: HTMLSelectElement) => {
    if (value !== 'dates') return changeScope({ period: value });
    field.value = period;
    setOpen(true);
  };
  return (
    <>
      <select
        aria-label="Period"
        class="period-choice"
        value={isRange(period) ? 'dates' : period}
        onChange={({ currentTarget }) => choose(currentTarget.value, currentTarget)}
      >
        {!listedPeriods.includes(period) && !isRange(period) && (
          <option value={period}>{format.scope(period)}</option>
        )}
        <option value={monthKey(today)}>This month</option>
        <option value="3m">3 months</option>
        <option value="12m">12 months</option>
        <option value="all">All dates</option>
        {years.map((year) => (
          <option key={year} value={year}>
            {year}
          </option>
        ))}
        <option value="dates">Dates…</option>
      </select>
      {isOpen && <DatesSheet onClose={() => setOpen(false)} />}
    </>
  );
}

function DatesSheet({ onClose }: { readonly onClose: () => void }) {
  const dates = periodDates(scope.value.period, new Date());
  const [from, setFrom] = useState(dates?.start_date ?? localDay(new Date()));
  const [to, setTo] = useState(dates?.end_date ?? localDay(new Date()));
  const error = from && to && from > to ? 'The last day is before the first.' : undefined;
  return (
    <Sheet title="Dates" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!from || !to || error) return;
          changeScope({ period: `${from}..${to}` });
          onClose();
        }}
      >
        <DayField label="First day" value={from} onChange={setFrom} />
        <DayField label="Last day" value={to} onChange={setTo} error={error} />
        <Button type="submit" kind="primary">
          Show
        </Button>
      </form>
    </Sheet>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
  readonly error?: string | undefined;
}

function DayField({ label, value, onChange, error }: DayFieldProps) {
  return (
    <Field label={label} error={error}>
      {(id) => (
        <input
          type="date"
          required
          {...id}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  );
}

function Search() {
  const { text, type, search } = useTypedSearch();
  return (
    <search>
      <form
        class="search"
        onSubmit={(event) => {
          event.preventDefault();
          search();
        }}
      >
        <input
          type="search"
          aria-label="Search"
          placeholder="Search"
          maxLength={100}
          dir="auto"
          value={text}
          onInput={({ currentTarget }) => type(currentTarget.value)}
        />
      </form>
    </search>
  );
}

/** Manages the text of the search field, which follows the address except while a person is typing. */
function useTypedSearch() {
  const { q } = scope.value;
  const text = useSignal(q);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const sentText = useRef(q);
  // Before the browser draws: the field never shows the text of the search that was left.
  useLayoutEffect(() => {
    if (q === sentText.current) return;
    clearTimeout(timer.current);
    sentText.current = q;
    text.value = q;
  }, [q]);
  const search = () => {
    clearTimeout(timer.current);
    sentText.current = text.peek().trim();
    if (sentText.current !== scope.value.q) searchFor(sentText.current);
  };
  const type = (typedText: string) => {
    text.value = typedText;
    clearTimeout(timer.current);
    timer.current = setTimeout(search, SEARCH_DELAY_MS);
  };
  return { text, type, search };
}

/**
 * While a search is typed, each version replaces the last in the history, so that Back returns to the rows before the search.
 */
function searchFor(q: string): void {
  const continuesSearch = q !== '' && scope.peek().q !== '';
  changeScope({ q }, { isReplaced: continuesSearch });
}

/** Shows the totals. A click on income or expense also filters by that type. */
export function Figures() {
  const { type } = scope.value;
  const currentTotals = totals.value;
  const { net, previousPeriod, ...changes } = compareTotals();
  return (
    <section class="figures" aria-label="Totals">
      {(['income', 'expense'] as const).map((side) => (
        <ScopeLink
          key={side}
          class={`figure ${side}`}
          to={{ type: type === side ? undefined : side }}
          isCurrent={type === side}
          title={type === side ? 'Show income and expense' : `Show only ${side}`}
        >
          <span class="name">{side === 'income' ? 'Income' : 'Expense'}</span>
          <strong>{format.money(currentTotals[side])}</strong>
          <small>{changes[side]}</small>
        </ScopeLink>
      ))}
      <div class="figure net">
        <span class="name">Net</span>
        <strong>{format.signed(currentTotals.net)}</strong>
        <small>{net}</small>
      </div>
      <p class="compared">{previousPeriod && `Compared with ${previousPeriod}`}</p>
    </section>
  );
}

/** On a phone, the changes are shown with the charts: there is no room for them below the totals. */
export function ChangesOnPhone() {
  const { previousPeriod, income, expense, net } = compareTotals();
  if (!isPhone.value || !previousPeriod) return null;
  return (
    <dl class="changes">
      <dt class="compared">Compared with {previousPeriod}</dt>
      <dd>Income {income}</dd>
      <dd>Expense {expense}</dd>
      <dd>Net {net}</dd>
    </dl>
  );
}

/** Returns the period with which the totals are compared, and how they differ; empty strings if there is none. */
function compareTotals() {
  const [current, previous] = [totals.value, previousTotals.value];
  const dates = previous && datesBefore(scope.value.period, new Date());
  if (!dates) return { previousPeriod: '', income: ' ', expense: ' ', net: ' ' };
  return {
    previousPeriod: format.scope(periodOf(dates)),
    income: formatChange(current.income, previous.income),
    expense: formatChange(current.expense, previous.expense),
    net: formatChange(current.net, previous.net),
  };
}

function formatChange(current: number, previous: number): string {
  const relativeChange = previous > 0 ? (current - previous) / previous : undefined;
  const hasPercentage =
    relativeChange !== undefined && Math.abs(relativeChange) < MAX_RELATIVE_CHANGE;
  const percent = hasPercentage ? ` (${format.signedPercent(relativeChange)})` : '';
  return `${format.signed(current - previous)}${percent}`;
}
