// Formats numbers, times and durations for people.
import prettyBytes from 'pretty-bytes';
import prettyMilliseconds from 'pretty-ms';
import type { Progress } from '../../../lib/migration/runs/run.ts';
import { toWords } from '../../../lib/shared/printable.ts';

const MINUTE_MS = 60_000;

/** Formats a duration in whole seconds below a minute, and in two units above */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return 'less than 1s';
  return prettyMilliseconds(milliseconds, {
    unitCount: milliseconds < MINUTE_MS ? 1 : 2,
    secondsDecimalDigits: 0,
  });
}

export function formatCount(count: number, unit: string): string {
  const units = /[^aeiou]y$/.test(unit) ? unit.replace(/y$/, 'ies') : `${unit}s`;
  return `${count.toLocaleString('en')} ${count === 1 ? unit : units}`;
}

/** @param by person or option that confirmed the action */
export function formatConfirmation(by: string, action: string): string {
  return `Confirmed by ${by}: ${action}.`;
}

/** Formats a time to the second */
export function formatTime(iso: string): string {
  return iso.replace('T', ' ').replace(/(\.\d{3})?Z$/, ' UTC');
}

/** Formats the time left, such as `18:03`, or `00:07` in the last minute */
export function formatTimeLeft(milliseconds: number): string {
  return prettyMilliseconds(Math.max(0, Math.floor(milliseconds / 1_000) * 1_000), {
    colonNotation: true,
  }).replace(/^(\d):/, '0$1:');
}

/** Work of a step that remains after its transfer is complete */
const WORK_AFTER_TRANSFER: Readonly<Record<string, string>> = {
  backup: 'testing the restore, then counting, then dumping the graph',
  copy: 'comparing both collections, then writing the report',
  rollback: 'comparing both collections, then switching back',
};

/** Formats progress, such as `12,400/30,000 41% 2,100/s ETA 8s`; a backup counts bytes */
export function formatProgress(step: string, { done, total, unit, perSecond }: Progress): string {
  const formatAmount =
    unit === 'bytes' ? prettyBytes : (points: number) => points.toLocaleString('en');
  const percent = total > 0 ? Math.min(100, Math.floor((done / total) * 100)) : 0;
  const rate = perSecond ? [`${formatAmount(Math.round(perSecond))}/s`] : [];
  const eta =
    perSecond && done < total
      ? [`ETA ${formatDuration(((total - done) / perSecond) * 1_000)}`]
      : [];
  const remainingWork = total > 0 && done >= total ? WORK_AFTER_TRANSFER[step] : undefined;
  const line = [`${formatAmount(done)}/${formatAmount(total)} ${percent}%`, ...rate, ...eta].join(
    ' ',
  );
  return remainingWork ? `${line}; now ${remainingWork}` : line;
}

/** Writes one line for each fact, such as `lost writes: at least 3, exactly unknown` */
export function formatFacts(facts: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(facts).map(([name, value]) => `${toWords(name)}: ${formatFact(value)}`);
}

function formatFact(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  if (Array.isArray(value)) return value.map(formatFact).join('; ') || 'nothing';
  if (typeof value !== 'object' || value === null) return String(value);
  const parts = Object.entries(value).map(([name, part]) => `${toWords(name)} ${formatFact(part)}`);
  return parts.join(', ');
}
