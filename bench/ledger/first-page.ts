// Compares two ways to read the first page of a list: the rows in parallel with the counts, or after the counts.
import {
  countRowsByDay,
  countRowsByMonth,
  createDateRange,
  sum,
} from '../../lib/ledger/domain/day-histogram.ts';
import { createCategoryStore, MAX_FIRST_NAMES } from '../../lib/ledger/store/categories.ts';
import { createDayCounts } from '../../lib/ledger/store/day-counts.ts';
import { createKeys, parseDateKey, toLastKeyOnDay } from '../../lib/ledger/store/keys.ts';
import { createDatabase } from '../../lib/shared/database.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/shared/retry.ts';
import { atMost, formatNumber, type Report } from '../report.ts';
import { type BenchLedger, createHousehold, openBenchLedger } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { EVERYTHING } from './filters.ts';
import { assertSame, type ListResult, toListResult } from './list-result.ts';
import type { MeteredClient } from './metered-client.ts';
import { PER_PAGE } from './pages.ts';
import { createContender, race } from './race.ts';

const YEARS = 10;
const ROUNDS = 200;
const MAX_ROUND_TRIPS = 2;
const QUERY = { ...EVERYTHING, page: 1, perPage: PER_PAGE };

export async function compareFirstPage(run: BenchRun): Promise<Report> {
  const transactions = run.quick ? 10_000 : 100_000;
  const bench = await openBenchLedger(run, createHousehold(transactions, YEARS), transactions);
  const { meter, metered, ledger, client } = bench;
  const parallel = await meter.measure(() => metered.transactions.list(QUERY));
  const sequential = await meter.measure(() => readSequentially(bench, meter));
  assertSame('first page', toListResult(parallel.result), sequential.result);
  const [parallelTime = Number.NaN, sequentialTime = Number.NaN] = await race(
    [
      createContender(() => ledger.transactions.list(QUERY)),
      createContender(() => readSequentially(bench, client)),
    ],
    ROUNDS,
  );
  const createRow = (name: string, { cost }: typeof parallel | typeof sequential, time: number) => [
    name,
    cost.roundTrips,
    cost.calls,
    cost.readUnits,
    `${formatNumber(time / sequentialTime)}x`,
  ];
  return {
    bars: [
      atMost('sequential round trips', parallel.cost.roundTrips, MAX_ROUND_TRIPS, ''),
      atMost('read units', parallel.cost.readUnits, sequential.cost.readUnits, ''),
      atMost('time against the sequential way', parallelTime / sequentialTime, 1, 'x'),
    ],
    tables: [
      {
        title: `The first page of ${formatNumber(transactions)} transactions, in turns:`,
        columns: ['rows are read', 'sequential round trips', 'calls', 'read units', 'time'],
        rows: [
          createRow('beside the counts', parallel, parallelTime),
          createRow('after the counts', sequential, sequentialTime),
        ],
      },
    ],
  };
}

/** Reads the counts, then the newest day, then the rows from that day on. The service reads later pages in this way. */
async function readSequentially(
  { address }: BenchLedger,
  client: Pick<MeteredClient, 'send'>,
): Promise<ListResult> {
  const { tableName, ledgerId } = address;
  const keys = createKeys(ledgerId);
  const database = createDatabase({ client, tableName, retryPolicy: DEFAULT_RETRY_POLICY });
  const dayCounts = createDayCounts(database, keys);
  const range = createDateRange();
  const [counts] = await Promise.all([
    dayCounts.readRange(range),
    createCategoryStore({ database, keys }).readNames(MAX_FIRST_NAMES),
  ]);
  const months = countRowsByMonth(range, counts);
  const [month = ''] = months.find(([, count]) => count > 0) ?? [];
  const days = countRowsByDay(range, await dayCounts.readMonth(month));
  const [day = ''] = days.find(([, count]) => count > 0) ?? [];
  const between = [range.start, toLastKeyOnDay(day)] as const;
  const partition = keys.partition({ type: undefined, categoryId: undefined });
  const rows = { ...partition, sortKey: 'date_key', between, descending: true };
  const items = await database.query(rows, PER_PAGE);
  return {
    total: sum(months.map(([, count]) => count)),
    ids: items.map(({ date_key }) => parseDateKey(String(date_key)).id),
  };
}
