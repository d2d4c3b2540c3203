// The costs in docs/deploy.md follow from its prices and from the units that tests/contract/capacity.full.test.ts measures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LIST_READ_UNITS, WRITE_UNITS } from '../support/request-units.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/deploy.md'), 'utf8');
const SECONDS_PER_MONTH = 30 * 86_400;

/** Cells of the table row that begins with a label. */
function row(label: string): string[] {
  const line = DOCUMENT.split('\n').find((each) => each.startsWith(`| ${label} |`));
  if (!line) throw new Error(`docs/deploy.md has no row "${label}"`);
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

function price(label: string): number {
  return Number(row(label)[0]);
}

const perMillion =
  price('HTTP API, per million requests') +
  price('Lambda, per million requests') +
  1e6 * 0.05 * 0.5 * price('Lambda on arm64, per GB-second') +
  1.2 * price('CloudWatch Logs, per GB written');

function costOf({ read = 0, write = 0 }: { read?: number; write?: number }): number {
  const units =
    read * price('DynamoDB, per million read units') +
    write * price('DynamoDB, per million write units');
  return units + perMillion;
}

const REQUESTS = [
  ['list', { read: LIST_READ_UNITS }],
  ['create', { write: WRITE_UNITS.create }],
  ['delete', { write: WRITE_UNITS.delete }],
  ['update of notes', { write: WRITE_UNITS.updateOfNotes }],
] as const;

describe('a million requests', () => {
  it.each(REQUESTS)('%s', (name, units: { read?: number; write?: number }) => {
    const [read, write, cost] = row(name);
    expect([Number(read), Number(write)]).toEqual([units.read ?? 0, units.write ?? 0]);
    expect(cost).toBe(costOf(units).toFixed(2));
  });
});

describe('a month at the throttle', () => {
  const { params } = parse(readFileSync(join(ROOT, 'serverless.yml'), 'utf8'));

  it.each(['dev', 'prod'])('%s', (stage) => {
    const rate = params[stage].throttleRate;
    const millions = (rate * SECONDS_PER_MONTH) / 1e6;
    const [stated, lists, creates] = row(stage);
    expect(Number(stated)).toBe(rate);
    expect(lists).toBe(String(Math.round(millions * costOf({ read: LIST_READ_UNITS }))));
    expect(creates).toBe(String(Math.round(millions * costOf({ write: WRITE_UNITS.create }))));
  });

  it.each(['dev', 'prod'])('stays below the maximum throughput of the table: %s', (stage) => {
    const { throttleRate, maxReadUnits, maxWriteUnits } = params[stage];
    expect(maxReadUnits).toBeGreaterThanOrEqual(throttleRate * LIST_READ_UNITS);
    expect(maxWriteUnits).toBeGreaterThanOrEqual(throttleRate * WRITE_UNITS.create);
  });
});
