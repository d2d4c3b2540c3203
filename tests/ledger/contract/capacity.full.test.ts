// Measures requests in DynamoDB's units, which depend neither on the machine nor on the number of rows in the ledger.
import { beforeAll, describe, expect, it, test } from 'vitest';
import {
  MAX_UNITS,
  REQUEST_UNITS,
  type RequestKind,
} from '../../../bench/ledger/costs/request-units.ts';
import {
  type Cost,
  createMeteredClient,
  type MeteredClient,
} from '../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { createSeededRandom } from '../../../cli/seeded-random.ts';
import type { RowOrder } from '../../../lib/ledger/domain/pagination.ts';
import type { TransactionChanges } from '../../../lib/ledger/domain/transaction.ts';
import type { Ledger } from '../../../lib/ledger/ledger.ts';
import { MAX_FIRST_NAMES } from '../../../lib/ledger/store/categories.ts';
import { usesDynamodbLocal } from '../../shared/support/database-engine.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { bulkLoad, bulkLoadHousehold } from '../support/bulk-loader.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';
import { createStoredCategory, createStoredTransaction } from '../support/stored-records.ts';

const LIST_LIMITS = {
  readUnits: MAX_UNITS.list.read,
  roundTrips: 3,
  firstOrLastRoundTrips: 2,
  lastToFirstRatio: 1.3,
};

const PER_PAGE = 20;
const LAST_DAY = '2026-06-30';
const GROCERIES = 7;
const FURNITURE = 14;

interface MeteredLedger {
  readonly ledger: Ledger;
  readonly client: MeteredClient;
}

const households = new Map<string, Promise<MeteredLedger>>();

/** Loads each household once. All tests share the household, even the few that write to it. */
function givenHousehold(transactions: number, years: number): Promise<MeteredLedger> {
  const name = `${transactions} over ${years}`;
  const household = households.get(name) ?? loadHousehold(transactions, years);
  households.set(name, household);
  return household;
}

async function loadHousehold(transactions: number, years: number): Promise<MeteredLedger> {
  const table = await createTestTable();
  const target = { ...table, ledgerId: 'default' };
  await bulkLoadHousehold(target, { transactions, years, lastDay: LAST_DAY, seed: 11 });
  const client = createMeteredClient(table.client);
  return { ledger: openLedger({ ...target, client, timeZone: 'UTC' }), client };
}

const RANGES = [
  {},
  { startDate: '2026-01-01' },
  { startDate: '2026-03-01', endDate: '2026-03-31' },
  { startDate: '2026-03-07', endDate: '2026-03-21' },
  { startDate: '2018-02-11', endDate: '2026-02-03' },
  { endDate: '2019-05-20' },
  { startDate: '2026-05-14', endDate: '2026-05-14' },
] as const;

const FILTERS = [undefined, 'income', 'expense'].flatMap((type) =>
  [undefined, null, GROCERIES, FURNITURE].flatMap((categoryId) =>
    RANGES.map((range) => ({ ...EVERYTHING, type, categoryId, ...range })),
  ),
) as Omit<Parameters<Ledger['transactions']['list']>[0], 'page' | 'perPage'>[];

describe.each([
  { transactions: 10_000, years: 10, units: LIST_LIMITS.readUnits },
  // The counts of 50 years are five times as large.
  { transactions: 10_000, years: 50, units: 6 },
])('a list of 20 rows out of $transactions over $years years', (household) => {
  const { transactions, years, units } = household;
  const costs: { filter: string; pages: number; first: Cost; others: Cost[]; last: Cost }[] = [];

  beforeAll(async () => {
    const { ledger, client } = await givenHousehold(transactions, years);
    const random = createSeededRandom(7);
    for (const filter of FILTERS) {
      let pages = 0;
      const read = async (page: number, order: RowOrder = '-date') => {
        const query = { ...filter, page, perPage: PER_PAGE, order };
        const { result, cost } = await client.measure(() => ledger.transactions.list(query));
        pages = result.pagination.pages;
        return cost;
      };
      const first = await read(1);
      const last = await read(Math.max(1, pages));
      const middle = Math.ceil(pages / 2) || 1;
      const others: Cost[] = [];
      for (const page of [middle, pages + 1, random.integer(1, pages || 1)]) {
        others.push(await read(page));
      }
      for (const page of [1, middle, Math.max(1, pages)]) others.push(await read(page, 'date'));
      costs.push({ filter: JSON.stringify(filter), pages, first, last, others });
    }
  });

  it(`costs at most ${units} read units for every filter and page`, () => {
    for (const { filter, first, others, last } of costs) {
      for (const { readUnits } of [first, ...others, last]) {
        expect(readUnits, filter).toBeLessThanOrEqual(units);
        expect(readUnits, filter).toBeGreaterThan(0);
      }
    }
  });

  it(`takes at most ${LIST_LIMITS.roundTrips} sequential round trips, and ${LIST_LIMITS.firstOrLastRoundTrips} for its first and last page`, () => {
    for (const { filter, first, others, last } of costs) {
      for (const { roundTrips } of [first, last]) {
        expect(roundTrips, filter).toBeLessThanOrEqual(LIST_LIMITS.firstOrLastRoundTrips);
      }
      for (const { roundTrips } of others) {
        expect(roundTrips, filter).toBeLessThanOrEqual(LIST_LIMITS.roundTrips);
      }
    }
  });

  it(`costs at most ${LIST_LIMITS.lastToFirstRatio} times as much for the last page as for the first`, () => {
    for (const { filter, first, last } of costs) {
      expect(last.readUnits / first.readUnits, filter).toBeLessThanOrEqual(
        LIST_LIMITS.lastToFirstRatio,
      );
    }
    expect(costs.filter(({ pages }) => pages > 100)).not.toEqual([]);
  });
});

test(`with many categories a list reads ${MAX_FIRST_NAMES} names, and the other names of its page`, async () => {
  const table = await createTestTable();
  const target = { ...table, ledgerId: 'default' };
  const categories = Array.from({ length: 10 * MAX_FIRST_NAMES }, (_, n) =>
    createStoredCategory(n + 1, `Category ${String(n + 1).padStart(5, '0')}`),
  );
  const last = categories.length;
  // Two rows have a category beyond the names that a list reads at once, and one row has a category among those names.
  const rows = [last, last, 1].map((categoryId, n) =>
    createStoredTransaction(n + 1, { categoryId }),
  );
  await bulkLoad(target, categories, rows);
  const client = createMeteredClient(table.client);
  const { transactions } = openLedger({ ...target, client, timeZone: 'UTC' });
  const { result, cost } = await client.measure(() =>
    transactions.list({ ...EVERYTHING, page: 1, perPage: PER_PAGE }),
  );
  expect(result.items.map(({ categoryName }) => categoryName)).toEqual([
    categories[0]?.name,
    categories[last - 1]?.name,
    categories[last - 1]?.name,
  ]);
  expect(cost.readUnits).toBeLessThanOrEqual(LIST_LIMITS.readUnits);
  expect(cost).toMatchObject({ calls: 4, roundTrips: LIST_LIMITS.firstOrLastRoundTrips });
});

test.skipIf(usesDynamodbLocal()).each([
  ['a', 12, 3],
  ['a', 255, 15],
  ['é', 255, 27],
  ['😀', 255, 52],
])(
  `names of %s, %i characters each, cost %i read units in a list`,
  async (letter, length, units) => {
    const target = { ...(await createTestTable()), ledgerId: 'household' };
    const categories = Array.from({ length: MAX_FIRST_NAMES }, (_, n) =>
      createStoredCategory(n + 1, String(n).padStart(4, '0') + letter.repeat(length - 4)),
    );
    await bulkLoad(target, categories, []);
    const client = createMeteredClient(target.client);
    const { transactions } = openLedger({ ...target, client, timeZone: 'UTC' });
    const oneDay = { startDate: '2026-01-02', endDate: '2026-01-02', page: 1, perPage: PER_PAGE };
    const { cost } = await client.measure(() => transactions.list({ ...EVERYTHING, ...oneDay }));
    const emptyDayUnits = 1;
    expect(cost.readUnits - emptyDayUnits).toBe(units);
  },
);

describe.skipIf(usesDynamodbLocal())(
  'the exact cost of a request, whatever the size of the ledger:',
  () => {
    const costs: Partial<Record<RequestKind, Cost>>[] = [];

    beforeAll(async () => {
      for (const transactions of [1_000, 10_000]) {
        costs.push(await measureRequests(await givenHousehold(transactions, 10)));
      }
    });

    it.each(Object.entries(REQUEST_UNITS))('%s, %o', (kind, units) => {
      const measured = costs.map((each) => {
        const { readUnits: read, writeUnits: write } = each[kind as RequestKind] ?? {};
        return { read, write };
      });
      expect(measured).toEqual([units, units]);
    });
  },
);

async function measureRequests({ ledger, client }: MeteredLedger) {
  const { transactions, categories, summaries } = ledger;
  const costs: Partial<Record<RequestKind, Cost>> = {};
  async function measure<Result>(kind: RequestKind, request: () => Promise<Result>) {
    const { result, cost } = await client.measure(request);
    costs[kind] = cost;
    return result;
  }
  const common = {
    description: 'Supermarket',
    amount: 25.4,
    type: 'expense',
    notes: null,
  } as const;
  const fields = { ...common, categoryId: GROCERIES, date: '2026-03-05' };
  const hundredRows = Array.from({ length: 100 }, (_, n) => ({
    fields: { ...fields, externalId: `bulk-${n}` },
  }));
  const created = await measure('create', () => transactions.create(fields));
  const id = String(created.id);
  const uncategorised = await measure('create without a category', () =>
    transactions.create({ ...fields, categoryId: null }),
  );
  await measure('create with an external id', () =>
    transactions.create({ ...fields, externalId: 'bank-1' }),
  );
  await measure('read', () => transactions.read(id));
  await measure('update of notes', () => transactions.update(created, { notes: 'Split' }));
  await measure('delete', () => transactions.remove(id));
  await measure('delete without a category', () => transactions.remove(String(uncategorised.id)));
  const bulk = await measure('bulk create of 100', () => transactions.createMany(hundredRows));
  const ids = bulk.flatMap((each) => ('value' in each ? [{ id: each.value.id }] : []));
  const changeAll = (changes: TransactionChanges) =>
    transactions.updateMany(ids.map((each) => ({ ...each, changes })));
  await measure('bulk update of 100, of their notes', () => changeAll({ notes: 'Split' }));
  await measure('bulk update of 100, to another category', () =>
    changeAll({ categoryId: FURNITURE }),
  );
  await measure('bulk delete of 100', () => transactions.removeMany(ids));
  const year = { ...EVERYTHING, startDate: '2025-01-01', endDate: '2025-12-31' };
  const tenYears = { ...EVERYTHING, startDate: '2017-01-01', endDate: '2026-12-31' };
  await measure('months of ten years', () => ledger.months.list('2017-01-01', '2026-12-31'));
  await measure('summary of a year by month', () => summaries.read({ ...year, period: 'month' }));
  await measure('summary of a year by category', () =>
    summaries.read({ ...year, grouping: 'category' }),
  );
  await measure('summary of ten years by category and month', () =>
    summaries.read({ ...tenYears, grouping: 'category', period: 'month' }),
  );
  await measure('summary of a year by category and day', () =>
    summaries.read({ ...year, grouping: 'category', period: 'day' }),
  );
  await measure('list of 30 categories', () => categories.list({ activeOnly: true }));
  await measure('create of a category', () =>
    categories.create({ name: 'Sailing', description: null, color: null, isActive: true }),
  );
  return costs;
}
