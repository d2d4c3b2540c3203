// Conversion of amounts to whole cents and back. unit/http/record-json.test.ts and property/money.test.ts cover the amounts that
// are accepted.
import { expect, test } from 'vitest';
import { fromCents, MAX_AMOUNT, toCents } from '../../../../lib/ledger/domain/money.ts';

test.each([
  [0, 0n, '0'],
  [0.07, 7n, '0.07'],
  [-0.3, -30n, '-0.3'],
  [1.15, 115n, '1.15'],
  [100, 10_000n, '100'],
  [MAX_AMOUNT, 99_999_999_999_999n, '999999999999.99'],
])('%d is %d cents, which read %s', (value, cents, decimal) => {
  expect(BigInt(toCents(value))).toBe(cents);
  expect(fromCents(cents)).toBe(decimal);
});
