// The costs in docs/deploy.md follow from its prices and from the units that tests/contract/capacity.full.test.ts measures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import table from '../../lib/store/table.json' with { type: 'json' };
import { MOST_UNITS, REQUEST_UNITS, type Units } from '../support/request-units.ts';

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

/** A million requests. Those of many rows take longer than those of one. */
function costOf({ read, write }: Units, seconds = 0.05): number {
  const perMillion =
    price('HTTP API, per million requests') +
    price('Lambda, per million requests') +
    1e6 * seconds * 0.5 * price('Lambda on arm64, per GB-second') +
    1.2 * price('CloudWatch Logs, per GB written');
  const units =
    read * price('DynamoDB, per million read units') +
    write * price('DynamoDB, per million write units');
  return units + perMillion;
}

const { create } = REQUEST_UNITS;
const SECONDS: Readonly<Record<string, number>> = {
  'bulk create of 100': 1,
  'bulk update of 100, of their notes': 1,
  'bulk update of 100, to another category': 1,
  'bulk delete of 100': 1,
  'part of an export': 1,
};

describe('a million requests', () => {
  it.each(Object.entries({ ...MOST_UNITS, ...REQUEST_UNITS }))('%s', (name, units) => {
    const cost = costOf(units, SECONDS[name]).toFixed(2);
    expect(row(name)).toEqual([String(units.read), String(units.write), cost]);
  });
});

describe('a month at the throttle', () => {
  const { params } = parse(readFileSync(join(ROOT, 'serverless.yml'), 'utf8'));
  // The maximum throughput is that of the table and of each index.
  const parts = 1 + table.GlobalSecondaryIndexes.length;

  it.each(['dev', 'prod'])('%s', (stage) => {
    const { throttleRate, maxReadUnits, maxWriteUnits } = params[stage];
    const millions = (throttleRate * SECONDS_PER_MONTH) / 1e6;
    const units =
      maxReadUnits * price('DynamoDB, per million read units') +
      maxWriteUnits * price('DynamoDB, per million write units');
    const most =
      millions * costOf({ read: 0, write: 0 }, 1) + (parts * units * SECONDS_PER_MONTH) / 1e6;
    const costs = [millions * costOf(MOST_UNITS.list), millions * costOf(create), most];
    expect(row(stage)).toEqual([throttleRate, ...costs.map(Math.round)].map(String));
  });

  it.each(['dev', 'prod'])('stays below the maximum throughput of the table: %s', (stage) => {
    const { throttleRate, maxReadUnits, maxWriteUnits } = params[stage];
    expect(maxReadUnits).toBeGreaterThanOrEqual(throttleRate * MOST_UNITS.list.read);
    expect(maxWriteUnits).toBeGreaterThanOrEqual(throttleRate * create.write);
  });
});
