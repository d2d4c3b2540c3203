// The parser of dates accepts exactly the days of the calendar. isolation.test.ts covers bodies and queries that cannot be parsed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCalendarDate } from '../../../lib/ledger/domain/calendar-date.ts';
import { SEED, seeded } from '../../shared/support/seed.ts';

test(`a string is a calendar date exactly when the calendar has that day (seed ${SEED})`, () => {
  const part = (length: number, max: number) =>
    fc.nat({ max }).map((value) => String(value).padStart(length, '0'));
  const dateLike = fc
    .tuple(part(4, 9999), part(2, 14), part(2, 33))
    .map((parts) => parts.join('-'));
  const property = fc.property(dateLike, (text) => {
    const instant = new Date(`${text}T00:00:00.000Z`);
    const isDay = !Number.isNaN(instant.getTime()) && instant.toISOString().startsWith(text);
    expect(isCalendarDate(text)).toBe(isDay && !text.startsWith('0000'));
  });
  fc.assert(property, seeded(5_000));
});
