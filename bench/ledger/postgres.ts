// Compares our lists with those of PostgreSQL, with the same rows on the same machine, in turns. PostgreSQL has an index for
// every kind of filter.
import type { TransactionFilter } from '../../lib/ledger/domain/transaction.ts';
import { atMost, formatNumber, markNotJudged, type Report } from '../report.ts';
import { createHousehold, openBenchLedger } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { EVERYTHING } from './filters.ts';
import { loadListHandler } from './in-process-handler.ts';
import { assertSame, toListResult } from './list-result.ts';
import { findLastPage, PER_PAGE } from './pages.ts';
import { openPostgresListing } from './postgres-listing.ts';
import { startPostgres, whyPostgresUnavailable } from './postgres-server.ts';
import { createContender, race } from './race.ts';

const YEARS = 10;
const ROUNDS = 31;
const MAX_RATIO_TO_POSTGRES = 0.7;

const FILTERS: readonly [string, TransactionFilter][] = [
  ['all', EVERYTHING],
  ['type expense', { ...EVERYTHING, type: 'expense' }],
  ['category', { ...EVERYTHING, categoryId: 7 }],
  ['category and type', { ...EVERYTHING, categoryId: 7, type: 'expense' }],
  ['all, six years', { ...EVERYTHING, startDate: '2018-03-11', endDate: '2024-09-19' }],
  ['all, one year', { ...EVERYTHING, startDate: '2024-01-01', endDate: '2024-12-31' }],
];

interface Result {
  readonly name: string;
  readonly place: 'first' | 'middle' | 'last';
  readonly page: number;
  readonly ours: number;
  readonly handler: number;
  readonly theirs: number;
}

export async function comparePostgres(run: BenchRun): Promise<Report> {
  const skipped = await whyPostgresUnavailable();
  if (skipped) return { bars: [], tables: [], skipped };
  const rows = run.quick ? 100_000 : 1_000_000;
  const contenders = await openContenders(run, rows);
  const results: Result[] = [];
  run.progress.start('listing in turns', FILTERS.length * 3);
  for (const [name, filter] of FILTERS) {
    for (const place of ['first', 'middle', 'last'] as const) {
      results.push(await compareLists(contenders, { name, filter, place }));
      run.progress.step();
    }
  }
  return createReport(
    run,
    results,
    `${formatNumber(rows)} transactions over ${YEARS} years, pages of ${PER_PAGE}, PostgreSQL ${contenders.theirs.version}`,
  );
}

type Contenders = Awaited<ReturnType<typeof openContenders>>;

async function openContenders(run: BenchRun, rows: number) {
  const { ledger, address } = await openBenchLedger(run, createHousehold(rows, YEARS), rows);
  const server = await startPostgres(run);
  run.progress.start(`loading PostgreSQL with ${formatNumber(rows)}`, rows);
  const theirs = await openPostgresListing(run, server, createHousehold(rows, YEARS));
  return { ledger, handler: await loadListHandler(address), theirs };
}

async function compareLists(
  { ledger, handler, theirs }: Contenders,
  { name, filter, place }: { name: string; filter: TransactionFilter; place: Result['place'] },
): Promise<Result> {
  const { pagination } = await ledger.transactions.list({ ...filter, page: 1, perPage: PER_PAGE });
  const last = findLastPage(pagination.total);
  const page = { first: 1, middle: Math.ceil(last / 2), last }[place];
  const contenders = [
    async () =>
      toListResult(await ledger.transactions.list({ ...filter, page, perPage: PER_PAGE })),
    () => handler(filter, page),
    () => theirs.readPage(filter, (page - 1) * PER_PAGE, PER_PAGE),
  ] as const;
  const [our, handled, their] = await Promise.all(contenders.map((list) => list()));
  if (!our || !handled || !their) throw new Error('A contender did not respond');
  assertSame(`${name}, ${place}: handler`, handled, our);
  assertSame(`${name}, ${place}: PostgreSQL`, their, our);
  const [ours = Number.NaN, inHandler = Number.NaN, inPostgres = Number.NaN] = await race(
    contenders.map(createContender),
    ROUNDS,
  );
  return { name, place, page, ours, handler: inHandler, theirs: inPostgres };
}

function createReport(run: BenchRun, results: readonly Result[], title: string): Report {
  const laterPages = results.filter(({ name, place }) => name === 'all' && place !== 'first');
  const bars = laterPages.map(({ place, ours, theirs }) =>
    atMost(
      `p50 of the ${place} page of all, against PostgreSQL`,
      ours / theirs,
      MAX_RATIO_TO_POSTGRES,
      'x',
    ),
  );
  return {
    bars: run.quick ? bars.map(markNotJudged) : bars,
    tables: [
      {
        title: `${title}: p50 of ${ROUNDS} lists each, taking turns.`,
        columns: [
          'filter, page',
          'page number',
          'ours, ms',
          'whole function, ms',
          'PostgreSQL, ms',
          'ours against PostgreSQL',
          'whole function against PostgreSQL',
        ],
        rows: results.map(({ name, place, page, ours, handler, theirs }) => [
          `${name}, ${place}`,
          page,
          ours,
          handler,
          theirs,
          `${formatNumber(ours / theirs)}x`,
          `${formatNumber(handler / theirs)}x`,
        ]),
      },
    ],
  };
}
