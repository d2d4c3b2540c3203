// Calendar dates without a time: `YYYY-MM-DD`, years 0001 to 9999, in the Gregorian calendar.
import * as v from 'valibot';

/** `YYYY-MM-DD` */
export type CalendarDate = string;
/** `YYYY-MM` */
export type CalendarMonth = string;
/** `YYYY` */
export type CalendarYear = string;

export const EARLIEST_DATE: CalendarDate = '0001-01-01';
export const LATEST_DATE: CalendarDate = '9999-12-31';

const DAY_MILLISECONDS = 86_400_000;

export const calendarDate = v.pipe(
  v.string('Must be a date written YYYY-MM-DD.'),
  v.check(isCalendarDate, 'Must be a real calendar date written YYYY-MM-DD.'),
  v.metadata({ format: 'date' }),
);

export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < EARLIEST_DATE) return false;
  const month = Number(text.slice(5, 7));
  const day = dayOfMonth(text);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(monthOf(text));
}

export function yearOf(date: CalendarDate | CalendarMonth): CalendarYear {
  return date.slice(0, 4);
}

export function monthOf(date: CalendarDate): CalendarMonth {
  return date.slice(0, 7);
}

export function monthOfYear(month: CalendarDate | CalendarMonth): number {
  return Number(month.slice(5, 7));
}

export function dayOfMonth(date: CalendarDate): number {
  return Number(date.slice(8, 10));
}

export function toMonth(year: CalendarYear, month: number): CalendarMonth {
  return `${year}-${padToTwoDigits(month)}`;
}

export function toDate(month: CalendarMonth, day: number): CalendarDate {
  return `${month}-${padToTwoDigits(day)}`;
}

export function daysInMonth(month: CalendarMonth): number {
  const monthNumber = monthOfYear(month);
  if (monthNumber === 2) return isLeapYear(Number(yearOf(month))) ? 29 : 28;
  return [4, 6, 9, 11].includes(monthNumber) ? 30 : 31;
}

/** Returns the number of a day. Consecutive days have consecutive numbers. */
export function toDayNumber(date: CalendarDate): number {
  return Date.parse(date) / DAY_MILLISECONDS;
}

export function fromDayNumber(number: number): CalendarDate {
  return new Date(number * DAY_MILLISECONDS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** Returns the current date in an IANA time zone. */
export function findCurrentDate(now: Date, timeZone: string): CalendarDate {
  if (timeZone === 'UTC') return now.toISOString().slice(0, 10);
  const parts = new Intl.DateTimeFormat('en', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(now);
  const readPart = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return `${readPart('year').padStart(4, '0')}-${readPart('month')}-${readPart('day')}`;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function padToTwoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
