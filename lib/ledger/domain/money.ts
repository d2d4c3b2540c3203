// Amounts of money as clients send them: JSON numbers, positive or negative, with at most two decimals. Sums are computed in
// whole cents, so they are exact.
import * as v from 'valibot';

export const MAX_AMOUNT = 999_999_999_999.99;

export const amount = v.pipe(
  v.number('Must be a number.'),
  v.check(
    (value) => Math.abs(value) <= MAX_AMOUNT,
    'Must lie between -999999999999.99 and 999999999999.99.',
  ),
  v.check(hasAtMostTwoDecimals, 'Must have at most 2 decimal places.'),
  // No `multipleOf: 0.01`: validators divide in binary floating point, where 564.8 is not a multiple of 0.01.
  v.metadata({
    description: 'At most 2 decimals.',
    format: 'double',
    minimum: -MAX_AMOUNT,
    maximum: MAX_AMOUNT,
  }),
);

/**
 * Checks the shortest decimal form of the number, as the client wrote it: 0.1 + 0.2 has seventeen decimals. Infinity (JSON.parse
 * returns it for 1e400) passes, because the check against MAX_AMOUNT refuses it.
 */
export function hasAtMostTwoDecimals(value: number): boolean {
  return Number.isInteger(value) || /^-?(\d+\.\d{1,2}|Infinity)$/.test(String(value));
}

export function toCents(amount: number): number {
  return Math.round(amount * 100);
}

/** Writes cents in the shortest decimal form, exact at any size: -1250 is `-12.5`. */
export function fromCents(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  const decimal = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.00$|0$/, '');
  return cents < 0n ? `-${decimal}` : decimal;
}
