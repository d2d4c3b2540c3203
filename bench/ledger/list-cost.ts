// Measures the cost of lists with every kind of filter and of many of their pages, in ledgers of ten years and of fifty.
import { createSeededRandom } from '../../cli/seeded-random.ts';
import { atMost, type Bar, formatNumber, type Report, type Table } from '../report.ts';
import { mean } from '../statistics.ts';
import { type BenchLedger, createHousehold, openBenchLedger } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { createNamedFilters, type NamedFilter } from './filters.ts';
import { assertSame, toListResult } from './list-result.ts';
import type { Cost } from './metered-client.ts';
import { createNaiveListing } from './naive-listing.ts';
import { findLastPage, PER_PAGE, selectPages } from './pages.ts';
import { createContender, race } from './race.ts';

/** A list reads the counts of every year in its range. Forty more years cost one more read unit. */
const SPANS = [
  { years: 10, maxReadUnits: 5 },
  { years: 50, maxReadUnits: 6 },
];
const MAX_ROUND_TRIPS = 3;
const MAX_LAST_TO_FIRST = 1.3;
const ROUNDS = 60;

interface MeasuredFilter extends NamedFilter {
  readonly total: number;
  readonly costs: readonly Cost[];
  /** Read units of the last page, divided by those of the first. */
  readonly unitsRatio: number;
  /** Time of the last page, divided by that of the first. */
  readonly timeRatio: number;
}

export async function measureListCost(run: BenchRun): Promise<Report> {
  const transactions = run.quick ? 10_000 : 100_000;
  const bars: Bar[] = [];
  const tables: Table[] = [];
  for (const { years, maxReadUnits } of SPANS) {
    const span = `${formatNumber(transactions)} transactions over ${years} years`;
    const ledger = await openBenchLedger(run, createHousehold(transactions, years), transactions);
    const filters = createNamedFilters(years);
    run.progress.start(`listing ${span}`, filters.length);
    const measured: MeasuredFilter[] = [];
    for (const filter of filters) {
      measured.push(await measureFilter(ledger, filter));
      run.progress.step();
    }
    bars.push(...createBars(span, maxReadUnits, measured));
    tables.push(createTable(span, measured));
  }
  return { bars, tables };
}

async function measureFilter(
  { metered, meter, ledger, client, address }: BenchLedger,
  namedFilter: NamedFilter,
): Promise<MeasuredFilter> {
  const ids = await createNaiveListing(client, address).readAllIds(namedFilter.filter);
  const pages = selectPages(ids.length, createSeededRandom(ids.length));
  const costs = new Map<number, Cost>();
  for (const page of pages) {
    const query = { ...namedFilter.filter, page, perPage: PER_PAGE };
    const { result, cost } = await meter.measure(() => metered.transactions.list(query));
    const expected = ids.slice((page - 1) * PER_PAGE, page * PER_PAGE);
    assertSame(
      `${namedFilter.combination}, ${namedFilter.dates}, page ${page}`,
      toListResult(result),
      {
        total: ids.length,
        ids: expected,
      },
    );
    costs.set(page, cost);
  }
  const last = findLastPage(ids.length);
  const listPage = (page: number) =>
    createContender(() =>
      ledger.transactions.list({ ...namedFilter.filter, page, perPage: PER_PAGE }),
    );
  const [firstTime = Number.NaN, lastTime = Number.NaN] = await race(
    [listPage(1), listPage(last)],
    ROUNDS,
  );
  return {
    ...namedFilter,
    total: ids.length,
    costs: [...costs.values()],
    unitsRatio: readUnits(costs.get(last)) / readUnits(costs.get(1)),
    timeRatio: lastTime / firstTime,
  };
}

function readUnits(cost: Cost | undefined): number {
  return cost?.readUnits ?? Number.NaN;
}

function createBars(
  span: string,
  maxReadUnits: number,
  measured: readonly MeasuredFilter[],
): Bar[] {
  const costs = measured.flatMap((result) => result.costs);
  const findMax = (figure: (cost: Cost) => number) => Math.max(...costs.map(figure));
  const overAllDates = measured.filter(({ filter }) => filter.startDate === undefined);
  return [
    atMost(
      `${span}: read units of any page of any filter, names included`,
      findMax((cost) => cost.readUnits),
      maxReadUnits,
      '',
    ),
    atMost(
      `${span}: sequential round trips`,
      findMax((cost) => cost.roundTrips),
      MAX_ROUND_TRIPS,
      '',
    ),
    atMost(
      `${span}: read units of the last page against the first`,
      Math.max(...measured.map((result) => result.unitsRatio)),
      MAX_LAST_TO_FIRST,
      'x',
    ),
    atMost(
      `${span}: time of the last page against the first`,
      Math.max(...overAllDates.map((result) => result.timeRatio)),
      MAX_LAST_TO_FIRST,
      'x',
    ),
  ];
}

function createTable(span: string, measured: readonly MeasuredFilter[]): Table {
  return {
    title: `${span}, 30 categories, pages of ${PER_PAGE}: the first, second, middle and last page and others at random.`,
    columns: [
      'filter',
      'dates',
      'rows',
      'read units: mean',
      'most',
      'calls',
      'sequential round trips',
      'last against first: units',
      'time',
    ],
    rows: measured.map(({ combination, dates, total, costs, unitsRatio, timeRatio }) => [
      combination,
      dates,
      total,
      mean(costs.map((cost) => cost.readUnits)),
      Math.max(...costs.map((cost) => cost.readUnits)),
      Math.max(...costs.map((cost) => cost.calls)),
      Math.max(...costs.map((cost) => cost.roundTrips)),
      unitsRatio,
      timeRatio,
    ]),
  };
}
