// Computes the cost of requests, and the highest cost that a stage's limits allow in a month.
import { findMaxResponseKb } from '../../../lib/ledger/http/endpoints/endpoint-declaration.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import {
  ASSUMPTIONS,
  HOUSEHOLD,
  MAX_PAGES_KB,
  PRICES,
  QUOTAS,
  REQUEST_SHAPES,
} from './assumptions.ts';
import { INDEX_WRITES, MAX_UNITS, REQUEST_UNITS, type Units } from './request-units.ts';
import type { Backups, RouteLimit, StageLimits } from './stage-limits.ts';

export const SECONDS_PER_MONTH = 30 * 86_400;
const KB_PER_GB = 1e6;
const MILLION = 1e6;
/** The gateway bills one request for each started 512 KiB of a response. In KB of 1,000 bytes. */
const BILLED_REQUEST_KB = 512 * 1.024;

/** Costs in USD. */
export interface Bill {
  readonly requests: number;
  readonly functions: number;
  readonly units: number;
  readonly storage: number;
  readonly logs: number;
  readonly sent: number;
}

export type BilledKind = keyof typeof REQUEST_SHAPES;
export const UNITS: Readonly<Record<BilledKind, Units>> = { ...MAX_UNITS, ...REQUEST_UNITS };

export function sumBill(bill: Bill): number {
  return sum(Object.values(bill));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Bills a million requests of a kind, with its usual duration and response size. */
export function billRequests({ routes }: StageLimits, kind: BilledKind): Bill {
  const { route, seconds, kilobytes } = REQUEST_SHAPES[kind];
  const { read, write } = UNITS[kind];
  const sentKb = kilobytes + ASSUMPTIONS.responseHeaders.value;
  return {
    requests: countBilledRequests(sentKb) * PRICES.request.usd,
    functions:
      PRICES.invocation.usd +
      MILLION * seconds * findRoute(routes, route).memoryGb * PRICES.gigabyteSecond.usd,
    units: read * PRICES.read.usd + write * PRICES.write.usd,
    storage: 0,
    logs: (MILLION / KB_PER_GB) * ASSUMPTIONS.log.value * PRICES.logs.usd,
    sent: (MILLION / KB_PER_GB) * sentKb * PRICES.sent.usd,
  };
}

/** Bills a month in which every route gets as many requests as its limit allows. No request has a valid key. */
export function billWithoutKey(limits: StageLimits): Bill {
  const sentKb = (route: RouteLimit) =>
    ASSUMPTIONS.responseHeaders.value + (isPublic(route) ? findLargestResponse(route) : 0);
  return {
    ...billTraffic(limits.routes, sentKb, ASSUMPTIONS.log.value),
    functions: billRefusingFunctions(limits.routes),
    units: billKeyReads(limits),
    storage: 0,
  };
}

/** Bills a month of requests with random keys, on every route that requires a key. All are refused with a short response. */
export function billWrongKeys(limits: StageLimits): Bill {
  const routes = limits.routes.filter((route) => !isPublic(route));
  return {
    ...billTraffic(routes, () => ASSUMPTIONS.responseHeaders.value, ASSUMPTIONS.log.value),
    functions: billRefusingFunctions(routes),
    units: billKeyReads(limits),
    storage: 0,
  };
}

/**
 * Bills a month of requests with a valid key. All responses have the maximum size, all functions are busy, and the table and its
 * indexes are used up to their limits.
 */
export function billWithKey(limits: StageLimits): Bill {
  const { routes, maxReadUnits, maxWriteUnits, indexes } = limits;
  const tableAndIndexes = 1 + indexes;
  const invocations = sum(routes.map(({ rate }) => toMonthly(rate)));
  return {
    ...billTraffic(
      routes,
      (route) => ASSUMPTIONS.responseHeaders.value + findLargestResponse(route),
      ASSUMPTIONS.log.value,
    ),
    functions:
      (invocations / MILLION) * PRICES.invocation.usd +
      toMonthly(countBusyMemory(routes)) * PRICES.gigabyteSecond.usd,
    units:
      (tableAndIndexes *
        toMonthly(1) *
        (maxReadUnits * PRICES.read.usd + maxWriteUnits * PRICES.write.usd)) /
      MILLION,
    // A write unit is at most 1,024 bytes.
    storage: billStorage((toMonthly(tableAndIndexes * maxWriteUnits) * 1.024) / KB_PER_GB),
  };
}

/** Counts the read units per second if every route gets requests with random keys. Functions do not cache unknown keys. */
export function countKeyReads({ routes }: StageLimits): number {
  return sum(routes.filter((route) => !isPublic(route)).map(({ rate }) => rate));
}

/** Bills a month of a thousand requests per second above the limits. The gateway refuses them without charge, but logs them. */
export function billRefusals(): number {
  return (toMonthly(1_000) / KB_PER_GB) * ASSUMPTIONS.refusalLog.value * PRICES.logs.usd;
}

export interface HouseholdsBill {
  /** USD a month. */
  readonly bill: Bill;
  /** Figures of one second in the busiest hour. */
  readonly peak: {
    readonly requests: number;
    readonly read: number;
    readonly write: number;
    readonly invocations: number;
  };
  /** Limits that the peak exceeds. The limit that is exceeded most comes first. */
  readonly exceededLimits: readonly string[];
}

interface StoredData {
  readonly households: number;
  /** Size of a transaction in the table and the indexes together. */
  readonly storedRowKb: number;
}

export function countGigabytes({ households, storedRowKb }: StoredData): number {
  const creates = (households * HOUSEHOLD.requests.value * HOUSEHOLD.creates.value) / 100;
  return (creates * 12 * HOUSEHOLD.years.value * storedRowKb) / KB_PER_GB;
}

/** Bills a month of backups, in USD for each GB of the table. */
export function billBackups({ warm, cold, created }: Backups) {
  return {
    kept: warm * PRICES.backup.usd + cold * PRICES.coldBackup.usd,
    toAnotherRegion: created * PRICES.betweenRegions.usd,
  };
}

export function billHouseholds(limits: StageLimits, stored: StoredData): HouseholdsBill {
  const { households } = stored;
  const requests = households * HOUSEHOLD.requests.value;
  const creates = (requests * HOUSEHOLD.creates.value) / 100;
  const lists = requests - creates;
  const createBill = billRequests(limits, 'create');
  const listBill = billRequests(limits, 'list');
  const billPart = (part: keyof Bill) =>
    (creates * createBill[part] + lists * listBill[part]) / MILLION;
  const toPeak = (monthly: number) => (monthly * HOUSEHOLD.peak.value) / SECONDS_PER_MONTH;
  // Leaves out the writes to indexes. An index has its own limit, and reaches it later than the table.
  const write = UNITS.create.write - INDEX_WRITES.create;
  const peak = {
    requests: toPeak(requests),
    read: toPeak(lists * UNITS.list.read + creates * UNITS.create.read),
    write: toPeak(creates * write),
    invocations: toPeak(requests) * REQUEST_SHAPES.list.seconds,
  };
  return {
    bill: {
      requests: billPart('requests'),
      functions: billPart('functions'),
      units: billPart('units'),
      storage: billStorage(countGigabytes(stored)),
      logs: billPart('logs'),
      sent: billPart('sent'),
    },
    peak,
    exceededLimits: findExceededLimits(limits, {
      ...peak,
      lists: toPeak(lists),
      creates: toPeak(creates),
    }),
  };
}

function findExceededLimits(
  { routes, maxReadUnits, maxWriteUnits }: StageLimits,
  peak: HouseholdsBill['peak'] & { readonly lists: number; readonly creates: number },
): string[] {
  const findRate = (kind: 'list' | 'create') => findRoute(routes, REQUEST_SHAPES[kind].route).rate;
  const candidates: [name: string, share: number][] = [
    ['`throttleRate`', Math.max(peak.lists / findRate('list'), peak.creates / findRate('create'))],
    ['`maxReadUnits`', peak.read / maxReadUnits],
    ['`maxWriteUnits`', peak.write / maxWriteUnits],
    [QUOTAS.requests.item, peak.requests / QUOTAS.requests.limit],
    [QUOTAS.invocations.item, peak.invocations / QUOTAS.invocations.limit],
    [QUOTAS.units.item, Math.max(peak.read, peak.write) / QUOTAS.units.limit],
  ];
  return candidates
    .filter(([, share]) => share > 1)
    .toSorted(([, first], [, second]) => second - first)
    .map(([name]) => name);
}

/** Bills the requests, logs and sent data of a month in which routes get as many requests as their limits allow. */
function billTraffic(
  routes: readonly RouteLimit[],
  sentKb: (route: RouteLimit) => number,
  logKb: number,
): Pick<Bill, 'requests' | 'logs' | 'sent'> {
  const billedRequests = sum(
    routes.map((route) => toMonthly(route.rate) * countBilledRequests(sentKb(route))),
  );
  const invocations = sum(routes.map(({ rate }) => toMonthly(rate)));
  const kilobytes = sum(routes.map((route) => toMonthly(route.rate) * sentKb(route)));
  return {
    requests: (billedRequests / MILLION) * PRICES.request.usd,
    logs: (invocations / KB_PER_GB) * logKb * PRICES.logs.usd,
    sent: (kilobytes / KB_PER_GB) * PRICES.sent.usd,
  };
}

/** Bills a month of functions that check a request and refuse it. */
function billRefusingFunctions(routes: readonly RouteLimit[]): number {
  return sum(
    routes.map(
      ({ rate, memoryGb }) =>
        toMonthly(rate) *
        (PRICES.invocation.usd / MILLION +
          ASSUMPTIONS.refusalSeconds.value * memoryGb * PRICES.gigabyteSecond.usd),
    ),
  );
}

function billKeyReads(limits: StageLimits): number {
  const reads = Math.min(countKeyReads(limits), limits.maxReadUnits);
  return (toMonthly(reads) / MILLION) * PRICES.read.usd;
}

/** Adds up the memory, in GB, of the functions that can run at once. The largest functions run, each until its timeout. */
function countBusyMemory(routes: readonly RouteLimit[]): number {
  let free: number = QUOTAS.invocations.limit;
  let memory = 0;
  for (const { rate, timeoutSeconds, memoryGb } of routes.toSorted(
    (first, second) => second.memoryGb - first.memoryGb,
  )) {
    const busy = Math.min(free, rate * timeoutSeconds);
    free -= busy;
    memory += busy * memoryGb;
  }
  return memory;
}

function billStorage(gigabytes: number): number {
  return gigabytes * (PRICES.storage.usd + PRICES.recovery.usd);
}

function countBilledRequests(sentKb: number): number {
  return Math.ceil(sentKb / BILLED_REQUEST_KB);
}

function toMonthly(perSecond: number): number {
  return perSecond * SECONDS_PER_MONTH;
}

/** Returns the size of a route's largest response in KB, without headers. @throws Error for a route without an assumption */
export function findLargestResponse({ route }: Pick<RouteLimit, 'route'>): number {
  const endpoint = ENDPOINTS_BY_ROUTE[route];
  const kilobytes = endpoint ? findMaxResponseKb(endpoint) : MAX_PAGES_KB[route];
  if (kilobytes === undefined)
    throw new Error(`bench/ledger/costs/assumptions.ts names no largest response of ${route}`);
  return kilobytes;
}

/** True if the route needs no API key. Unknown routes and preflights need no key either. */
function isPublic({ route }: RouteLimit): boolean {
  return ENDPOINTS_BY_ROUTE[route]?.isPublic ?? !(route in ENDPOINTS_BY_ROUTE);
}

/** Finds the limits of a route. Of its two forms, returns the first, which clients use. */
export function findRoute(routes: readonly RouteLimit[], route: string): RouteLimit {
  const routeLimit = routes.find((each) => each.route === route);
  if (!routeLimit) throw new Error(`The template has no route ${route}`);
  return routeLimit;
}
