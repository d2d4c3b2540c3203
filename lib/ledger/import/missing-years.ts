// Adds the year to dates without one, as on card statements. The year follows from the statement's period, or from the full dates
// above and below, if only one year fits.
import { isCalendarDate, yearOf } from '../domain/calendar-date.ts';
import type { TableRow } from './csv-text.ts';
import { type DateOptions, type DateReader, NO_YEAR, readDates } from './dates.ts';
import { pluralize } from './entry.ts';

export interface Period {
  readonly first: string;
  readonly last: string;
}

const FULL_DATE =
  /(?<!\d)(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}\.? \p{L}{3,12} \d{4}|\p{L}{3,12} \d{1,2}, \d{4})(?!\d)/gu;
/** Only the beginning of a line is searched, because the line with the period is short. */
const MAX_LINE_LENGTH = 500;

/** Finds the statement's period in the only line that has two dates, such as "Period: 01.12.2025 - 31.12.2025". */
export function findPeriod(lines: readonly TableRow[], options: DateOptions): Period | undefined {
  const periods = lines
    .map(({ cells }) => cells.join(' ').slice(0, MAX_LINE_LENGTH).match(FULL_DATE) ?? [])
    .filter((dates) => dates.length === 2);
  const [dates = []] = periods;
  if (periods.length !== 1) return undefined;
  try {
    const { read } = readDates(dates, { ...options, chosenOrder: undefined });
    return toPeriod(dates.map(read));
  } catch {
    // The order of day, month and year is ambiguous, or no order fits.
    return undefined;
  }
}

/**
 * @param texts the dates of all rows, in the order of the file
 * @returns each row's date with the year added; undefined if the date already has a year, or if no year or several years fit
 */
export function completeDates(
  texts: readonly string[],
  { read }: DateReader,
  findStatedPeriod: () => Period | undefined,
): readonly (string | undefined)[] {
  if (!texts.some((text) => NO_YEAR.test(text))) return [];
  const statedPeriod = findStatedPeriod();
  const fullDates = texts.map((text) => tryRead(text, read));
  const areDatesOrdered = isSorted(fullDates.flatMap((date) => date ?? []));
  const datesAbove = carryDown(fullDates);
  const datesBelow = carryDown(fullDates.toReversed()).toReversed();
  return texts.map((text, n) => {
    const surroundingDates = [datesAbove[n] ?? [], datesBelow[n] ?? []].flat();
    const period =
      statedPeriod ??
      (areDatesOrdered && surroundingDates.length === 2 ? toPeriod(surroundingDates) : undefined);
    return period && addYear(text, period);
  });
}

/** Tells the user how the missing years were found. */
export function describeCompleted(dates: readonly (string | undefined)[]): readonly string[] {
  const count = dates.filter((date) => date !== undefined).length;
  if (count === 0) return [];
  return [
    `${pluralize(count, 'date')} without a year: the year follows from the statement's period, or from the dates above and below`,
  ];
}

/** @returns the only date in the period that the text can mean; undefined if there is none or more than one */
function addYear(text: string, { first, last }: Period): string | undefined {
  const [, firstNumber = '', secondNumber = ''] = NO_YEAR.exec(text) ?? [];
  const orders = text.includes('.')
    ? [[secondNumber, firstNumber]]
    : [
        [secondNumber, firstNumber],
        [firstNumber, secondNumber],
      ];
  const dates = orders.flatMap(([month = '', day = '']) =>
    [yearOf(first), yearOf(last)].map(
      (year) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
    ),
  );
  const fittingDates = dates.filter(
    (date) => isCalendarDate(date) && first <= date && date <= last,
  );
  // A period that spans three calendar years contains a whole one: any day fits that year.
  const isShortPeriod = Number(yearOf(last)) - Number(yearOf(first)) <= 1;
  const [onlyDate, ...otherDates] = new Set(fittingDates);
  return isShortPeriod && otherDates.length === 0 ? onlyDate : undefined;
}

function tryRead(text: string, read: DateReader['read']): string | undefined {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

function toPeriod(dates: readonly string[]): Period {
  const sorted = dates.toSorted();
  return { first: sorted[0] ?? '', last: sorted.at(-1) ?? '' };
}

function isSorted(dates: readonly string[]): boolean {
  const ascending = dates.toSorted();
  const isSame = (otherDates: readonly string[]) =>
    dates.every((date, n) => date === otherDates[n]);
  return isSame(ascending) || isSame(ascending.toReversed());
}

/** Lists the nearest date at or above each row. */
function carryDown(dates: readonly (string | undefined)[]): readonly (string | undefined)[] {
  let lastDate: string | undefined;
  return dates.map((date) => {
    lastDate = date ?? lastDate;
    return lastDate;
  });
}
