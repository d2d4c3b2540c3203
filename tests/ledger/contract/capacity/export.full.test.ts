// Cost of an export in DynamoDB's units: each part costs what it reads, which is at most 1 MB.
import { expect, it } from 'vitest';
import { MAX_UNITS } from '../../../../bench/ledger/costs/request-units.ts';
import { type Cost, createMeteredClient } from '../../../../bench/ledger/metered-client.ts';
import { openLedger } from '../../../../cli/ledger/open-ledger.ts';
import type { ListPosition } from '../../../../lib/ledger/domain/pagination.ts';
import type { ExportPart, NamedTransaction } from '../../../../lib/ledger/domain/transaction.ts';
import { exportReply } from '../../../../lib/ledger/http/transaction-export.ts';
import { createTestTable } from '../../../shared/support/test-table.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { EVERYTHING } from '../../support/ledger-contents.ts';

const MAX_READ = MAX_UNITS['part of an export'].read;
const TRANSACTIONS = 5_000;
/** Usual rows: docs/ledger/api.md says how many of them a part has. */
const MIN_ROWS = 2_000;

interface Measured {
  readonly result: ExportPart<NamedTransaction>;
  readonly cost: Cost;
}

it(`costs at most ${MAX_READ} read units for each part`, async () => {
  const table = { ...(await createTestTable()), ledgerId: 'household' };
  const household = { transactions: TRANSACTIONS, years: 10, lastDay: '2026-06-30', seed: 11 };
  await bulkLoadHousehold(table, household);
  const client = createMeteredClient(table.client);
  const { transactions } = openLedger({ ...table, client, timeZone: 'UTC' });
  async function* readParts(): AsyncGenerator<Measured> {
    let after: ListPosition | undefined;
    do {
      const query = { ...EVERYTHING, after };
      const part = await client.measure(() => transactions.readExportPart(query));
      yield part;
      after = part.result.next;
    } while (after);
  }
  const rows: number[] = [];
  for await (const { result, cost } of readParts()) {
    expect(cost.readUnits).toBeLessThanOrEqual(MAX_READ);
    expect(cost).toMatchObject({ calls: 2, roundTrips: 1 });
    // The whole of it fits into one response.
    const { headers } = exportReply(result, { query: {}, isJson: false });
    expect(headers?.link === undefined).toBe(result.next === undefined);
    const { body } = exportReply(result, { query: {}, isJson: true });
    expect(body.next === null).toBe(result.next === undefined);
    rows.push(result.items.length);
  }

  // The same again reads the counts and the names, the few months that a query had cut, and no other rows.
  const again: number[] = [];
  let readUnits = 0;
  for await (const { result, cost } of readParts()) {
    readUnits += cost.readUnits;
    again.push(result.items.length);
  }
  expect(again.reduce((sum, count) => sum + count)).toBe(TRANSACTIONS);
  expect(Math.max(...again)).toBeLessThanOrEqual(4_000);
  expect(readUnits).toBeLessThan(MAX_READ / 4);
  expect(rows.reduce((sum, count) => sum + count)).toBe(TRANSACTIONS);
  expect(
    rows.slice(0, -1).every((count) => count >= MIN_ROWS),
    String(rows),
  ).toBe(true);
});
