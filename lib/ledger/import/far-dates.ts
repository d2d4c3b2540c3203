// Asks about bookings dated far from all others or well after today: a mistyped year hides a booking from its owner.
import { fromDayNumber, toDayNumber } from '../domain/calendar-date.ts';
import type { Booking, Question } from './booking.ts';

/** Two years, in days. */
const FAR_DAYS = 731;
/** Days that a date may be ahead of today: a value date often is. */
const MAX_DAYS_AHEAD = 31;
const MAX_SHOWN = 5;

/** @param today `YYYY-MM-DD` */
export function askAboutDates(bookings: readonly Booking[], today: string): readonly Question[] {
  const byDate = Map.groupBy(bookings, ({ date }) => date);
  const aheadBookings = new Set(findAheadBookings(byDate, today));
  const farBookings = findFarBookings(byDate, bookings.length).filter(
    (each) => !aheadBookings.has(each),
  );
  return [...askAboutAhead([...aheadBookings]), ...askAboutFar(farBookings)];
}

type BookingsByDate = ReadonlyMap<string, readonly Booking[]>;

/** Finds rows dated well after today in a file that also has earlier rows: they are planned, or their dates are mistyped. */
function findAheadBookings(byDate: BookingsByDate, today: string): readonly Booking[] {
  const latestDate = fromDayNumber(toDayNumber(today) + MAX_DAYS_AHEAD);
  if ([...byDate.keys()].every((date) => date > latestDate)) return [];
  return [...byDate].flatMap(([date, bookings]) => (date > latestDate ? bookings : []));
}

function askAboutAhead(aheadBookings: readonly Booking[]): readonly Question[] {
  if (aheadBookings.length === 0) return [];
  const message = `After today: ${showDates(aheadBookings)}. Rows that have not happened yet are not bookings: remove them from the file, correct their dates, choose --date-order, or import them with --as-it-is.`;
  return [{ topic: 'dates', message }];
}

/** Finds single bookings that are years from all others. */
function findFarBookings(byDate: BookingsByDate, rows: number): readonly Booking[] {
  if (rows < 3) return [];
  const days = [...byDate]
    .map(([date, bookings]) => ({ day: toDayNumber(date), bookings }))
    .toSorted((a, b) => a.day - b.day);
  const medianDay = findMedianDay(days, rows);
  const farDays = days.filter(({ day, bookings }, n) => {
    const gapBefore = day - (days[n - 1]?.day ?? Number.NEGATIVE_INFINITY);
    const gapAfter = (days[n + 1]?.day ?? Number.POSITIVE_INFINITY) - day;
    const isAlone = bookings.length === 1 && Math.min(gapBefore, gapAfter) > FAR_DAYS;
    return isAlone && Math.abs(day - medianDay) > FAR_DAYS;
  });
  return farDays.flatMap(({ bookings }) => bookings);
}

/** Finds the day of the median booking. */
function findMedianDay(
  days: readonly { readonly day: number; readonly bookings: readonly Booking[] }[],
  rows: number,
): number {
  let earlierCount = 0;
  for (const { day, bookings } of days) {
    earlierCount += bookings.length;
    if (earlierCount > Math.floor(rows / 2)) return day;
  }
  return 0;
}

function askAboutFar(farBookings: readonly Booking[]): readonly Question[] {
  if (farBookings.length === 0) return [];
  const message = `Far from all other dates: ${showDates(farBookings)}. Correct the file, choose --date-order, or import the rows with --as-it-is.`;
  return [{ topic: 'dates', message }];
}

function showDates(bookings: readonly Booking[]): string {
  const shownDates = bookings
    .slice(0, MAX_SHOWN)
    .map(({ date, line }) => `${date} in line ${line}`);
  return shownDates.join(', ');
}
