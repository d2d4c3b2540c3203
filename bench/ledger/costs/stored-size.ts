// Bytes that DynamoDB stores for a transaction of a household, in the table and in each index that has the row.

import type { Item } from '../../../lib/shared/database.ts';
import table from '../../../lib/shared/table.json' with { type: 'json' };
import { householdLedger } from '../household-ledger.ts';
import { createLedgerItems } from '../ledger-items.ts';

const ROWS = 1_000;
// DynamoDB counts so many bytes more for every item that it stores.
const OVERHEAD_BYTES = 100;

/** KB of 1,000 bytes, on average. */
export function measureStoredRow(): number {
  const { categories, transactions } = householdLedger({
    transactions: ROWS,
    years: 1,
    lastDay: '2026-06-30',
    seed: 1,
  });
  const { rows } = createLedgerItems('A'.repeat(22), categories);
  let bytes = 0;
  for (const item of rows(transactions))
    bytes += countCopies(item) * (measureItem(item) + OVERHEAD_BYTES);
  return bytes / ROWS / 1_000;
}

/** The table has a row once, and each index whose keys it has. */
function countCopies(item: Item): number {
  const indexes = table.GlobalSecondaryIndexes.filter(({ KeySchema }) =>
    KeySchema.every(({ AttributeName }) => item[AttributeName] !== undefined),
  );
  return 1 + indexes.length;
}

function measureItem(item: Item): number {
  return Object.entries(item)
    .filter(([, value]) => value !== undefined)
    .reduce((bytes, [name, value]) => bytes + Buffer.byteLength(name) + measureValue(value), 0);
}

function measureValue(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value === 'number') return Math.ceil(String(value).length / 2) + 1;
  if (typeof value === 'boolean' || value === null) return 1;
  throw new Error(`A row has a value whose size is not known: ${typeof value}`);
}
