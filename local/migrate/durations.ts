// How long something took, or will take, as people say it.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function durationText(milliseconds: number): string {
  if (milliseconds < MINUTE_MS) return 'less than a minute';
  if (milliseconds < 2 * HOUR_MS) return passed(milliseconds / MINUTE_MS, 'minute');
  if (milliseconds < 2 * DAY_MS) return passed(milliseconds / HOUR_MS, 'hour');
  return passed(milliseconds / DAY_MS, 'day');
}

export function countText(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}

/** Whole ones. */
function passed(number: number, unit: string): string {
  return countText(Math.floor(number), unit);
}

/** To the second, as a person would type it. */
export function timeText(iso: string): string {
  return iso.replace(/\.\d{3}Z$/, 'Z');
}
