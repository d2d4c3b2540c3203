// Bytes that DynamoDB stores for a transaction of a household, in the table and in each index that has the row.

import { SCHEMA_VERSION } from '../../../lib/ledger/store/schema.ts';
import type { Item } from '../../../lib/shared/database.ts';
import table from '../../../lib/shared/table.json' with { type: 'json' };
import { householdLedger } from '../household-ledger.ts';
import { createLedgerItems } from '../ledger-items.ts';

const ROWS = 1_000;
// DynamoDB's own overhead for every stored item.
const OVERHEAD_BYTES = 100;

export interface RowForm {
  readonly ledgerIdLength: number;
  readonly hasVersion: boolean;
}

/** Rows of ledgers that access tokens name. */
export const ROW_OF_FIRST_RELEASE: RowForm = { ledgerIdLength: 48, hasVersion: false };
const PRESENT_ROW: RowForm = { ledgerIdLength: 22, hasVersion: true };

/** KB of 1,000 bytes, on average. */
export function measureStoredRow(
  { ledgerIdLength, hasVersion } = PRESENT_ROW,
  countStored = countCopies,
): number {
  const { categories, transactions } = householdLedger({
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

/** Without the indexes: DynamoDB bills neither backups nor point-in-time recovery for them. */
export function measureTableRow(): number {
  return measureStoredRow(PRESENT_ROW, () => 1);
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
