// Computes the bars of the chart by time: the amount spent up to each day, or the income and expense of each month or year.
import { accumulate, addUpPeriods, type Period } from './figures.ts';
import { format } from './format.ts';
import { cells, cellsOfCategory, filterByCategory, view } from './ledger.ts';
import { listDays, localDay, periodOf, type Type } from './scope.ts';
import type { View } from './view.ts';

export interface Bar {
  readonly key: string;
  /** Amounts drawn from zero; a negative amount points down. */
  readonly values: readonly { readonly side: Type; readonly value: number }[];
  readonly line: number | undefined;
  readonly figures: readonly (readonly [name: string, value: string])[];
}

/** The bars end today, or on a later day that has rows. The line ends on the last day of the previous period. */
export function createDayBars({ scope: { type }, dates, previous }: View): readonly Bar[] {
  const side = type ?? 'expense';
  const days = addUpPeriods(cellsOfCategory.value, dates ? listDays(dates) : []);
  const amountsSoFar = accumulate(days.map((day) => day[side]));
  const previousCells = filterByCategory(previous?.cells ?? [], view.value);
  const daysBefore = previous && previousCells.length > 0 ? listDays(previous.dates) : [];
  const previousDays = addUpPeriods(previousCells, daysBefore);
  const previousAmounts = accumulate(previousDays.map((day) => day[side]));
  const today = localDay(new Date());
  const lastDay = days.findLast(({ key, count }) => key <= today || count > 0)?.key ?? '';
  return days.map((day, n) => {
    const line = previousAmounts[n];
    return {
      key: day.key,
      values: [{ side, value: day.key <= lastDay ? (amountsSoFar[n] ?? 0) : 0 }],
      line,
      figures: [
        ['Income', format.money(day.income)],
        ['Expense', format.money(day.expense)],
        [
          side === 'expense' ? 'Spent so far' : 'Received so far',
          format.money(amountsSoFar[n] ?? 0),
        ],
        ...(daysBefore.length > 0
          ? [[namePreviousPeriod(previous), line === undefined ? '' : format.money(line)] as const]
          : []),
      ],
    };
  });
}

/** Names the period that the line of a chart by day shows. */
export function namePreviousPeriod(previous: View['previous']): string {
  return previous ? format.scope(periodOf(previous.dates)) : '';
}

export function createPeriodBars(): readonly Bar[] {
  const keys = [...new Set(cells.value.map(({ period }) => period))].toSorted();
  return addUpPeriods(cellsOfCategory.value, keys).map((period) => ({
    key: period.key,
    values: [
      { side: 'income' as const, value: period.income },
      { side: 'expense' as const, value: -period.expense },
    ],
    line: period.net,
    figures: listFigures(period),
  }));
}

function listFigures({ income, expense, net }: Period) {
  return [
    ['Income', format.money(income)],
    ['Expense', format.money(expense)],
    ['Net', format.signed(net)],
  ] as const;
}
