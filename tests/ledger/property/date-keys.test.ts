// Date keys sort as strings in the order of the list.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parseDateKey,
  toDateKey,
  toFirstKeyOnDay,
  toLastKeyOnDay,
} from '../../../lib/ledger/store/keys.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';
import { anyDate, crowdedDate } from '../support/calendar-arbitraries.ts';

const row = fc.record({
  date: crowdedDate,
  // Instants up to the year 9999, many of them equal.
  createdAt: fc.oneof(fc.constantFrom(0, 1, 999, 1000), fc.integer({ min: 0, max: 253e12 })),
  id: fc.oneof(
    fc.integer({ min: 1, max: 120 }),
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  ),
});

type Row = typeof row extends fc.Arbitrary<infer Value> ? Value : never;

function inListOrder(first: Row, second: Row): number {
  if (first.date !== second.date) return first.date < second.date ? -1 : 1;
  return first.createdAt - second.createdAt || first.id - second.id;
}

test(`two date keys compare by date, then by creation, then by id (seed ${SEED})`, () => {
  const property = fc.property(row, row, (first, second) => {
    const [firstKey, secondKey] = [toDateKey(first), toDateKey(second)];
    const order = firstKey === secondKey ? 0 : firstKey < secondKey ? -1 : 1;
    expect(order).toBe(Math.sign(inListOrder(first, second)));
  });
  fc.assert(property, seeded(5_000));
});

test(`a date key is parsed to the fields that it was made from (seed ${SEED})`, () => {
  const property = fc.property(row, (each) => {
    expect(parseDateKey(toDateKey(each))).toEqual(each);
  });
  fc.assert(property, seeded(1_000));
});

test(`the date keys of a day lie between its first and last key, and those of other days do not (seed ${SEED})`, () => {
  const property = fc.property(row, fc.oneof(crowdedDate, anyDate), (each, day) => {
    const key = toDateKey(each);
    expect(toFirstKeyOnDay(day) <= key && key <= toLastKeyOnDay(day)).toBe(each.date === day);
  });
  fc.assert(property, seeded(5_000));
});
