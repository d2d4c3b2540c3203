// Measures the worst case, a hundred thousand rows on one day: the counts do not show where a page starts within a day.

import type { Transaction } from '../../lib/ledger/domain/transaction.ts';
import { formatNumber, type Report } from '../report.ts';
import {
  type BenchLedger,
  createHousehold,
  LAST_DAY,
  type LedgerContents,
  openBenchLedger,
} from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { EVERYTHING } from './filters.ts';
import { assertSame, toListResult } from './list-result.ts';
import { createNaiveListing } from './naive-listing.ts';
import { PER_PAGE } from './pages.ts';
import { createContender, race } from './race.ts';

/** Positions of the measured pages: shares of the day's rows that come before the page. */
const POSITIONS = [0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1];
const ROUNDS = 5;

export async function measureOneDay(run: BenchRun): Promise<Report> {
  const rows = run.quick ? 10_000 : 100_000;
  const ledger = await openBenchLedger(run, createOneDayLedger(rows), rows);
  const naive = createNaiveListing(ledger.client, ledger.address);
  const ids = await naive.readAllIds(EVERYTHING);
  run.progress.start('listing one day', POSITIONS.length);
  const measured: (string | number)[][] = [];
  for (const position of POSITIONS) {
    const page = 1 + Math.round(position * (rows / PER_PAGE - 1));
    measured.push(await measurePage(ledger, ids, page));
    run.progress.step();
  }
  return {
    bars: [],
    tables: [
      {
        title: `${formatNumber(rows)} transactions on one day, all types and categories, pages of ${PER_PAGE}:`,
        columns: ['rows before the page', 'read units', 'calls', 'sequential round trips', 'ms'],
        rows: measured,
      },
    ],
  };
}

async function measurePage(
  { ledger, metered, meter }: BenchLedger,
  ids: readonly number[],
  page: number,
): Promise<(string | number)[]> {
  const query = { ...EVERYTHING, page, perPage: PER_PAGE };
  const { result, cost } = await meter.measure(() => metered.transactions.list(query));
  const offset = (page - 1) * PER_PAGE;
  assertSame(`one day, page ${page}`, toListResult(result), {
    total: ids.length,
    ids: ids.slice(offset, offset + PER_PAGE),
  });
  const [time = Number.NaN] = await race(
    [createContender(() => ledger.transactions.list(query))],
    ROUNDS,
  );
  return [offset, cost.readUnits, cost.calls, cost.roundTrips, time];
}

/** Moves all rows of the household to its last day, and keeps their order. */
function createOneDayLedger(rows: number): LedgerContents {
  const { categories, transactions } = createHousehold(rows, 1);
  return { categories, transactions: moveToLastDay(transactions) };
}

function* moveToLastDay(transactions: Iterable<Transaction>): Generator<Transaction> {
  const midnight = Date.parse(LAST_DAY);
  for (const transaction of transactions) {
    const at = midnight + transaction.id * 100;
    yield { ...transaction, date: LAST_DAY, createdAt: at, updatedAt: at };
  }
}
