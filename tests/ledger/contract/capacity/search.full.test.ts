// Cost of a search in DynamoDB's units: a search costs as much as the rows that it reads, in as few queries as possible.
import { describe, expect, it } from 'vitest';
import {
  MAX_SEARCHING_LIST_UNITS,
  MAX_UNITS,
} from '../../../../bench/ledger/costs/request-units.ts';
import { createMeteredClient } from '../../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { MAX_SEARCHED_ROWS, type SearchQuery } from '../../../../lib/ledger/domain/search.ts';
import {
  MAX_FILTERED_ROWS,
  type TransactionQuery,
} from '../../../../lib/ledger/domain/transaction.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { type BulkTarget, bulkLoad, bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { EVERYTHING as EVERYTHING_LISTED } from '../../support/ledger-contents.ts';
import { createStoredTransaction } from '../../support/stored-records.ts';

const MAX_READ = MAX_UNITS.search.read;
const SEARCHING_LIST = MAX_UNITS['list with `q` or `import_id`'].read;
const EVERYTHING: SearchQuery = {
  ...{ type: undefined, startDate: undefined, endDate: undefined },
  ...{ minAmount: -1e9, order: '-date', page: 1, perPage: 20 },
};

/** A fifth of the rows of the largest search is enough, because units grow in proportion to rows. */
const TRANSACTIONS = MAX_SEARCHED_ROWS / 5;

it('a search costs as much as the rows that it reads', async () => {
  const table = { ...(await createTestTable()), ledgerId: 'household' };
  const household = { transactions: TRANSACTIONS, years: 10, lastDay: '2026-06-30', seed: 11 };
  await bulkLoadHousehold(table, household);
  const client = createMeteredClient(table.client);
  const open = () => openLedger({ ...table, client, timeZone: 'UTC' });
  const measure = (query: Partial<SearchQuery>, { searches } = open()) =>
    client.measure(() => searches.find({ ...EVERYTHING, ...query }));

  const all = await measure({});
  expect(all.result.totals.count).toBe(TRANSACTIONS);
  const maxUnits = (all.cost.readUnits * MAX_SEARCHED_ROWS) / TRANSACTIONS;
  expect(maxUnits).toBeLessThanOrEqual(MAX_READ);
  expect(maxUnits).toBeGreaterThan(0.9 * MAX_READ);
  expect(all.cost.calls).toBeLessThan(TRANSACTIONS / 500);
  // A condition on texts or amounts changes what is shown, not what is read.
  const matching = await measure({ text: 'market' });
  const { readUnits, calls } = all.cost;
  expect(matching.cost).toMatchObject({ readUnits, calls });
  expect(matching.result.totals.count).toBeLessThan(TRANSACTIONS / 2);
  // Filters by date or category reduce the rows to read.
  const year = await measure({ startDate: '2025-01-01', endDate: '2025-12-31' });
  expect(year.cost.readUnits / all.cost.readUnits).toBeLessThan(1 / 8);
  const categories = await measure({ categoryIds: [1, 2, 3] });
  expect(categories.cost.readUnits / all.cost.readUnits).toBeLessThan(1 / 8);
  // Cached months are not read again while their digests are current. Only the counts are read, and days outside whole months.
  const cached = open();
  expect((await measure({ text: 'market' }, cached)).cost).toMatchObject({ readUnits, calls });
  const repeated = await measure({ text: 'market' }, cached);
  expect(repeated.result).toEqual(matching.result);
  expect(repeated.cost.readUnits).toBeLessThanOrEqual(5);
});

describe('a list with q or import_id, which reads every row in its dates,', () => {
  const RANGE = { startDate: '2016-01-01', endDate: '2026-12-31' };
  const QUERY = { ...EVERYTHING_LISTED, ...RANGE, page: 1, perPage: 20 };

  async function measure(load: (table: BulkTarget) => Promise<unknown>) {
    const table = { ...(await createTestTable()), ledgerId: 'household' };
    await load(table);
    const client = createMeteredClient(table.client);
    // Each list opens the ledger with an empty cache.
    const list = (query: object) => {
      const { transactions } = openLedger({ ...table, client, timeZone: 'UTC' });
      return client.measure(() => transactions.list({ ...QUERY, ...query } as TransactionQuery));
    };
    return [await list({ search: 'x' }), await list({ importId: 'x' })].map(
      ({ cost }) => cost.readUnits,
    );
  }

  it("costs what is documented in a household's ledger", async () => {
    const household = {
      transactions: MAX_FILTERED_ROWS,
      years: 10,
      lastDay: '2026-06-30',
      seed: 11,
    };
    for (const units of await measure((table) => bulkLoadHousehold(table, household))) {
      expect(units).toBeLessThanOrEqual(SEARCHING_LIST);
      expect(units).toBeGreaterThan(0.9 * SEARCHING_LIST);
    }
  });

  it('costs what is documented if every text has its maximum length', async () => {
    const texts = { description: 'd'.repeat(1_000), notes: 'n'.repeat(5_000) };
    const length = MAX_FILTERED_ROWS / 5;
    const rows = Array.from({ length }, (_, n) => createStoredTransaction(n + 1, texts));
    for (const units of await measure((table) => bulkLoad(table, [], rows))) {
      const maxUnits = (units * MAX_FILTERED_ROWS) / length;
      expect(maxUnits).toBeLessThanOrEqual(MAX_SEARCHING_LIST_UNITS);
      expect(maxUnits).toBeGreaterThan(0.9 * MAX_SEARCHING_LIST_UNITS);
    }
  });
});
