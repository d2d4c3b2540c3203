// Finds split bookings. Some exports contain such a booking twice: whole, with "Split" as its category, and in parts below it.
import type { Booking } from './booking.ts';

const SPLIT_CATEGORY = /^[-–\s[(]*(?:splits?|split transaction|aufgeteilt)[-–\s\])]*$/i;
const MAX_PARTS = 30;

/** Finds bookings whose parts follow: rows of the same date that add up to the amount. */
export function findSplitBookings(bookings: readonly Booking[]): ReadonlySet<Booking> {
  return new Set(
    bookings.filter((booking, n) => {
      const isNamedSplit = booking.category !== null && SPLIT_CATEGORY.test(booking.category);
      return isNamedSplit && isSum(booking, bookings.slice(n + 1, n + 1 + MAX_PARTS));
    }),
  );
}

function isSum(total: Booking, followingBookings: readonly Booking[]): boolean {
  let cents = 0;
  for (const [n, { date, signed }] of followingBookings.entries()) {
    if (date !== total.date) return false;
    cents += Math.round(signed * 100);
    if (n > 0 && cents === Math.round(total.signed * 100)) return true;
  }
  return false;
}
