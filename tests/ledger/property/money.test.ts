// Amounts of whole cents are accepted and survive JSON; finer amounts are refused. export.test.ts covers amounts in the store.
import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { amount, hasAtMostTwoDecimals, MAX_AMOUNT } from '../../../lib/ledger/domain/money.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';

const MAX_CENTS = Math.round(MAX_AMOUNT * 100);

/** Returns the amount as JSON.parse reads it from the decimals that a client would write. */
function fromCents(cents: number): number {
  const digits = String(Math.abs(cents)).padStart(3, '0');
  return JSON.parse(`${cents < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

const wholeCents = fc.integer({ min: -MAX_CENTS, max: MAX_CENTS }).map(fromCents);

test(`any amount of whole cents is accepted and survives JSON (seed ${SEED})`, () => {
  const property = fc.property(wholeCents, (value) => {
    expect(v.parse(amount, value)).toBe(value);
    expect(JSON.parse(JSON.stringify(value))).toBe(value === 0 ? 0 : value);
  });
  fc.assert(property, seeded(5_000));
});

test(`any amount finer than a cent is refused (seed ${SEED})`, () => {
  const finer = fc
    .tuple(
      fc.integer({ min: -99_999_999, max: 99_999_999 }),
      fc.integer({ min: 1, max: 9_999 }).filter((rest) => rest % 100 !== 0),
    )
    .map(([whole, rest]) => JSON.parse(`${whole}.${String(rest).padStart(4, '0')}`));
  const property = fc.property(finer, (value) => {
    expect(v.safeParse(amount, value).success).toBe(false);
  });
  fc.assert(property, seeded(5_000));
});

test(`a double has at most two decimals exactly when its two-decimal form is the same double (seed ${SEED})`, () => {
  const property = fc.property(fc.double({ min: -1e12, max: 1e12, noNaN: true }), (value) => {
    expect(hasAtMostTwoDecimals(value)).toBe(Number(value.toFixed(2)) === value);
  });
  fc.assert(property, seeded(5_000));
});
