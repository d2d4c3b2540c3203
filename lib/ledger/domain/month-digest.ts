// The digest of a month's transactions. Every creation, change and deletion of a transaction changes the digest. The digest is
// a sum, so writes update it in any order, without reading the other transactions.
import { hash } from 'node:crypto';
import type { Transaction } from './transaction.ts';

/** The last eight digits of a digest count its rows. The digits before them are the sum of a 64-bit hash of each row. */
const ROW_COUNT_MODULUS = 100_000_000n;

/** Computes what one transaction adds to a digest. Even the digest of 10^10 rows fits into DynamoDB's 38 digits. */
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

/** True if the digest includes every row. Rows of a release without digests are missing until the digest is repaired. */
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
