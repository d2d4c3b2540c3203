// Real days, the lengths of months, and what day it is where.
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  currentDate,
  daysInMonth,
  isCalendarDate,
  toDate,
  toMonth,
} from '../../../lib/domain/calendar-date.ts';

afterEach(() => vi.unstubAllGlobals());

describe('isCalendarDate', () => {
  test.each([
    '0001-01-01',
    '0004-02-29',
    '0400-02-29',
    '1582-10-10',
    '2000-02-29',
    '2024-02-29',
    '2024-12-31',
    '9999-12-31',
  ])('%s is a day', (text) => expect(isCalendarDate(text)).toBe(true));

  test.each([
    '0000-01-01',
    '0000-12-31',
    '1900-02-29',
    '2023-02-29',
    '2100-02-29',
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
    '2024-01-01 ',
    '2024-01-01\n',
    '+002024-01-01',
    '٢٠٢٤-٠١-٠١',
    '',
  ])('%j is none', (text) => expect(isCalendarDate(text)).toBe(false));
});

test.each([
  ['2023-02', 28],
  ['2024-02', 29],
  ['1900-02', 28],
  ['2000-02', 29],
  ['2024-01', 31],
  ['2024-04', 30],
  ['2024-06', 30],
  ['2024-07', 31],
  ['2024-08', 31],
  ['2024-09', 30],
  ['2024-11', 30],
  ['2024-12', 31],
])('%s has %i days', (month, days) => expect(daysInMonth(month)).toBe(days));

test('months and days are written with two digits', () => {
  expect([toMonth('0987', 3), toDate('0987-03', 9)]).toEqual(['0987-03', '0987-03-09']);
});

describe('currentDate is the day on the wall of the time zone', () => {
  test.each([
    ['2024-02-29T23:59:59.999Z', 'UTC', '2024-02-29'],
    ['2024-03-01T00:00:00.000Z', 'UTC', '2024-03-01'],
    ['2024-12-31T11:00:00.000Z', 'Pacific/Kiritimati', '2025-01-01'],
    ['2025-01-01T09:59:59.999Z', 'Pacific/Pago_Pago', '2024-12-31'],
    ['2024-06-30T22:00:00.000Z', 'Europe/Berlin', '2024-07-01'],
    ['2024-12-31T22:59:59.999Z', 'Europe/Berlin', '2024-12-31'],
    ['2024-05-05T18:30:00.000Z', 'Asia/Kolkata', '2024-05-06'],
    ['2024-05-05T18:29:59.999Z', 'Asia/Kolkata', '2024-05-05'],
    ['2011-12-30T12:00:00.000Z', 'Pacific/Apia', '2011-12-31'],
    ['2024-04-10T12:00:00.000Z', 'Asia/Tehran', '2024-04-10'],
    ['0987-06-05T12:00:00.000Z', 'UTC', '0987-06-05'],
  ])('%s in %s', (now, timeZone, date) => {
    expect(currentDate(new Date(now), timeZone)).toBe(date);
  });

  test('UTC is told without Intl, for the time zones of the world take long to load', () => {
    vi.stubGlobal('Intl', {});
    expect(currentDate(new Date('2024-02-29T23:59:59.999Z'), 'UTC')).toBe('2024-02-29');
  });
});
