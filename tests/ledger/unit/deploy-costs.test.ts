// The costs in docs/ledger/deploy.md follow from its prices and from the units that tests/ledger/contract/capacity.full.test.ts measures.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { OPERATIONS_BY_ROUTE } from '../../../lib/ledger/http/operations.ts';
import table from '../../../lib/shared/table.json' with { type: 'json' };
import { LARGE_REQUESTS } from '../../../serverless/gateway.ts';
import {
  MAX_SEARCHING_LIST_UNITS,
  MOST_UNITS,
  REQUEST_UNITS,
  type Units,
} from '../support/request-units.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DOCUMENT = readFileSync(join(ROOT, 'docs/ledger/deploy.md'), 'utf8');
const SECONDS_PER_MONTH = 30 * 86_400;

/** Cells of the table row that begins with a label. */
function row(label: string): string[] {
  const line = DOCUMENT.split('\n').find((each) => each.startsWith(`| ${label} |`));
  if (!line) throw new Error(`docs/ledger/deploy.md has no row "${label}"`);
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => cell.trim());
}

function price(label: string): number {
  return Number(row(label)[0]);
}

/** A million requests. Those of many rows take longer than those of one. */
function estimateCost({ read, write }: Units, seconds = 0.05): number {
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
  'list with `q` or `import_id`': 0.3,
  'part of an export': 1,
  // 2 s of twice the memory.
  search: 4,
};

describe('a million requests', () => {
  it.each(Object.entries({ ...MOST_UNITS, ...REQUEST_UNITS }))('%s', (name, units) => {
    const cost = estimateCost(units, SECONDS[name]).toFixed(2);
    expect(row(name)).toEqual([String(units.read), String(units.write), cost]);
  });
});

const { params } = parse(readFileSync(join(ROOT, 'serverless.yml'), 'utf8'));
const INDEXES = table.GlobalSecondaryIndexes.length;
// The maximum throughput is that of the table and of each index. A new row is one unit in each index.
const CREATE = create.write - INDEXES;
// An update to another category takes a row out of two indexes and puts it in again.
const INDEX_UNITS = { create: 100 * INDEXES, update: 400, delete: 100 * INDEXES };
const BULK = {
  create: REQUEST_UNITS['bulk create of 100'],
  update: REQUEST_UNITS['bulk update of 100, to another category'],
  delete: REQUEST_UNITS['bulk delete of 100'],
};
const BULK_WRITES = Object.entries(INDEX_UNITS).map(
  ([kind, units]) => BULK[kind as keyof typeof BULK].write - units,
);
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe('a month at the throttle', () => {
  // The maximum throughput is that of the table and of each index.
  const parts = 1 + INDEXES;

  it.each(['dev', 'prod'])('%s', (stage) => {
    const { throttleRate, maxReadUnits, maxWriteUnits } = params[stage];
    const millions = (throttleRate * SECONDS_PER_MONTH) / 1e6;
    const units =
      maxReadUnits * price('DynamoDB, per million read units') +
      maxWriteUnits * price('DynamoDB, per million write units');
    const most =
      millions * estimateCost({ read: 0, write: 0 }, 1) + (parts * units * SECONDS_PER_MONTH) / 1e6;
    const costs = [millions * estimateCost(MOST_UNITS.list), millions * estimateCost(create), most];
    expect(row(stage)).toEqual([throttleRate, ...costs.map(Math.round)].map(String));
  });
});

describe('the maximum throughput of the table is enough for', () => {
  it.each(['dev', 'prod'])('every request at the throttle of its kind: %s', (stage) => {
    const { throttleRate, bulkRate, searchRate, maxReadUnits, maxWriteUnits } = params[stage];
    // Each route has a second form, with a slash at its end, and a throttle of its own.
    const bulk = 2 * bulkRate;
    const searches = 2 * searchRate;
    const reads = [MOST_UNITS['part of an export'], ...Object.values(BULK)].map(({ read }) => read);
    const most = throttleRate * CREATE + bulk * sum(BULK_WRITES);
    expect(most).toBeLessThanOrEqual(maxWriteUnits);
    expect(
      throttleRate * MOST_UNITS.list.read + bulk * sum(reads) + searches * MOST_UNITS.search.read,
    ).toBeLessThanOrEqual(maxReadUnits);
    expect(limits(stage)).toEqual([
      ...[throttleRate, CREATE, throttleRate * CREATE],
      ...[bulk, ...BULK_WRITES, bulk * sum(BULK_WRITES), most, maxWriteUnits],
    ]);
  });

  /** Reads the numbers in the sentence about a stage. */
  function limits(stage: string): number[] {
    const [, sentence = ''] = new RegExp(`^- \\*${stage}\\*: (.*)$`, 'm').exec(DOCUMENT) ?? [];
    return [...sentence.replaceAll(',', '').matchAll(/\d+/g)].map(([number]) => Number(number));
  }
});

describe('lists that search, on the route of lists, and how many reach the maximum throughput of an index', () => {
  it.each(['dev', 'prod'])('%s', (stage) => {
    const prices = [MOST_UNITS['list with `q` or `import_id`'].read, MAX_SEARCHING_LIST_UNITS];
    const perSecond = prices.map((units) => Math.floor(params[stage].maxReadUnits / units));
    expect(row(`${stage}, lists that search`)).toEqual(perSecond.map(String));
    for (const units of prices) expect(DOCUMENT).toContain(` ${units.toLocaleString('en')}`);
  });
});

describe('a flood of keys that are random, which no function remembers', () => {
  it.each(['dev', 'prod'])('%s', (stage) => {
    const { throttleRate, maxReadUnits } = params[stage];
    const routes = Object.entries(OPERATIONS_BY_ROUTE).filter(([, { isPublic }]) => !isPublic);
    const rates = routes.map(
      ([route]) => params[stage][LARGE_REQUESTS[route] ?? ''] ?? throttleRate,
    );
    // With and without a slash at its end.
    const flood = 2 * sum(rates);
    const share = Math.round((100 * flood) / maxReadUnits);
    const month = (flood * SECONDS_PER_MONTH * estimateCost({ read: 1, write: 0 })) / 1e6;
    expect(row(`${stage}, wrong keys`)).toEqual([
      flood.toLocaleString('en'),
      `${share} %`,
      Math.round(month).toLocaleString('en'),
    ]);
  });
});

describe('a thousand households, and more of them', () => {
  const REQUESTS_A_MONTH = 3_000;
  const PEAK = 10;
  const WRITES = 0.2;
  const SECONDS_OF_A_REQUEST = 0.05;
  const { throttleRate, maxReadUnits, maxWriteUnits } = params.prod;

  it.each([1, 10, 100, 1_000])('%i times', (times) => {
    const households = 1_000 * times;
    const rate = Math.ceil((households * REQUESTS_A_MONTH * PEAK) / SECONDS_PER_MONTH);
    const read = Math.round(rate * (1 - WRITES) * MOST_UNITS.list.read);
    const write = Math.round(rate * WRITES * CREATE);
    const atOnce = Math.ceil(rate * SECONDS_OF_A_REQUEST);
    // In the order in which they are met; AWS's are the default quotas of an account.
    const reached = Object.entries({
      throttleRate: rate > throttleRate,
      maxReadUnits: read > maxReadUnits,
      maxWriteUnits: write > maxWriteUnits,
      'API Gateway': rate > 10_000,
      Lambda: atOnce > 1_000,
      DynamoDB: Math.max(read, write) > 40_000,
    })
      .filter(([, isReached]) => isReached)
      .map(([name]) => name);
    const [peak, reads, writes, invocations, limit = ''] = row(households.toLocaleString('en'));
    expect([peak, reads, writes, invocations]).toEqual(
      [rate, read, write, atOnce].map((n) => n.toLocaleString('en')),
    );
    expect(reached.filter((name) => !limit.includes(name))).toEqual([]);
    expect(reached.length === 0).toBe(limit.startsWith('none'));
  });
});
