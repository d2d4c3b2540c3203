// Costs and limits of the packaged stages, and the data that they are computed from.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  MAX_PAGES_KB,
  PRICES,
  QUOTAS,
  REQUEST_SHAPES,
} from '../../../bench/ledger/costs/assumptions.ts';
import {
  type BilledKind,
  billBackups,
  billHouseholds,
  billRequests,
  billWithKey,
  billWithoutKey,
  billWrongKeys,
  countKeyReads,
  sum,
  sumBill,
  UNITS,
} from '../../../bench/ledger/costs/bills.ts';
import { countUnits, fillCosts } from '../../../bench/ledger/costs/sections.ts';
import { readStageLimits } from '../../../bench/ledger/costs/stage-limits.ts';
import { MAX_KB } from '../../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { toTransactionJson } from '../../../lib/ledger/http/transaction-json.ts';
import { readTemplate, STAGES } from '../../shared/support/packaged-template.ts';

const PROJECT = join(import.meta.dirname, '../../..');
const SECONDS_PER_MONTH = 30 * 86_400;
const ESCAPED = '\u0001';

const { params } = parse(readFileSync(join(PROJECT, 'serverless.yml'), 'utf8'));
const dev = readStageLimits(readTemplate('dev'));
const prod = readStageLimits(readTemplate('prod'));

it('docs/ledger/deploy.md has the figures of the packaged stages', () => {
  const document = readFileSync(join(PROJECT, 'docs/ledger/deploy.md'), 'utf8');
  const message = 'Write them: npm run bench -- costs';
  expect(fillCosts(document, { dev, prod }), message).toBe(document);
});

describe.each(STAGES)('the assumed limits of %s', (stage) => {
  const limits = stage === 'dev' ? dev : prod;
  const { throttleRate, maxReadUnits, maxWriteUnits } = params[stage];

  it('equal those of the template', () => {
    expect(limits).toMatchObject({ maxReadUnits, maxWriteUnits, indexes: 4 });
    const list = limits.routes.filter(({ route }) => route === 'GET /transactions');
    // The route has two forms, with and without a trailing slash.
    expect(list.map(({ rate }) => rate)).toEqual([throttleRate, throttleRate]);
  });

  // Otherwise one client could cause the requests of all others to be refused.
  it('allow enough throughput for clients that use both forms of each route', () => {
    const { read, write } = countUnits(limits);
    expect(2 * write).toBeLessThanOrEqual(maxWriteUnits);
    expect(2 * read).toBeLessThanOrEqual(maxReadUnits);
  });

  it.each(Object.keys(UNITS) as BilledKind[])(
    'keep the cost of %s at the limit of its route below the maximum',
    (kind) => {
      const { route } = REQUEST_SHAPES[kind];
      const rates = limits.routes.filter((each) => each.route === route).map(({ rate }) => rate);
      const millions = (sum(rates) * SECONDS_PER_MONTH) / 1e6;
      const cost = billRequests(limits, kind);
      const maximum = billWithKey(limits);
      for (const part of ['requests', 'functions', 'logs', 'sent'] as const)
        expect(millions * cost[part]).toBeLessThan(maximum[part]);
    },
  );

  it('make the cost without a key cover each part of the cost of a flood of wrong keys', () => {
    const [flood, maximum] = [billWrongKeys(limits), billWithoutKey(limits)];
    for (const part of Object.keys(flood) as (keyof typeof flood)[])
      expect(flood[part]).toBeLessThanOrEqual(maximum[part]);
    const withKey = limits.routes.filter(
      ({ route }) => ENDPOINTS_BY_ROUTE[route]?.isPublic !== true,
    );
    const rates = withKey
      .filter(({ route }) => route in ENDPOINTS_BY_ROUTE)
      .map(({ rate }) => rate);
    expect(countKeyReads(limits)).toBe(sum(rates));
  });
});

describe('the cost of backups', () => {
  // The plan keeps 14 daily backups, and monthly backups for a year: 30 days in warm storage, the remaining time in cold storage.
  it('follows the backup plan', () => {
    expect(dev.backups).toEqual({ warm: 0, cold: 0, created: 0 });
    expect(prod.backups.warm).toBe(14 + 1);
    expect(prod.backups.cold).toBeCloseTo((365 - 30) / 30);
    expect(prod.backups.created).toBe(30 + 1);
  });

  it('counts each copy of the table', () => {
    const { kept, toAnotherRegion } = billBackups({ warm: 3, cold: 2, created: 5 });
    expect(kept).toBeCloseTo(3 * PRICES.backup.usd + 2 * PRICES.coldBackup.usd);
    expect(toAnotherRegion).toBeCloseTo(5 * PRICES.betweenRegions.usd);
  });

  it('cannot be computed for a schedule that is neither daily nor monthly', () => {
    const rule = { ScheduleExpression: 'rate(7 days)', Lifecycle: { DeleteAfterDays: 7 } };
    const BackupPlan = { BackupPlanRule: [rule] };
    const weekly = { Type: 'AWS::Backup::BackupPlan', Properties: { BackupPlan } };
    const template = readTemplate('dev');
    expect(() =>
      readStageLimits({ Resources: { ...template.Resources, BackupPlan: weekly } }),
    ).toThrow('The schedule rate(7 days) is neither daily nor monthly');
  });
});

describe('the maximum cost of a stage', () => {
  const doubleRoute = (route: string) => ({
    ...prod,
    routes: [...prod.routes, ...prod.routes.filter((each) => each.route === route)],
  });

  it.each([...new Set(prod.routes.map(({ route }) => route))])('grows with a route %s', (route) => {
    for (const bill of [billWithKey, billWithoutKey]) {
      const [before, after] = [bill(prod), bill(doubleRoute(route))];
      for (const part of ['requests', 'logs', 'sent'] as const)
        expect(after[part]).toBeGreaterThan(before[part]);
    }
  });

  it('is bounded by the concurrent invocations of an account', () => {
    const requests = sum(prod.routes.map(({ rate }) => rate)) * SECONDS_PER_MONTH;
    const computeCost = billWithKey(prod).functions - (requests * PRICES.invocation.usd) / 1e6;
    const gigabytes = computeCost / PRICES.gigabyteSecond.usd / SECONDS_PER_MONTH;
    // Most functions have half a GB.
    expect(gigabytes).toBeGreaterThan(QUOTAS.invocations.limit / 2);
    expect(gigabytes).toBeLessThan(QUOTAS.invocations.limit);
  });

  it('cannot be computed for a route without an assumption', () => {
    const newRoute = { route: 'GET /new', rate: 1, memoryGb: 1, timeoutSeconds: 1 };
    const withNewRoute = { ...prod, routes: [...prod.routes, newRoute] };
    expect(() => billWithKey(withNewRoute)).toThrow('GET /new');
  });

  it('has no assumption about a route that does not exist', () => {
    const routes = new Set(prod.routes.map(({ route }) => route));
    expect(Object.keys(MAX_PAGES_KB).filter((route) => !routes.has(route))).toEqual([]);
  });
});

it('the largest row has the assumed size', () => {
  const row = toTransactionJson({
    id: Number.MAX_SAFE_INTEGER,
    description: `x${ESCAPED.repeat(999)}`,
    amount: -9_999_999_999.99,
    type: 'expense',
    categoryId: Number.MAX_SAFE_INTEGER,
    categoryName: `x${ESCAPED.repeat(254)}`,
    date: '2026-01-01',
    notes: ESCAPED.repeat(5_000),
    externalId: ESCAPED.repeat(128),
    importId: '\u{1f600}'.repeat(64),
    createdAt: 0,
    updatedAt: 0,
    version: 1,
  });
  const kilobytes = Buffer.byteLength(JSON.stringify(row)) / 1_000;
  expect(kilobytes).toBeLessThanOrEqual(MAX_KB.row);
  expect(kilobytes).toBeGreaterThan(0.9 * MAX_KB.row);
});

describe('the cost of households', () => {
  const bill = (households: number) => billHouseholds(prod, { households, storedRowKb: 2 });

  it('is proportional to their number', () => {
    expect(sumBill(bill(100_000).bill)).toBeCloseTo(100 * sumBill(bill(1_000).bill), 3);
  });

  it('names a limit exactly when their peak exceeds it', () => {
    const isExceeded = (households: number) =>
      bill(households).exceededLimits.includes('`throttleRate`');
    // Lists are 80 % of the requests, and one form of their route takes 100 requests a second.
    const maxHouseholds = Math.floor((100 * SECONDS_PER_MONTH) / (3_000 * 10 * 0.8));
    expect([isExceeded(maxHouseholds), isExceeded(maxHouseholds + 1)]).toEqual([false, true]);
  });

  it('names every limit for ten million', () => {
    const { exceededLimits } = bill(10_000_000);
    expect(exceededLimits.slice(0, 3)).toEqual([
      '`throttleRate`',
      '`maxReadUnits`',
      '`maxWriteUnits`',
    ]);
    expect(exceededLimits).toEqual(
      expect.arrayContaining(Object.values(QUOTAS).map(({ item }) => item)),
    );
  });
});
