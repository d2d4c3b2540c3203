// Asks about entries dated far from all others or well after today: a mistyped year hides an entry from its owner.
import { fromDayNumber, toDayNumber } from '../domain/calendar-date.ts';
import type { Entry, Question } from './entry.ts';

/** Two years, in days. */
const FAR_DAYS = 731;
/** Days that a date may be ahead of today: a value date often is. */
const MAX_DAYS_AHEAD = 31;
const MAX_SHOWN = 5;

/** @param today `YYYY-MM-DD` */
export function askAboutDates(entries: readonly Entry[], today: string): readonly Question[] {
  const byDate = Map.groupBy(entries, ({ date }) => date);
  const aheadEntries = new Set(findAheadEntries(byDate, today));
  const farEntries = findFarEntries(byDate, entries.length).filter(
    (each) => !aheadEntries.has(each),
  );
  return [...askAboutAhead([...aheadEntries]), ...askAboutFar(farEntries)];
}

type EntriesByDate = ReadonlyMap<string, readonly Entry[]>;

/** Finds rows dated well after today in a file that also has earlier rows: they are planned, or their dates are mistyped. */
function findAheadEntries(byDate: EntriesByDate, today: string): readonly Entry[] {
  const latestDate = fromDayNumber(toDayNumber(today) + MAX_DAYS_AHEAD);
  if ([...byDate.keys()].every((date) => date > latestDate)) return [];
  return [...byDate].flatMap(([date, entries]) => (date > latestDate ? entries : []));
}

function askAboutAhead(aheadEntries: readonly Entry[]): readonly Question[] {
  if (aheadEntries.length === 0) return [];
  const message = `After today: ${showDates(aheadEntries)}. Rows that have not happened yet are not transactions: remove them from the file, correct their dates, choose --date-order, or import them with --as-it-is.`;
  return [{ topic: 'dates', message }];
}

/** Finds single entries that are years from all others. */
function findFarEntries(byDate: EntriesByDate, rows: number): readonly Entry[] {
  if (rows < 3) return [];
  const days = [...byDate]
    .map(([date, entries]) => ({ day: toDayNumber(date), entries }))
    .toSorted((a, b) => a.day - b.day);
  const medianDay = findMedianDay(days, rows);
  const farDays = days.filter(({ day, entries }, n) => {
    const gapBefore = day - (days[n - 1]?.day ?? Number.NEGATIVE_INFINITY);
    const gapAfter = (days[n + 1]?.day ?? Number.POSITIVE_INFINITY) - day;
    const isAlone = entries.length === 1 && Math.min(gapBefore, gapAfter) > FAR_DAYS;
    return isAlone && Math.abs(day - medianDay) > FAR_DAYS;
  });
  return farDays.flatMap(({ entries }) => entries);
}

/** Finds the day of the median entry. */
function findMedianDay(
  days: readonly { readonly day: number; readonly entries: readonly Entry[] }[],
  rows: number,
): number {
  let earlierCount = 0;
  for (const { day, entries } of days) {
    earlierCount += entries.length;
    if (earlierCount > Math.floor(rows / 2)) return day;
  }
  return 0;
}

function askAboutFar(farEntries: readonly Entry[]): readonly Question[] {
  if (farEntries.length === 0) return [];
  const message = `Far from all other dates: ${showDates(farEntries)}. Correct the file, choose --date-order, or import the rows with --as-it-is.`;
  return [{ topic: 'dates', message }];
}

function showDates(entries: readonly Entry[]): string {
  const shownDates = entries.slice(0, MAX_SHOWN).map(({ date, line }) => `${date} in line ${line}`);
  return shownDates.join(', ');
}
