// Valid days, and the current day in a time zone. property/parsing.test.ts compares more days with JavaScript's calendar.
import { afterEach, expect, test, vi } from 'vitest';
import { findCurrentDate, isCalendarDate } from '../../../../lib/ledger/domain/calendar-date.ts';

afterEach(() => vi.unstubAllGlobals());

test.each(['0001-01-01', '0400-02-29', '1582-10-10', '2024-02-29', '2024-10-31', '9999-12-31'])(
  '%s is a day',
  (text) => expect(isCalendarDate(text)).toBe(true),
);

test.each([
  '0000-12-31',
  '1900-02-29',
  '2023-02-29',
  '2024-02-30',
  '2024-04-31',
  '2024-06-31',
  '2024-09-31',
  '2024-11-31',
  '2024-01-32',
  '2024-01-00',
  '2024-00-01',
  '2024-13-01',
  '2024-1-01',
  '2024-01-01\n',
  '+002024-01-01',
  '٢٠٢٤-٠١-٠١',
])('%j is not a day', (text) => expect(isCalendarDate(text)).toBe(false));

test.each([
  ['2024-02-29T23:59:59.999Z', 'UTC', '2024-02-29'],
  ['0987-06-05T12:00:00.000Z', 'UTC', '0987-06-05'],
  ['2024-12-31T11:00:00.000Z', 'Pacific/Kiritimati', '2025-01-01'],
  ['2025-01-01T09:59:59.999Z', 'Pacific/Pago_Pago', '2024-12-31'],
  ['2024-05-05T18:30:00.000Z', 'Asia/Kolkata', '2024-05-06'],
  ['2024-05-05T18:29:59.999Z', 'Asia/Kolkata', '2024-05-05'],
  ['2011-12-30T12:00:00.000Z', 'Pacific/Apia', '2011-12-31'],
  ['2024-04-10T12:00:00.000Z', 'Asia/Tehran', '2024-04-10'],
  ['0987-06-05T12:00:00.000Z', 'Europe/Berlin', '0987-06-05'],
])('the current day at %s in %s is %s', (now, timeZone, date) => {
  expect(findCurrentDate(new Date(now), timeZone)).toBe(date);
});

test('the current day in UTC needs no Intl, whose time zones take long to load', () => {
  vi.stubGlobal('Intl', {});
  expect(findCurrentDate(new Date('2024-02-29T23:59:59.999Z'), 'UTC')).toBe('2024-02-29');
});
