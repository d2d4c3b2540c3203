// All assumptions behind the costs in docs/ledger/deploy.md. They do not include the limits of a stage, which are read from its
// packaged template.
import type { MAX_UNITS, RequestKind } from './request-units.ts';

export interface Price {
  readonly item: string;
  readonly usd: number;
}

/** Prices of the first paid tier, which is the most expensive. */
export const PRICES = {
  request: { item: 'HTTP API, a million requests; one for each 512 KB sent', usd: 1.11 },
  invocation: { item: 'Lambda, a million requests', usd: 0.2 },
  gigabyteSecond: { item: 'Lambda on arm64, a GB-second', usd: 0.0000133334 },
  read: { item: 'DynamoDB, a million read units', usd: 0.1415 },
  write: { item: 'DynamoDB, a million write units', usd: 0.705 },
  storage: { item: 'DynamoDB, a GB stored for a month', usd: 0.283 },
  recovery: { item: 'DynamoDB, a GB of point-in-time recovery for a month', usd: 0.22 },
  backup: { item: 'AWS Backup, a GB of a table kept for a month (us-east-1)', usd: 0.1 },
  coldBackup: { item: 'AWS Backup, the same in cold storage (us-east-1)', usd: 0.03 },
  betweenRegions: { item: 'AWS Backup, a GB copied to another region (us-east-1)', usd: 0.02 },
  logs: { item: 'CloudWatch Logs, a GB written', usd: 0.57 },
  alarm: { item: 'CloudWatch, a metric watched by an alarm for a month', usd: 0.1 },
  metric: { item: 'CloudWatch, a metric of a route for a month', usd: 0.3 },
  dashboard: { item: 'CloudWatch, a dashboard beyond three for a month', usd: 3 },
  sent: { item: 'Data sent to the internet, a GB', usd: 0.09 },
} satisfies Record<string, Price>;

export const PRICE_LIST = 'eu-west-1, lists published until 2026-10-02';

/** Default quotas of an AWS account; AWS raises them on request. */
export const QUOTAS = {
  requests: { item: 'AWS quota: 10,000 API Gateway requests per second', limit: 10_000 },
  invocations: { item: 'AWS quota: 1,000 concurrent Lambda invocations', limit: 1_000 },
  units: { item: 'AWS quota: 40,000 units per second of a DynamoDB table', limit: 40_000 },
} as const;

/** Sizes are in KB of 1,000 bytes. */
export const ASSUMPTIONS = {
  responseHeaders: { item: 'headers of a response, and a refusal', value: 1, unit: 'KB' },
  log: {
    item: 'log lines of a request, of the function and of the gateway',
    value: 1.2,
    unit: 'KB',
  },
  refusalLog: {
    item: 'log line of a request above a limit, which API Gateway refuses',
    value: 0.6,
    unit: 'KB',
  },
  refusalSeconds: { item: 'time of a request without a valid key', value: 0.05, unit: 's' },
  routeMetrics: { item: 'metrics of each route', value: 6, unit: '' },
} as const;

/** Habits of a household in the cost table. */
export const HOUSEHOLD = {
  requests: { item: 'requests of a household in a month', value: 3_000, unit: '' },
  creates: { item: 'creates among them; the others are lists', value: 20, unit: '%' },
  peak: { item: 'requests of the busiest hour, against the average', value: 10, unit: 'times' },
  years: { item: 'years whose transactions are stored', value: 5, unit: '' },
} as const;

/** The route and duration of a kind of request, and the size of the response without headers. */
export interface RequestShape {
  readonly route: string;
  readonly seconds: number;
  readonly kilobytes: number;
}

const LIST = 'GET /transactions';
const SUMMARY = 'GET /summary';

export const REQUEST_SHAPES: Readonly<Record<keyof typeof MAX_UNITS | RequestKind, RequestShape>> =
  {
    list: { route: LIST, seconds: 0.05, kilobytes: 7 },
    'list with `q` or `import_id`': { route: LIST, seconds: 0.3, kilobytes: 7 },
    'part of an export': { route: 'GET /transactions/export', seconds: 1, kilobytes: 1_000 },
    search: { route: 'GET /transactions/search', seconds: 2, kilobytes: 7 },
    'summary of a year by day': { route: SUMMARY, seconds: 0.05, kilobytes: 30 },
    read: { route: 'GET /transactions/{id}', seconds: 0.05, kilobytes: 0.4 },
    'months of ten years': { route: 'GET /months', seconds: 0.05, kilobytes: 15 },
    'summary of a year by month': { route: SUMMARY, seconds: 0.05, kilobytes: 1 },
    'summary of a year by category': { route: SUMMARY, seconds: 0.05, kilobytes: 3 },
    'summary of ten years by category and month': {
      route: SUMMARY,
      seconds: 0.05,
      kilobytes: 100,
    },
    'summary of a year by category and day': { route: SUMMARY, seconds: 0.05, kilobytes: 250 },
    'list of 30 categories': { route: 'GET /categories', seconds: 0.05, kilobytes: 8 },
    create: { route: 'POST /transactions', seconds: 0.05, kilobytes: 0.5 },
    'create with an external id': { route: 'POST /transactions', seconds: 0.05, kilobytes: 0.5 },
    'create without a category': { route: 'POST /transactions', seconds: 0.05, kilobytes: 0.5 },
    'bulk create of 100': { route: 'POST /transactions/bulk', seconds: 1, kilobytes: 8 },
    'bulk update of 100, of their notes': {
      route: 'PUT /transactions/bulk',
      seconds: 1,
      kilobytes: 8,
    },
    'bulk update of 100, to another category': {
      route: 'PUT /transactions/bulk',
      seconds: 1,
      kilobytes: 8,
    },
    'bulk delete of 100': { route: 'POST /transactions/bulk/delete', seconds: 1, kilobytes: 8 },
    delete: { route: 'DELETE /transactions/{id}', seconds: 0.05, kilobytes: 0.1 },
    'delete without a category': {
      route: 'DELETE /transactions/{id}',
      seconds: 0.05,
      kilobytes: 0.1,
    },
    'update of notes': { route: 'PUT /transactions/{id}', seconds: 0.05, kilobytes: 0.5 },
    'create of a category': { route: 'POST /categories', seconds: 0.05, kilobytes: 0.3 },
  };

/**
 * Size of a route's largest response, without headers, for routes that lib/ledger/http/endpoints does not declare. Pages and
 * their files count uncompressed, because a client may not accept compression.
 */
export const MAX_PAGES_KB: Readonly<Record<string, number>> = {
  'GET /docs': 2_100,
  'GET /': 2,
  'GET /page.css': 40,
  'GET /page.js': 500,
  'OPTIONS /{proxy+}': 1,
  $default: 1,
};
