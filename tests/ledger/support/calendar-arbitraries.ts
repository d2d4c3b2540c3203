// Generated dates: anywhere in the calendar, or crowded so that many rows share a day, a month or a year.
import fc from 'fast-check';
import { daysInMonth, toDate, toMonth } from '../../../lib/ledger/domain/calendar-date.ts';

export const anyDate = fc
  .record({
    year: fc.integer({ min: 1, max: 9999 }),
    month: fc.integer({ min: 1, max: 12 }),
    day: fc.integer({ min: 1, max: 31 }),
  })
  .map(({ year, month, day }) => {
    const monthOfYear = toMonth(String(year).padStart(4, '0'), month);
    return toDate(monthOfYear, Math.min(day, daysInMonth(monthOfYear)));
  });

/** Dates around the ends of months and years, where ranges are cut */
const CROWDED_DATES = [
  '2023-12-30',
  '2023-12-31',
  '2024-01-01',
  '2024-01-31',
  '2024-02-01',
  '2024-02-28',
  '2024-02-29',
  '2024-03-01',
  '2025-02-28',
  '9999-12-31',
  '0001-01-01',
];

export const crowdedDate = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...CROWDED_DATES) },
  { weight: 1, arbitrary: anyDate },
);
