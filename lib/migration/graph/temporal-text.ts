// Dates and times of a graph as ISO 8601 text and back, by their parts: no JavaScript Date could hold their
// nanoseconds, their years or their sub-minute offsets.

export interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

export interface TimeParts {
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
}

export interface OffsetTimeParts extends TimeParts {
  readonly offsetSeconds: number;
}

export interface DateTimeParts extends DateParts, TimeParts {}

/** The offset stands beside the zone because the zone alone leaves the repeated hour of autumn open. */
export interface ZonedDateTimeParts extends DateTimeParts {
  readonly offsetSeconds: number;
  readonly zone: string | undefined;
}

const DATE = String.raw`([+-]\d{4,9}|\d{4})-(\d\d)-(\d\d)`;
const TIME = String.raw`(\d\d):(\d\d):(\d\d)(?:\.(\d{9}))?`;
const OFFSET = String.raw`([+-][01]\d:[0-5]\d(?::[0-5]\d)?)`;
const ZONE = String.raw`(?:\[([\w+/-]+)\])?`;

const PATTERNS = {
  date: new RegExp(`^${DATE}$`),
  time: new RegExp(`^${TIME}$`),
  offsetTime: new RegExp(`^${TIME}${OFFSET}$`),
  dateTime: new RegExp(`^${DATE}T${TIME}$`),
  zonedDateTime: new RegExp(`^${DATE}T${TIME}${OFFSET}${ZONE}$`),
};

export function formatDate({ year, month, day }: DateParts): string {
  return `${formatYear(year)}-${digits(month, 2)}-${digits(day, 2)}`;
}

export function formatTime({ hour, minute, second, nanosecond }: TimeParts): string {
  const fraction = nanosecond === 0 ? '' : `.${digits(nanosecond, 9)}`;
  return `${digits(hour, 2)}:${digits(minute, 2)}:${digits(second, 2)}${fraction}`;
}

export function formatOffsetTime(parts: OffsetTimeParts): string {
  return formatTime(parts) + formatOffset(parts.offsetSeconds);
}

export function formatDateTime(parts: DateTimeParts): string {
  return `${formatDate(parts)}T${formatTime(parts)}`;
}

export function formatZonedDateTime(parts: ZonedDateTimeParts): string {
  const zone = parts.zone === undefined ? '' : `[${parts.zone}]`;
  return formatDateTime(parts) + formatOffset(parts.offsetSeconds) + zone;
}

export function parseDate(text: string): DateParts | undefined {
  const groups = PATTERNS.date.exec(text);
  return groups ? dateParts(groups, 1) : undefined;
}

export function parseTime(text: string): TimeParts | undefined {
  const groups = PATTERNS.time.exec(text);
  return groups ? timeParts(groups, 1) : undefined;
}

export function parseOffsetTime(text: string): OffsetTimeParts | undefined {
  const groups = PATTERNS.offsetTime.exec(text);
  const time = groups && timeParts(groups, 1);
  return time ? { ...time, offsetSeconds: offsetSeconds(groups[5] ?? '') } : undefined;
}

export function parseDateTime(text: string): DateTimeParts | undefined {
  const groups = PATTERNS.dateTime.exec(text);
  return groups ? dateTimeParts(groups) : undefined;
}

export function parseZonedDateTime(text: string): ZonedDateTimeParts | undefined {
  const groups = PATTERNS.zonedDateTime.exec(text);
  const local = groups && dateTimeParts(groups);
  if (!local || !isZone(groups[9])) return undefined;
  return { ...local, offsetSeconds: offsetSeconds(groups[8] ?? ''), zone: groups[9] };
}

function dateTimeParts(groups: RegExpExecArray): DateTimeParts | undefined {
  const date = dateParts(groups, 1);
  const time = timeParts(groups, 4);
  return date && time ? { ...date, ...time } : undefined;
}

function dateParts(groups: RegExpExecArray, from: number): DateParts | undefined {
  const [year, month, day] = [0, 1, 2].map((at) => Number(groups[from + at]));
  if (year === undefined || month === undefined || day === undefined) return undefined;
  return day >= 1 && day <= daysInMonth(year, month) ? { year, month, day } : undefined;
}

function timeParts(groups: RegExpExecArray, from: number): TimeParts | undefined {
  const [hour = 0, minute = 0, second = 0] = [0, 1, 2].map((at) => Number(groups[from + at]));
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return { hour, minute, second, nanosecond: Number(groups[from + 3] ?? 0) };
}

const knownZones = new Set<string | undefined>([undefined]);

function isZone(zone: string | undefined): boolean {
  if (knownZones.has(zone)) return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    return false;
  }
  knownZones.add(zone);
  return true;
}

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

function formatYear(year: number): string {
  if (year > 9999) return `+${year}`;
  return year < 0 ? `-${digits(-year, 4)}` : digits(year, 4);
}

function formatOffset(seconds: number): string {
  const sign = seconds < 0 ? '-' : '+';
  const distance = Math.abs(seconds);
  const [hours, minutes, rest] = [distance / 3600, (distance / 60) % 60, distance % 60].map(
    Math.floor,
  );
  const text = `${sign}${digits(hours ?? 0, 2)}:${digits(minutes ?? 0, 2)}`;
  return rest ? `${text}:${digits(rest, 2)}` : text;
}

function offsetSeconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.slice(1).split(':').map(Number);
  const distance = hours * 3600 + minutes * 60 + seconds;
  return text.startsWith('-') && distance > 0 ? -distance : distance;
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
