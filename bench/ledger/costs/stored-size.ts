// Measures how many bytes DynamoDB stores for a household's transaction, in the table and in each index that has the row.

import { SCHEMA_VERSION } from '../../../lib/ledger/store/schema.ts';
import type { Item } from '../../../lib/shared/database.ts';
import table from '../../../lib/shared/table.json' with { type: 'json' };
import { createHouseholdLedger } from '../household-ledger.ts';
import { createLedgerItems } from '../ledger-items.ts';

const ROWS = 1_000;
// DynamoDB counts this overhead for every stored item.
const OVERHEAD_BYTES = 100;

export interface RowFormat {
  readonly ledgerIdLength: number;
  readonly hasVersion: boolean;
}

/** The form of rows that release 0.1.0 wrote for an access token's ledger. */
export const FIRST_RELEASE_ROW_FORMAT: RowFormat = { ledgerIdLength: 48, hasVersion: false };
const CURRENT_ROW_FORMAT: RowFormat = { ledgerIdLength: 22, hasVersion: true };

/** Measures the average size of a stored transaction, in KB of 1,000 bytes. */
export function measureStoredRow(
  { ledgerIdLength, hasVersion } = CURRENT_ROW_FORMAT,
  countStored = countCopies,
): number {
  const { categories, transactions } = createHouseholdLedger({
    transactions: ROWS,
    years: 1,
    lastDay: '2026-06-30',
    seed: 1,
  });
  const { rows } = createLedgerItems('A'.repeat(ledgerIdLength), categories);
  let bytes = 0;
  for (const row of rows(transactions)) {
    const item = hasVersion ? row : { ...row, [SCHEMA_VERSION]: undefined };
    bytes += countStored(item) * (measureItem(item) + OVERHEAD_BYTES);
  }
  return bytes / ROWS / 1_000;
}

/** Measures a row in the table only, because AWS bills neither backups nor point-in-time recovery for indexes. */
export function measureTableRow(): number {
  return measureStoredRow(CURRENT_ROW_FORMAT, () => 1);
}

/** Counts the stored copies of a row: one in the table, and one in each index whose key attributes the row has. */
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
