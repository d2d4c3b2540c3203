// For all months, sizes and limits, the parts of an export together make up the ledger, whether months are cached, changed, or
// larger than a part. The number of parts, and of the reads for each, is bounded.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { toDate, toMonth } from '../../../lib/ledger/domain/calendar-date.ts';
import type { ListPosition } from '../../../lib/ledger/domain/pagination.ts';
import type { Ledger } from '../../../lib/ledger/ledger.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { bulkLoad } from '../support/bulk-loader.ts';
import { EVERYTHING } from '../support/ledger-contents.ts';
import { createStoredTransaction } from '../support/stored-records.ts';

const table = await createTestTable();
let rowsPerQuery = 1;
let queries = 0;
// Ends each query of an index after a few rows, as DynamoDB does after 1 MB.
const client = interpose(table.client, (name, input: { IndexName?: string; Limit?: number }) => {
  if (name !== 'QueryCommand' || input.IndexName === undefined) return;
  input.Limit = rowsPerQuery;
  queries += 1;
});

const month = fc.integer({ min: 0, max: 13 });
const ledgers = fc.record({
  months: fc.uniqueArray(fc.record({ month, rows: fc.integer({ min: 1, max: 7 }) }), {
    selector: (each) => each.month,
    maxLength: 6,
    size: 'max',
  }),
  maxRows: fc.integer({ min: 1, max: 8 }),
  minRowsPerQuery: fc.integer({ min: 1, max: 4 }),
  maxRowsPerQuery: fc.integer({ min: 1, max: 8 }),
  rowsPerQuery: fc.integer({ min: 1, max: 10 }),
  /** Months that get another row before the export is repeated */
  changes: fc.array(fc.array(month, { maxLength: 2 }), { minLength: 2, maxLength: 3 }),
});
type GeneratedLedger = typeof ledgers extends fc.Arbitrary<infer Value> ? Value : never;

/** Ledgers with two months of more than half a part each, and with a month larger than a part */
const LARGE_MONTHS = [
  [5, 5, 1],
  [9, 1, 9],
].map(
  (sizes): GeneratedLedger => ({
    months: sizes.map((rows, n) => ({ month: n + 1, rows })),
    maxRows: 8,
    minRowsPerQuery: 1,
    maxRowsPerQuery: 8,
    rowsPerQuery: 10,
    changes: [[], [], []],
  }),
);

let ledgerCount = 0;

function dateIn(month: number, day: number): string {
  return toDate(toMonth(String(2024 + Math.floor(month / 12)), (month % 12) + 1), day);
}

async function fill({ months }: GeneratedLedger): Promise<string> {
  ledgerCount += 1;
  const ledgerId = `parts-${ledgerCount}`;
  const dates = months.flatMap(({ month, rows }) =>
    Array.from({ length: rows }, (_, n) => dateIn(month, 1 + n * 3)),
  );
  const rows = dates.map((date, n) => createStoredTransaction(n + 1, { date }));
  await bulkLoad({ ...table, ledgerId }, [], rows);
  return ledgerId;
}

async function readParts({ transactions }: Ledger, maxParts: number) {
  const parts: { readonly ids: readonly number[]; readonly queries: number }[] = [];
  let after: ListPosition | undefined;
  do {
    queries = 0;
    const part = await transactions.readExportPart({ ...EVERYTHING, after });
    parts.push({ ids: part.items.map(({ id }) => id), queries });
    after = part.next;
  } while (after && parts.length < maxParts);
  expect(after, `${maxParts} parts, and more follow`).toBeUndefined();
  return parts;
}

async function readIds({ transactions }: Ledger): Promise<number[]> {
  const { items } = await transactions.list({ ...EVERYTHING, page: 1, perPage: 200 });
  return items.map(({ id }) => id).reverse();
}

test(`the parts of an export make up the ledger (seed ${SEED})`, async () => {
  const property = fc.asyncProperty(ledgers, async (generated) => {
    const { maxRows, minRowsPerQuery, maxRowsPerQuery } = generated;
    const ledgerId = await fill(generated);
    const options = { ...table, ledgerId, timeZone: 'UTC' };
    const partLimits = { maxRows, minRowsPerQuery, maxRowsPerQuery };
    const exportedLedger = openLedger({ ...options, client, partLimits });
    rowsPerQuery = generated.rowsPerQuery;
    const largestMonth = Math.max(0, ...generated.months.map(({ rows }) => rows)) + 4;
    for (const changedMonths of generated.changes) {
      const ids = await readIds(openLedger(options));
      const parts = await readParts(exportedLedger, ids.length + 1);
      expect(parts.flatMap((part) => part.ids)).toEqual(ids);
      expect(parts.slice(0, -1).map((part) => part.ids.length)).not.toContain(0);
      // Each query after the first must yield a minimum of rows.
      const maxQueries = 1 + (maxRows + largestMonth) / minRowsPerQuery;
      expect(Math.max(...parts.map((part) => part.queries))).toBeLessThanOrEqual(maxQueries);
      expect(parts.every((part) => part.ids.length <= maxRows)).toBe(true);
      for (const changedMonth of changedMonths) {
        const { description, amount, type, categoryId, notes } = createStoredTransaction(1, {});
        const fields = { description, amount, type, categoryId, notes, externalId: null };
        await exportedLedger.transactions.create({ ...fields, date: dateIn(changedMonth, 28) });
      }
    }
  });
  await fc.assert(property, { ...seeded(200), examples: LARGE_MONTHS.map((each) => [each]) });
});
