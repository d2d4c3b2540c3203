// Cost of an export in DynamoDB's units: each part costs what it reads, which is about 1 MB.
import { expect, it } from 'vitest';
import { MAX_UNITS } from '../../../../bench/ledger/costs/request-units.ts';
import { type Cost, createMeteredClient } from '../../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { toDate, toMonth } from '../../../../lib/ledger/domain/calendar-date.ts';
import type { ListPosition } from '../../../../lib/ledger/domain/pagination.ts';
import type {
  ExportPart,
  TransactionWithCategoryName,
} from '../../../../lib/ledger/domain/transaction.ts';
import { toExportReply } from '../../../../lib/ledger/http/transaction-export.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { type BulkTarget, bulkLoad, bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { EVERYTHING } from '../../support/ledger-contents.ts';
import { createStoredTransaction } from '../../support/stored-records.ts';

const MAX_READ = MAX_UNITS['part of an export'].read;
const TRANSACTIONS = 5_000;
/** Minimum number of ordinary rows in a part, according to docs/ledger/api.md */
const MIN_ROWS = 2_000;

/** Maximum number of rows in a part with cached months, according to docs/ledger/api.md */
const MAX_ROWS = 4_000;

interface MeasuredPart {
  readonly result: ExportPart<TransactionWithCategoryName>;
  readonly cost: Cost;
}

/** Loads rows into a ledger. @returns a function that exports it and keeps its cache between calls */
async function open(load: (target: BulkTarget) => Promise<unknown>) {
  const table = { ...(await createTestTable()), ledgerId: 'household' };
  await load(table);
  const client = createMeteredClient(table.client);
  const { transactions } = openLedger({ ...table, client, timeZone: 'UTC' });
  return async function* readParts(): AsyncGenerator<MeasuredPart> {
    let after: ListPosition | undefined;
    do {
      const query = { ...EVERYTHING, after };
      const part = await client.measure(() => transactions.readExportPart(query));
      yield part;
      after = part.result.next;
    } while (after);
  };
}

it(`a part of an export costs at most ${MAX_READ} read units, and its queries are sent together`, async () => {
  const household = { transactions: TRANSACTIONS, years: 10, lastDay: '2026-06-30', seed: 11 };
  const readParts = await open((target) => bulkLoadHousehold(target, household));
  const rows: number[] = [];
  for await (const { result, cost } of readParts()) {
    expect(cost.readUnits).toBeLessThanOrEqual(MAX_READ);
    // First the counts and the names are read, and then all queries of the part at once.
    expect(cost.roundTrips).toBe(2);
    // The whole part fits into one response.
    const { headers } = toExportReply(result, { query: {}, isJson: false });
    expect(headers?.link === undefined).toBe(result.next === undefined);
    const { body } = toExportReply(result, { query: {}, isJson: true });
    expect(body.next === null).toBe(result.next === undefined);
    rows.push(result.items.length);
  }

  // The second export reads only the counts, the names, and the few months in which a query of the first one ended.
  const repeatedRows: number[] = [];
  let readUnits = 0;
  for await (const { result, cost } of readParts()) {
    readUnits += cost.readUnits;
    repeatedRows.push(result.items.length);
  }
  expect(repeatedRows.reduce((sum, count) => sum + count)).toBe(TRANSACTIONS);
  expect(Math.max(...repeatedRows)).toBeLessThanOrEqual(MAX_ROWS);
  expect(readUnits).toBeLessThan(MAX_READ / 4);
  expect(rows.reduce((sum, count) => sum + count)).toBe(TRANSACTIONS);
  expect(
    rows.slice(0, -1).every((count) => count >= MIN_ROWS),
    String(rows),
  ).toBe(true);
});

it('rows of a sparse ledger are read in one step, whether or not their months are cached', async () => {
  const dates = Array.from({ length: 120 }, (_, n) => {
    const month = toMonth(String(2000 + Math.floor(n / 6)), (n % 6) * 2 + 1);
    return toDate(month, 15);
  });
  const rows = dates.map((date, n) => createStoredTransaction(n + 1, { date }));
  const readParts = await open((target) => bulkLoad(target, [], rows));
  const [first, ...otherParts] = await Array.fromAsync(readParts());
  expect(otherParts).toEqual([]);
  expect(first).toMatchObject({ cost: { calls: 3, roundTrips: 2 } });
  for (const _ of [1, 2]) {
    const [repeated, ...rest] = await Array.fromAsync(readParts());
    expect(rest).toEqual([]);
    expect(repeated).toMatchObject({ result: first?.result, cost: { calls: 3, roundTrips: 2 } });
    expect(repeated?.cost.readUnits).toBeLessThanOrEqual(first?.cost.readUnits ?? 0);
  }
});

it('a second export of a month that is larger than a part reads the cache', async () => {
  const sizes = { '2026-02': 500, '2026-03': MAX_ROWS + 100, '2026-04': 10 };
  const dates = Object.entries(sizes).flatMap(([month, size]) =>
    Array.from({ length: size }, (_, n) => toDate(month, 1 + Math.floor((n * 28) / size))),
  );
  const rows = dates.map((date, n) => createStoredTransaction(n + 1, { date }));
  const readParts = await open((target) => bulkLoad(target, [], rows));
  for (const _ of [1, 2, 3]) {
    const ids: number[] = [];
    for await (const { result, cost } of readParts()) {
      expect(result.items.length).toBeGreaterThan(0);
      expect(result.items.length).toBeLessThanOrEqual(MAX_ROWS);
      expect(cost.readUnits).toBeLessThanOrEqual(MAX_READ);
      ids.push(...result.items.map(({ id }) => id));
    }
    expect(ids).toEqual(rows.map(({ id }) => id));
  }
});
