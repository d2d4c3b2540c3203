// Amounts: two decimals, bounds, and what is no number.
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import {
  amount,
  fromCents,
  hasAtMostTwoDecimals,
  LARGEST_AMOUNT,
  toCents,
} from '../../../lib/domain/money.ts';

describe('hasAtMostTwoDecimals judges the shortest decimal form', () => {
  test.each([0, -0, 1, -1, 0.1, 0.01, -0.01, 1.1, 12.34, 1e3, 1e11, 1e21, LARGEST_AMOUNT])(
    '%d: yes',
    (value) => expect(hasAtMostTwoDecimals(value)).toBe(true),
  );

  test.each([0.001, 1.005, -2.345, 1e-7, 5e-324, 0.1 + 0.2, 1.1 * 1.1, 123_456_789.123])(
    '%d: no',
    (value) => expect(hasAtMostTwoDecimals(value)).toBe(false),
  );
});

describe('amount', () => {
  const faults = (value: unknown) =>
    v.safeParse(amount, value).issues?.map(({ message }) => message) ?? [];

  test.each([0, -0.01, LARGEST_AMOUNT, -LARGEST_AMOUNT])('%d is acceptable', (value) => {
    expect(v.parse(amount, value)).toBe(value);
  });

  test.each(['1', '', true, null, undefined, [1], {}, 1n, Number.NaN])(
    '%o is no number',
    (value) => {
      expect(faults(value)).toEqual(['Must be a number.']);
    },
  );

  // JSON.parse makes infinity of 1e400.
  test.each([1e12, -1e12, 1e21, JSON.parse('1e400')])('%d is out of bounds', (value) => {
    expect(faults(value)).toEqual(['Must lie between -999999999999.99 and 999999999999.99.']);
  });
});

test.each([
  [0, 0n, '0'],
  [0.07, 7n, '0.07'],
  [-0.3, -30n, '-0.3'],
  [1.15, 115n, '1.15'],
  [100, 10_000n, '100'],
  [LARGEST_AMOUNT, 99_999_999_999_999n, '999999999999.99'],
])('%d is %d cents, which read %s', (value, cents, decimal) => {
  expect(BigInt(toCents(value))).toBe(cents);
  expect(fromCents(cents)).toBe(decimal);
});
