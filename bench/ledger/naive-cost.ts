// Compares the cost of a page with that of a naive read. Without stored counts, the naive read counts all rows, and reads all
// rows up to the end of the page.
import type { TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import { atLeast, formatNumber, markNotJudged, type Report } from '../report.ts';
import { type BenchLedger, createHousehold, openBenchLedger } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { EVERYTHING } from './filters.ts';
import { assertSame, toListResult } from './list-result.ts';
import { createNaiveListing } from './naive-listing.ts';
import { findLastPage, PER_PAGE } from './pages.ts';
import { createContender, race } from './race.ts';

const YEARS = 10;
const MIN_TIMES_CHEAPER = 1_000;
const ROUNDS = 11;

const FILTERS: readonly [string, TransactionFilter][] = [
  ['all', EVERYTHING],
  ['type expense', { ...EVERYTHING, type: 'expense' }],
  ['category', { ...EVERYTHING, categoryId: 7 }],
  [
    'category and five years',
    { ...EVERYTHING, categoryId: 7, startDate: '2018-03-11', endDate: '2023-03-10' },
  ],
];

export async function measureNaiveCost(run: BenchRun): Promise<Report> {
  const transactions = run.quick ? 10_000 : 100_000;
  const ledger = await openBenchLedger(run, createHousehold(transactions, YEARS), transactions);
  const comparisons: Comparison[] = [];
  run.progress.start('reading up to the page', FILTERS.length * 3);
  for (const [name, filter] of FILTERS) {
    const { pagination } = await ledger.ledger.transactions.list({
      ...filter,
      page: 1,
      perPage: PER_PAGE,
    });
    const last = findLastPage(pagination.total);
    for (const [place, page] of [
      ['first', 1],
      ['middle', Math.ceil(last / 2)],
      ['last', last],
    ] as const) {
      comparisons.push(await compare(ledger, `${name}, ${place}`, filter, page));
      run.progress.step();
    }
  }
  const lastPageOfAll = comparisons.find(({ name }) => name === 'all, last');
  const bar = atLeast(
    `read units of the naive read of the last page of ${formatNumber(transactions)}, against ours`,
    lastPageOfAll ? lastPageOfAll.naiveUnits / lastPageOfAll.ourUnits : Number.NaN,
    MIN_TIMES_CHEAPER,
    'x',
  );
  return {
    bars: [run.quick ? markNotJudged(bar) : bar],
    tables: [
      {
        title: `${formatNumber(transactions)} transactions over ${YEARS} years, pages of ${PER_PAGE}; the naive read fetches only the keys of rows, and no names of categories.`,
        columns: [
          'filter, page',
          'page number',
          'read units: ours',
          'naive',
          'cheaper by',
          'calls: ours',
          'naive',
          'time: naive against ours',
        ],
        rows: comparisons.map((each) => [
          each.name,
          each.page,
          each.ourUnits,
          each.naiveUnits,
          `${formatNumber(each.naiveUnits / each.ourUnits)}x`,
          each.ourCalls,
          each.naiveCalls,
          `${formatNumber(each.timeRatio)}x`,
        ]),
      },
    ],
  };
}

type Comparison = Awaited<ReturnType<typeof compare>>;

async function compare(
  { metered, ledger, meter, address }: BenchLedger,
  name: string,
  filter: TransactionFilter,
  page: number,
) {
  const query = { ...filter, page, perPage: PER_PAGE };
  const offset = (page - 1) * PER_PAGE;
  const ours = await meter.measure(() => metered.transactions.list(query));
  const naiveListing = createNaiveListing(meter, address);
  // One run of the naive read is enough, because it takes seconds, hundreds of times as long as ours.
  const started = performance.now();
  const naive = await meter.measure(() => naiveListing.readPage(filter, offset, PER_PAGE));
  const naiveTime = performance.now() - started;
  assertSame(name, toListResult(ours.result), naive.result);
  const list = createContender(() => ledger.transactions.list(query));
  const [ourTime = Number.NaN] = await race([list], ROUNDS);
  return {
    name,
    page,
    ourUnits: ours.cost.readUnits,
    ourCalls: ours.cost.calls,
    naiveUnits: naive.cost.readUnits,
    naiveCalls: naive.cost.calls,
    timeRatio: naiveTime / ourTime,
  };
}
