// Dates, times and durations as the Neo4j driver has them, to tagged values and back.
import {
  DateTime,
  Date as Day,
  Duration,
  type Integer,
  int,
  LocalDateTime,
  LocalTime,
  Time,
} from 'neo4j-driver';
import { invalidValue, type TagContents, type Tagged } from '../graph/tagged-values.ts';
import {
  type DateParts,
  formatDate,
  formatDateTime,
  formatOffsetTime,
  formatTime,
  formatZonedDateTime,
  parseDate,
  parseDateTime,
  parseOffsetTime,
  parseTime,
  parseZonedDateTime,
  type TimeParts,
} from '../graph/temporal-text.ts';

type Whole = Integer | number | bigint;
type Parts<Names extends string> = { readonly [Name in Names]: Whole };

/** Undefined for what is neither a date nor a time nor a duration. */
export function encodeTemporal(value: object): Tagged | undefined {
  if (value instanceof Day) return { $date: formatDate(dateParts(value)) };
  if (value instanceof LocalTime) return { $ltime: formatTime(timeParts(value)) };
  if (value instanceof Time) {
    const offsetSeconds = Number(value.timeZoneOffsetSeconds);
    return { $time: formatOffsetTime({ ...timeParts(value), offsetSeconds }) };
  }
  if (value instanceof LocalDateTime) {
    return { $ldt: formatDateTime({ ...dateParts(value), ...timeParts(value) }) };
  }
  if (value instanceof DateTime) return { $dt: zonedText(value) };
  if (value instanceof Duration) {
    const { months, days, seconds, nanoseconds } = value;
    return { $dur: [`${months}`, `${days}`, `${seconds}`, `${nanoseconds}`] };
  }
  return undefined;
}

export const decodeTemporal = {
  $date: (text: string) => {
    const { year, month, day } = parsed(parseDate(text), text);
    return new Day(int(year), int(month), int(day));
  },
  $ltime: (text: string) => new LocalTime(...timeFields(parsed(parseTime(text), text))),
  $time: (text: string) => {
    const parts = parsed(parseOffsetTime(text), text);
    return new Time(...timeFields(parts), int(parts.offsetSeconds));
  },
  $ldt: (text: string) => new LocalDateTime(...dateTimeFields(parsed(parseDateTime(text), text))),
  $dt: (text: string) => {
    const parts = parsed(parseZonedDateTime(text), text);
    return new DateTime(...dateTimeFields(parts), int(parts.offsetSeconds), parts.zone ?? null);
  },
  $dur: ([months, days, seconds, nanoseconds]: TagContents['$dur']) =>
    new Duration(int(months), int(days), int(seconds), int(nanoseconds)),
};

function zonedText(value: DateTime): string {
  const { timeZoneOffsetSeconds: offset, timeZoneId } = value;
  // Servers before 5 speak a protocol without it: the repeated hour of autumn could be either one.
  if (offset === undefined || offset === null) {
    throw invalidValue('A date-time came without its offset from UTC');
  }
  const local = { ...dateParts(value), ...timeParts(value) };
  const zone = timeZoneId ?? undefined;
  return formatZonedDateTime({ ...local, offsetSeconds: Number(offset), zone });
}

function dateParts({ year, month, day }: Parts<keyof DateParts>): DateParts {
  return { year: Number(year), month: Number(month), day: Number(day) };
}

function timeParts({ hour, minute, second, nanosecond }: Parts<keyof TimeParts>): TimeParts {
  return {
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    nanosecond: Number(nanosecond),
  };
}

function timeFields({ hour, minute, second, nanosecond }: TimeParts) {
  return [int(hour), int(minute), int(second), int(nanosecond)] as const;
}

function dateTimeFields(parts: DateParts & TimeParts) {
  return [int(parts.year), int(parts.month), int(parts.day), ...timeFields(parts)] as const;
}

function parsed<Result>(parts: Result | undefined, text: string): Result {
  if (parts === undefined) throw invalidValue(`"${text}" is no date or time`);
  return parts;
}
