// Every kind of filter that a list accepts: six combinations of type and category, each with all dates and with four date ranges.
import type { TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import { LAST_DAY } from './bench-ledger.ts';

export interface NamedFilter {
  readonly combination: string;
  readonly dates: string;
  readonly filter: TransactionFilter;
}

export const EVERYTHING: TransactionFilter = {
  type: undefined,
  categoryId: undefined,
  startDate: undefined,
  endDate: undefined,
};

/** Id of the category with the most rows, and id of a category with few rows. */
const GROCERIES = 7;
const DOCTOR = 17;

const COMBINATIONS: readonly [string, Pick<TransactionFilter, 'type' | 'categoryId'>][] = [
  ['all', { type: undefined, categoryId: undefined }],
  ['type expense', { type: 'expense', categoryId: undefined }],
  ['type income', { type: 'income', categoryId: undefined }],
  ['large category', { type: undefined, categoryId: GROCERIES }],
  ['small category', { type: undefined, categoryId: DOCTOR }],
  ['category and type', { type: 'expense', categoryId: GROCERIES }],
];

/** @param years number of years with transactions */
export function createNamedFilters(years: number): NamedFilter[] {
  const last = Number(LAST_DAY.slice(0, 4));
  const ranges = [
    { dates: 'all', startDate: undefined, endDate: undefined },
    {
      dates: '60 % of the years, months cut',
      startDate: `${last - Math.round(years * 0.8)}-03-11`,
      endDate: `${last - Math.round(years * 0.2)}-09-19`,
    },
    { dates: 'one calendar year', startDate: `${last - 2}-01-01`, endDate: `${last - 2}-12-31` },
    { dates: '10 weeks', startDate: `${last - 1}-10-20`, endDate: `${last}-01-02` },
    { dates: '3 weeks of one month', startDate: `${last - 1}-05-04`, endDate: `${last - 1}-05-24` },
  ];
  return COMBINATIONS.flatMap(([combination, combinationFilter]) =>
    ranges.map(({ dates, ...range }) => ({
      combination,
      dates,
      filter: { ...combinationFilter, ...range },
    })),
  );
}
