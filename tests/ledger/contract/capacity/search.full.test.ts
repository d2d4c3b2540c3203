// What a search costs in DynamoDB's units: as much as the rows that it reads, and no more queries than they need.
import { expect, it } from 'vitest';
import { createMeteredClient } from '../../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { MAX_SEARCHED_ROWS, type SearchQuery } from '../../../../lib/ledger/domain/search.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { MOST_UNITS } from '../../support/request-units.ts';

const MOST_READ = MOST_UNITS.search.read;
const EVERYTHING: SearchQuery = {
  ...{ type: undefined, startDate: undefined, endDate: undefined },
  ...{ minAmount: -1e9, order: '-date', page: 1, perPage: 20 },
};

it('costs what the rows cost that it reads', { timeout: 120_000 }, async () => {
  const table = { ...(await createTestTable()), ledgerId: 'household' };
  const household = { transactions: MAX_SEARCHED_ROWS, years: 10, lastDay: '2026-06-30', seed: 11 };
  await bulkLoadHousehold(table, household);
  const client = createMeteredClient(table.client);
  const { searches } = openLedger({ ...table, client, timeZone: 'UTC' });
  const measure = (query: Partial<SearchQuery>) =>
    client.measure(() => searches.find({ ...EVERYTHING, ...query }));

  const all = await measure({});
  expect(all.result.totals.count).toBe(MAX_SEARCHED_ROWS);
  expect(all.cost.readUnits).toBeLessThanOrEqual(MOST_READ);
  expect(all.cost.calls).toBeLessThan(MAX_SEARCHED_ROWS / 500);
  // A condition on texts or amounts changes what is shown, not what is read.
  const found = await measure({ text: 'market' });
  expect(found.cost).toEqual(all.cost);
  expect(found.result.totals.count).toBeLessThan(MAX_SEARCHED_ROWS / 2);
  // Dates and categories leave fewer rows to read.
  const year = await measure({ startDate: '2025-01-01', endDate: '2025-12-31' });
  expect(year.cost.readUnits / all.cost.readUnits).toBeLessThan(1 / 8);
  const categories = await measure({ categoryIds: [1, 2, 3] });
  expect(categories.cost.readUnits / all.cost.readUnits).toBeLessThan(1 / 8);
});
