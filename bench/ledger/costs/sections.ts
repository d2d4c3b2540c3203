// Writes the tables of costs and limits in docs/ledger/deploy.md. Each table is between markers.
import { type Report, type Table, toMarkdown } from '../../report.ts';
import { replaceFigures } from '../figures.ts';
import { ASSUMPTIONS, HOUSEHOLD, PRICE_LIST, PRICES, REQUEST_SHAPES } from './assumptions.ts';
import {
  type Bill,
  type BilledKind,
  billBackups,
  billHouseholds,
  billRefusals,
  billRequests,
  billWithKey,
  billWithoutKey,
  billWrongKeys,
  countGigabytes,
  countKeyReads,
  findRoute,
  sum,
  sumBill,
  UNITS,
} from './bills.ts';
import { INDEX_WRITES, MAX_SEARCHING_LIST_UNITS } from './request-units.ts';
import type { StageLimits } from './stage-limits.ts';
import { FIRST_RELEASE_ROW_FORMAT, measureStoredRow, measureTableRow } from './stored-size.ts';

export type Stages = Readonly<Record<'dev' | 'prod', StageLimits>>;

const HOUSEHOLDS = [1_000, 100_000, 10_000_000];
const COST_NAMES: Readonly<Record<keyof Bill, string>> = {
  requests: 'API Gateway',
  functions: 'Lambda',
  units: 'DynamoDB, units',
  storage: 'DynamoDB, storage',
  logs: 'logs',
  sent: 'data sent',
};

const SECTIONS: Readonly<Record<string, (stages: Stages) => Report>> = {
  'cost-limits': (stages) =>
    createReport(createRouteLimitsTable(stages), createThroughputTable(stages)),
  'cost-searches': (stages) => createReport(createSearchingListsTable(stages)),
  'cost-wrong-keys': (stages) => createReport(createWrongKeysTable(stages)),
  'cost-households': (stages) => createReport(createHouseholdsTable(stages)),
  'cost-prices': () => createReport(createPriceTable(), createAssumptionsTable()),
  'cost-requests': (stages) => createReport(createRequestsTable(stages)),
  'cost-month': (stages) => createReport(createMonthsTable(stages)),
  'cost-backups': (stages) => createReport(createBackupsTable(stages)),
  'cost-fixed': (stages) => createReport(createFixedCostsTable(stages)),
};

/** @throws Error if the document lacks the markers of a section */
export function fillCosts(document: string, stages: Stages): string {
  return Object.entries(SECTIONS).reduce(
    (text, [name, write]) => replaceFigures(text, name, toMarkdown(write(stages))),
    document,
  );
}

function createReport(...tables: readonly Table[]): Report {
  return { bars: [], tables };
}

/** Builds one row for each stage. */
function createStageRows(
  stages: Stages,
  toCells: (limits: StageLimits) => readonly (string | number)[],
): (string | number)[][] {
  return Object.entries(stages).map(([stage, limits]) => [stage, ...toCells(limits)]);
}

function createRouteLimitsTable(stages: Stages): Table {
  return {
    title:
      'Requests per second. A limit applies to each form of a route, with and without a trailing slash:',
    columns: ['Stage', 'Forms', 'Highest limit of a form', 'All forms together'],
    rows: createStageRows(stages, ({ routes }) => {
      const rates = routes.map(({ rate }) => rate);
      return [rates.length, Math.max(...rates), sum(rates)];
    }),
  };
}

/** Kinds of writes that clients can send at the same time, each at the limit of its route. */
const WRITERS = Object.keys(INDEX_WRITES) as (keyof typeof INDEX_WRITES)[];
const READERS: readonly BilledKind[] = ['list', 'part of an export', 'search', ...WRITERS];

/** Counts the table's units per second, without its indexes, if clients send each kind of request at the limit of its route. */
export function countUnits({ routes }: StageLimits): {
  readonly read: number;
  readonly write: number;
} {
  const findRate = (kind: BilledKind) => findRoute(routes, REQUEST_SHAPES[kind].route).rate;
  return {
    read: sum(READERS.map((kind) => findRate(kind) * UNITS[kind].read)),
    write: sum(WRITERS.map((kind) => findRate(kind) * (UNITS[kind].write - INDEX_WRITES[kind]))),
  };
}

function createThroughputTable(stages: Stages): Table {
  return {
    title: `Units per second of the table without its indexes, if clients send as many lists, exports, searches, creates and bulk requests as
the routes allow:`,
    columns: [
      ...['Stage', 'Write units, one form', 'both forms', '`maxWriteUnits`'],
      ...['Read units, one form', 'both forms', '`maxReadUnits`'],
    ],
    rows: createStageRows(stages, (limits) => {
      const { read, write } = countUnits(limits);
      return [write, 2 * write, limits.maxWriteUnits, read, 2 * read, limits.maxReadUnits];
    }),
  };
}

function createSearchingListsTable(stages: Stages): Table {
  const { read } = UNITS['list with `q` or `import_id`'];
  return {
    title: `A list with \`q\` or \`import_id\` reads ${read} units in a household's ledger, and ${MAX_SEARCHING_LIST_UNITS.toLocaleString('en')} if every text has the
maximum length. The number of such lists per second that reaches \`maxReadUnits\`:`,
    columns: ['Stage', "In households' ledgers", 'With the longest texts'],
    rows: createStageRows(stages, ({ maxReadUnits }) =>
      [read, MAX_SEARCHING_LIST_UNITS].map((units) => Math.floor(maxReadUnits / units)),
    ),
  };
}

function createWrongKeysTable(stages: Stages): Table {
  return {
    title: 'A flood of random keys on every route at once:',
    columns: ['Stage', 'Read units per second', '% of `maxReadUnits`', 'USD a month'],
    rows: createStageRows(stages, (limits) => {
      const reads = countKeyReads(limits);
      return [reads, (100 * reads) / limits.maxReadUnits, sumBill(billWrongKeys(limits))].map(
        Math.round,
      );
    }),
  };
}

function createHouseholdsTable({ prod }: Stages): Table {
  const storedRowKb = measureStoredRow();
  const [now, inFirstRelease] = [storedRowKb, measureStoredRow(FIRST_RELEASE_ROW_FORMAT)].map(
    (kb) => kb.toFixed(2),
  );
  const { requests, creates, peak, years } = HOUSEHOLD;
  return {
    title: `Households that send ${requests.value.toLocaleString('en')} requests a month, ${creates.value} % of them creates and the others lists, ${peak.value} times as many in the busiest hour,
and keep ${years.value} years, at ${storedRowKb.toFixed(1)} KB a transaction with its indexes. A million transactions take ${now} GB; in the form
of 0.1.0, with ledger ids of 48 characters and without schema versions, they took ${inFirstRelease} GB. Requests, units and invocations are per second of the
busiest hour. The limit that is exceeded most comes first:`,
    columns: [
      ...['Households', 'USD a month', 'Requests', 'Read units', 'Write units'],
      ...['Invocations at once', 'Limits reached'],
    ],
    rows: HOUSEHOLDS.map((count) => {
      const { bill, peak, exceededLimits } = billHouseholds(prod, {
        households: count,
        storedRowKb,
      });
      return [
        ...[count, sumBill(bill), peak.requests, peak.read, peak.write].map(Math.ceil),
        Math.ceil(peak.invocations),
        exceededLimits.join('; ') || 'none',
      ];
    }),
  };
}

function createPriceTable(): Table {
  return {
    title: `Prices of ${PRICE_LIST}:`,
    columns: ['Price', 'USD'],
    rows: Object.values(PRICES).map(({ item, usd }) => [item, String(usd)]),
  };
}

function createAssumptionsTable(): Table {
  return {
    title: 'Assumptions, with sizes in KB of 1,000 bytes:',
    columns: ['Assumption', 'Value'],
    rows: [...Object.values(ASSUMPTIONS), ...Object.values(HOUSEHOLD)].map(
      ({ item, value, unit }) => [item, `${value.toLocaleString('en')} ${unit}`.trim()],
    ),
  };
}

function createRequestsTable({ prod }: Stages): Table {
  return {
    title: "In a household's ledger with 30 categories:",
    columns: [...['Request', 'Read units', 'Write units', 'Seconds', 'KB sent'], 'USD per million'],
    rows: (Object.keys(REQUEST_SHAPES) as BilledKind[]).map((kind) => {
      const { seconds, kilobytes } = REQUEST_SHAPES[kind];
      const usd = sumBill(billRequests(prod, kind)).toFixed(2);
      return [
        kind,
        String(UNITS[kind].read),
        String(UNITS[kind].write),
        String(seconds),
        kilobytes,
        usd,
      ];
    }),
  };
}

function createMonthsTable(stages: Stages): Table {
  const bills = Object.values(stages).flatMap((limits) => [
    billWithoutKey(limits),
    billWithKey(limits),
  ]);
  const rows = Object.entries(COST_NAMES).map(([part, name]) => [
    name,
    ...bills.map((bill) => Math.round(bill[part as keyof Bill])),
  ]);
  const names = Object.keys(stages).flatMap((stage) => [
    `${stage}, without a key`,
    `${stage}, with a key`,
  ]);
  return {
    title: `USD for a month in which every route gets as many requests as it allows, without a pause, with the largest responses. Above
the limits, API Gateway refuses requests unbilled, but logs them: ${Math.round(billRefusals()).toLocaleString('en')} USD for each 1,000 per second.`,
    columns: ['At most', ...names],
    rows: [...rows, ['all together', ...bills.map((bill) => Math.round(sumBill(bill)))]],
  };
}

function createBackupsTable({ prod }: Stages): Table {
  const { warm, cold } = prod.backups;
  const { kept, toAnotherRegion } = billBackups(prod.backups);
  const households = 1_000;
  const gigabytes = countGigabytes({ households, storedRowKb: measureTableRow() });
  const copies = [warm + cold, cold].map((count) => count.toFixed(1));
  const toCostCells = (usd: number) => [usd.toFixed(2), Math.round(usd * gigabytes)];
  return {
    title: `USD a month. Every backup is a copy of the whole table without its indexes; the backup of ${households.toLocaleString('en')} households has ${Math.round(gigabytes)} GB:`,
    columns: ['Recovery', 'Copies', 'Cold copies', 'USD per GB', 'USD for 1,000 households'],
    rows: [
      ['point-in-time recovery', '', '', ...toCostCells(PRICES.recovery.usd)],
      ['the vault of `prod`', ...copies, ...toCostCells(kept)],
      ['a vault of another account', ...copies, ...toCostCells(kept)],
      ['the copy to it, if it is in another region', '', '', ...toCostCells(toAnotherRegion)],
    ],
  };
}

function createFixedCostsTable(stages: Stages): Table {
  return {
    title:
      'USD a month of a stage without requests, without canary and migration. Metrics of routes are billed for the hours in which a route is used:',
    columns: ['Stage', 'Watched metrics', 'USD', 'Metrics of routes', 'USD at most', 'Dashboard'],
    rows: createStageRows(stages, ({ watchedMetrics, routes }) => {
      const metrics = routes.length * ASSUMPTIONS.routeMetrics.value;
      return [
        ...[watchedMetrics, watchedMetrics * PRICES.alarm.usd],
        ...[metrics, metrics * PRICES.metric.usd, PRICES.dashboard.usd],
      ];
    }),
  };
}
