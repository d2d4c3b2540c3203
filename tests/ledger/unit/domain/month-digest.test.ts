// Digests of months: every change to a row changes the share that the row adds to the digest.
import { expect, test } from 'vitest';
import {
  computeDigestShare,
  isCompleteDigest,
  sumDigest,
} from '../../../../lib/ledger/domain/month-digest.ts';

const ROW = {
  id: 7,
  version: 2,
  createdAt: 1_772_359_200_000,
  updatedAt: 1_772_445_600_000,
};

// The times count as well: after a restore, a new row can have the id and the version of a row that no longer exists.
test.each([
  { id: 8 },
  { version: 3 },
  { createdAt: 1_772_359_200_001 },
  { updatedAt: 1_772_445_600_001 },
])('a row with %o has another share', (change) => {
  expect(computeDigestShare({ ...ROW, ...change })).not.toBe(computeDigestShare(ROW));
});

test('a digest does not depend on the order of rows, and a row can be subtracted from it', () => {
  const secondRow = { ...ROW, id: 8 };
  expect(sumDigest([ROW, secondRow])).toBe(sumDigest([secondRow, ROW]));
  expect(sumDigest([ROW, secondRow]) - computeDigestShare(secondRow)).toBe(sumDigest([ROW]));
});

test.each([
  [1, true],
  [0, false],
  [2, false],
])('the digest of one row is complete for %i rows: %s', (rows, complete) => {
  expect(isCompleteDigest(computeDigestShare(ROW), rows)).toBe(complete);
});
