// Many rows on one day: a page is read from the nearer end of the day, and the rows before it are counted, not fetched.
import { beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { paginate, takePage } from '../../../lib/ledger/domain/pagination.ts';
import type {
  TransactionQuery,
  TransactionWithCategoryName,
} from '../../../lib/ledger/domain/transaction.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { bulkLoad } from '../support/bulk-loader.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';
import { createStoredTransaction } from '../support/stored-records.ts';

const { client, tableName } = await createTestTable();

const CROWDED_DAY = '2024-02-15';
/** 460 rows on a day are enough to have more than 200 on either side of its middle. */
const ROWS_BY_DAY = { '2024-02-16': 5, [CROWDED_DAY]: 460, '2024-02-14': 1, '2024-01-31': 8 };

/** Queries of the index, in order */
const queries: string[] = [];
const observedClient = interpose(client, (name, input) => {
  if (name !== 'QueryCommand' || !('IndexName' in input) || input.IndexName === undefined) return;
  const { ScanIndexForward, Select } = input as { ScanIndexForward?: boolean; Select?: string };
  const direction = ScanIndexForward ? 'oldest first' : 'newest first';
  queries.push(`${Select === 'COUNT' ? 'count' : 'fetch'} ${direction}`);
});
const target = { client, tableName, ledgerId: 'test' };
const { transactions } = openLedger({ ...target, client: observedClient, timeZone: 'UTC' });

const dates = Object.entries(ROWS_BY_DAY).flatMap(([date, count]) =>
  Array<string>(count).fill(date),
);
// Types alternate, so that a filter by type has 230 rows on the day.
const model: readonly TransactionWithCategoryName[] = dates.map((date, position) => {
  const type = position % 2 === 0 ? 'income' : 'expense';
  const fields = { date, type, externalId: null, importId: null } as const;
  return { ...createStoredTransaction(position + 1, fields), categoryName: undefined };
});

beforeAll(() => bulkLoad(target, [], model));

const FILTERS = [
  ['no filter', EVERYTHING],
  ['one type', { ...EVERYTHING, type: 'expense' }],
  ['the day alone', { ...EVERYTHING, startDate: CROWDED_DAY, endDate: CROWDED_DAY }],
  ['up to the day', { ...EVERYTHING, endDate: CROWDED_DAY }],
  ['from the day on', { ...EVERYTHING, startDate: CROWDED_DAY }],
  ['from the day on, one type', { ...EVERYTHING, startDate: CROWDED_DAY, type: 'income' }],
] as const;

/** Computes the list that a query must return. All rows are created at one instant, so the order is by date, then by id. */
function expectedList(query: TransactionQuery) {
  const { type, startDate = '', endDate = '9' } = query;
  const rows = model
    .filter((row) => (type ?? row.type) === row.type)
    .filter(({ date }) => date >= startDate && date <= endDate)
    .sort((first, second) => second.date.localeCompare(first.date) || second.id - first.id);
  const page = takePage(rows, query);
  return { items: page.items, pagination: paginate(query, page) };
}

describe.each(FILTERS)('a list with the filter "%s"', (_, filter) => {
  test.each([1, 7, 20, 99, 100])(
    'has the expected rows on all pages of %i rows',
    async (perPage) => {
      const { pages } = expectedList({ ...filter, page: 1, perPage }).pagination;
      // With one row per page, every 13th page is enough; otherwise every page is read.
      const step = perPage === 1 ? 13 : 1;
      for (let page = 1; page <= pages + 1; page += step) {
        const query = { ...filter, page, perPage };
        expect(await transactions.list(query)).toEqual(expectedList(query));
      }
    },
  );
});

describe('the direction in which a page is read', () => {
  const [NEWER, OLDER] = ['fetch newest first', 'fetch oldest first'];

  test.each([
    ['near the newer end', 3, 20, [NEWER]],
    ['beyond 200 rows', 12, 20, ['count newest first', NEWER]],
    ['beyond the middle, 200 rows from either end', 13, 20, ['count oldest first', OLDER]],
    ['near the older end', 20, 20, [OLDER]],
    ['over the end of the day', 47, 10, [OLDER, NEWER]],
    ['at the start of the list', 1, 20, [NEWER]],
    ['at the end of the list', 24, 20, [OLDER]],
    ['over the end of a day with few rows before it', 2, 4, [NEWER]],
  ])('is the expected one for a page %s', async (_, page, perPage, expected) => {
    queries.length = 0;
    await transactions.list({ ...EVERYTHING, page, perPage });
    expect(queries).toEqual(expected);
  });
});
