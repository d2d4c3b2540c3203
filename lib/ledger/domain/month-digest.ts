// The digest of a month: equal for equal sets of transactions, and different after every creation, change and deletion. The
// digest is a sum, so each write updates it without reading the other transactions, in any order.
import { hash } from 'node:crypto';
import type { Transaction } from './transaction.ts';

/** The last eight digits of a digest count the rows. Each row adds one to them, and a 64-bit hash to the digits before them. */
const ROW_COUNT_MODULUS = 100_000_000n;

/** Computes the share of one transaction in a digest. The digest of 10^10 rows would still fit the 38 digits of a number in DynamoDB. */
export function computeDigestShare({
  id,
  version,
  createdAt,
  updatedAt,
}: Pick<Transaction, 'id' | 'version' | 'createdAt' | 'updatedAt'>): bigint {
  // After a restore another row may have the same id and version, but not the same times.
  const revision = `${id} ${version} ${createdAt} ${updatedAt}`;
  return hash('sha256', revision, 'buffer').readBigUInt64BE() * ROW_COUNT_MODULUS + 1n;
}

export function sumDigest(rows: readonly Parameters<typeof computeDigestShare>[0][]): bigint {
  return rows.reduce((sum, row) => sum + computeDigestShare(row), 0n);
}

/** True if every row has a share in the sum: rows that an earlier release wrote have none until they are swept. */
export function isCompleteDigest(sum: bigint, rows: number): boolean {
  return (
    ((sum % ROW_COUNT_MODULUS) + ROW_COUNT_MODULUS) % ROW_COUNT_MODULUS ===
    BigInt(rows) % ROW_COUNT_MODULUS
  );
}

/** Formats the digest as clients see it. */
export function formatDigest(sum: bigint): string {
  return sum.toString(36);
}
