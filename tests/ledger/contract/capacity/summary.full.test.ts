// Cost of a summary in DynamoDB's units. The stored sums make no ordinary write more expensive.
import { beforeAll, describe, expect, it, test } from 'vitest';
import { MAX_UNITS, REQUEST_UNITS } from '../../../../bench/ledger/costs/request-units.ts';
import { createMeteredClient } from '../../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import { fromDayNumber, toDayNumber } from '../../../../lib/ledger/domain/calendar-date.ts';
import { CATEGORY_LIMIT } from '../../../../lib/ledger/domain/category.ts';
import { MAX_AMOUNT } from '../../../../lib/ledger/domain/money.ts';
import { MAX_SUMMARY_DAYS } from '../../../../lib/ledger/domain/summary.ts';
import { TRANSACTION_TYPES } from '../../../../lib/ledger/domain/transaction.ts';
import { toSummaryReply } from '../../../../lib/ledger/http/summary-json.ts';
import { usesDynamodbLocal } from '../../../shared/support/database-engine.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { LUNCH } from '../../support/api/records.ts';
import { bulkLoad, bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { EVERYTHING } from '../../support/ledger-contents.ts';
import { createStoredCategory, createStoredTransaction } from '../../support/stored-records.ts';

const table = await createTestTable();

function open(ledgerId: string) {
  const client = createMeteredClient(table.client);
  return { client, ledger: openLedger({ ...table, ledgerId, client, timeZone: 'UTC' }) };
}

describe.each([500, 5_000])('a summary of a year in a ledger of %i rows', (transactions) => {
  const ledgerId = `household-${transactions}`;
  const { client, ledger } = open(ledgerId);
  beforeAll(async () => {
    const household = { transactions, years: 10, lastDay: '2026-06-30', seed: 11 };
    await bulkLoadHousehold({ ...table, ledgerId }, household);
  });

  const YEAR = { ...EVERYTHING, startDate: '2025-01-01', endDate: '2025-12-31' };
  const CATEGORIES = 30;

  it.each([
    [{ period: 'month' }, YEAR, 4],
    [{ period: 'month' }, { ...YEAR, startDate: '2025-06-10', endDate: '2026-06-09' }, 4],
    [{ grouping: 'type' }, YEAR, 4],
    [{ grouping: 'type', period: 'month' }, YEAR, 4],
    [{ period: 'day' }, YEAR, MAX_UNITS['summary of a year by day'].read],
    [{ grouping: 'type', period: 'day' }, YEAR, MAX_UNITS['summary of a year by day'].read],
    [{ grouping: 'category' }, YEAR, CATEGORIES],
    [{ grouping: 'category', period: 'day' }, YEAR, CATEGORIES],
    [{ grouping: 'category', period: 'month' }, YEAR, CATEGORIES],
  ] as const)('by %o, %o, costs at most %i read units', async (by, filter, maxUnits) => {
    const { result, cost } = await client.measure(() =>
      ledger.summaries.read({ ...filter, ...by }),
    );
    expect(result.count).toBeGreaterThan(0);
    expect(cost.readUnits).toBeLessThanOrEqual(maxUnits);
    expect(cost.roundTrips).toBeLessThanOrEqual(maxUnits === CATEGORIES ? 3 : 1);
  });
});

test.skipIf(usesDynamodbLocal())(
  'a create costs 21 write units in a month where each day has every group',
  async () => {
    const target = { ...table, ledgerId: 'full-month' };
    const days = Array.from({ length: 31 }, (_, n) => `2026-03-${String(n + 1).padStart(2, '0')}`);
    const rows = days.flatMap((date) =>
      TRANSACTION_TYPES.flatMap((type) => Array(20).fill({ date, type, categoryId: 1 })),
    );
    await bulkLoad(
      target,
      [createStoredCategory(1, 'All')],
      rows.map((row, n) => createStoredTransaction(n + 1, { ...row, amount: MAX_AMOUNT - n })),
    );
    const { client, ledger } = open(target.ledgerId);
    const { cost } = await client.measure(() =>
      ledger.transactions.create({ ...LUNCH, notes: null, categoryId: 1, date: '2026-03-05' }),
    );
    expect(cost.writeUnits).toBeLessThanOrEqual(21);
    expect(cost.writeUnits).toBeGreaterThan(REQUEST_UNITS.create.write);
  },
);

test('366 days with every group cost as much as documented, in one query', async () => {
  const target = { ...table, ledgerId: 'full-days' };
  const first = toDayNumber('2024-01-31');
  const rows = Array.from({ length: MAX_SUMMARY_DAYS }, (_, n) =>
    TRANSACTION_TYPES.flatMap((type) =>
      Array(10).fill({ date: fromDayNumber(first + n), type, categoryId: null }),
    ),
  ).flat();
  await bulkLoad(
    target,
    [],
    rows.map((row, n) => createStoredTransaction(n + 1, { ...row, amount: MAX_AMOUNT - n })),
  );
  const { client, ledger } = open(target.ledgerId);
  const range = { startDate: '2024-01-31', endDate: fromDayNumber(first + MAX_SUMMARY_DAYS - 1) };
  const { result, cost } = await client.measure(() =>
    ledger.summaries.read({ ...EVERYTHING, ...range, period: 'day' }),
  );
  expect(result.count).toBe(rows.length);
  const maxUnits = MAX_UNITS['summary of a year by day'].read;
  expect(cost.readUnits).toBeLessThanOrEqual(maxUnits);
  expect(cost.readUnits).toBeGreaterThan(0.7 * maxUnits);
  expect(cost.calls).toBe(1);
});

test('600 categories over ten years by month fit one response, well within the deadline', async () => {
  const ledgerId = 'large';
  const categories = Array.from({ length: CATEGORY_LIMIT }, (_, n) =>
    createStoredCategory(n + 1, `Category ${n}`),
  );
  const rows = categories.flatMap(({ id: categoryId }) =>
    ['2017-01-31', '2026-12-01'].map((date) => ({ date, categoryId })),
  );
  await bulkLoad(
    { ...table, ledgerId },
    categories,
    rows.map((row, n) => createStoredTransaction(n + 1, { ...row, amount: MAX_AMOUNT - n })),
  );
  const { client, ledger } = open(ledgerId);
  const range = { startDate: '2017-01-01', endDate: '2026-12-31' };
  const { result, cost } = await client.measure(() =>
    ledger.summaries.read({ ...EVERYTHING, ...range, grouping: 'category', period: 'month' }),
  );
  const body = JSON.stringify(toSummaryReply(result, { grouping: 'category' }).body);
  const response = JSON.stringify({ statusCode: 200, headers: {}, body });
  expect(Buffer.byteLength(response)).toBeLessThan(6 * 1024 * 1024);
  expect(JSON.parse(body).data.months).toHaveLength(120);
  expect(JSON.parse(body).data.groups).toHaveLength(CATEGORY_LIMIT + 1);
  // The names are read first, then 601 queries, 16 at a time. At 10 ms each that takes less than half a second.
  expect(cost.roundTrips).toBeLessThanOrEqual(1 + Math.ceil((CATEGORY_LIMIT + 1) / 16));
});
