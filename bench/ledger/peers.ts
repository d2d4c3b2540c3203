// Compares the service of `npm start` with a service on PostgreSQL. Both have the same rows and get the same requests over HTTP,
// in turns.
import { join } from 'node:path';
import type { Child } from '../../processes/child-process.ts';
import { findFreePort } from '../../processes/free-port.ts';
import { atMost, formatNumber, markNotJudged, type Report } from '../report.ts';
import { createHousehold, LAST_DAY, openBenchLedger } from './bench-ledger.ts';
import type { BenchRun } from './bench-run.ts';
import { openPostgresListing } from './postgres-listing.ts';
import { startPostgres, whyPostgresUnavailable } from './postgres-server.ts';
import { createContender, race } from './race.ts';
import { measureMemory } from './resident-memory.ts';

const YEARS = 10;
const BULK_SIZE = 100;
const MAX_MEGABYTES = 400;
const PURCHASE = {
  ...{ description: 'Supermarket', amount: 23.4, type: 'expense', notes: null },
  ...{ category_id: 7, transaction_date: LAST_DAY },
};

interface MeasuredRequest {
  readonly name: string;
  readonly rounds: number;
  /** Highest accepted ratio of our time to that of PostgreSQL. */
  readonly maxRatio?: number;
  /** Sends the request. @returns the number of rows in the response */
  readonly run: (url: string) => Promise<number>;
}

/** The next year that no request has searched, by the address of the service. */
const nextUnsearchedYear = new Map<string, number>();

const REQUESTS: readonly MeasuredRequest[] = [
  {
    name: 'first page',
    ...{ rounds: 61, maxRatio: 2.5 },
    run: async (url) => (await get(`${url}/transactions?page=1&per_page=20`)).data.length,
  },
  {
    name: 'first search of a year',
    // With the two searches before the race, each whole year is searched once.
    rounds: YEARS - 1 - 2,
    run: (url) => {
      const year = nextUnsearchedYear.get(url) ?? 2017;
      nextUnsearchedYear.set(url, year + 1);
      return searchYear(url, year);
    },
  },
  {
    name: 'search of one year',
    ...{ rounds: 31, maxRatio: 8 },
    run: (url) => searchYear(url, 2025),
  },
  { name: 'export of all', ...{ rounds: 7, maxRatio: 4 }, run: (url) => exportAll(url) },
  // An export of one type never uses the cache.
  { name: 'export of all expenses', rounds: 5, run: (url) => exportAll(url, 'type=expense') },
  {
    name: `bulk of ${BULK_SIZE}`,
    ...{ rounds: 15, maxRatio: 15 },
    run: async (url) => {
      const transactions = Array.from({ length: BULK_SIZE }, () => PURCHASE);
      const { data } = await send(`${url}/transactions/bulk`, { transactions });
      return (data as unknown as { results: unknown[] }).results.length;
    },
  },
  {
    name: 'create',
    rounds: 31,
    run: async (url) => ((await send(`${url}/transactions`, PURCHASE)).data ? 1 : 0),
  },
];

export async function comparePeers(run: BenchRun): Promise<Report> {
  const skipped = await whyPostgresUnavailable();
  if (skipped) return { bars: [], tables: [], skipped };
  const rows = run.quick ? 5_000 : 20_000;
  const [ours, theirs] = await Promise.all([
    startOurService(run, rows),
    startPostgresService(run, rows),
  ]);
  const results: (MeasuredRequest & { readonly times: readonly number[] })[] = [];
  for (const request of REQUESTS) {
    const urls = [ours.url, theirs.url];
    const [ourRows, theirRows] = await Promise.all(urls.map((url) => request.run(url)));
    if (ourRows !== theirRows || ourRows === 0)
      throw new Error(
        `${request.name}: ${ourRows} rows in our response, ${theirRows} in PostgreSQL's`,
      );
    const contenders = urls.map((url) => createContender(() => request.run(url)));
    results.push({ ...request, times: await race(contenders, request.rounds) });
  }
  const megabytes = await measureMemory(ours.child.pid);
  const ratios = results.flatMap(({ name, maxRatio, times: [ourMs = 0, theirMs = 1] }) =>
    maxRatio === undefined
      ? []
      : [atMost(`${name}, against PostgreSQL`, ourMs / theirMs, maxRatio, 'x')],
  );
  const bars = [
    ...ratios,
    atMost(
      'memory of `npm start` after all of it, without its database',
      megabytes,
      MAX_MEGABYTES,
      ' MB',
    ),
  ];
  return {
    bars: run.quick ? bars.map(markNotJudged) : bars,
    tables: [
      {
        title: `${formatNumber(rows)} transactions over ${YEARS} years, over HTTP, PostgreSQL ${theirs.version}: p50 in turns.`,
        columns: ['request', 'ours, ms', 'PostgreSQL, ms', 'ours against PostgreSQL'],
        rows: results.map(({ name, times: [ourMs = 0, theirMs = 1] }) => [
          ...[name, ourMs, theirMs],
          `${formatNumber(ourMs / theirMs)}x`,
        ]),
      },
    ],
  };
}

async function startOurService(run: BenchRun, rows: number) {
  const { address } = await openBenchLedger(run, createHousehold(rows, YEARS), rows);
  const port = await findFreePort();
  const child = await startService(run, [join(import.meta.dirname, '../../local/start.ts')], {
    ...{ PORT: String(port), DYNAMODB_ENDPOINT: address.endpoint, TABLE_NAME: address.tableName },
    LEDGER_ID: address.ledgerId,
  });
  return { url: `http://localhost:${port}`, child };
}

async function startPostgresService(run: BenchRun, rows: number) {
  const server = await startPostgres(run);
  const { version } = await openPostgresListing(run, server, createHousehold(rows, YEARS));
  const port = await findFreePort();
  const program = join(import.meta.dirname, 'postgres-service.ts');
  await startService(run, [program, String(port), String(server.port)]);
  return { url: `http://localhost:${port}`, version };
}

/** Starts a service, and resolves when its program prints that it is ready. */
async function startService(
  { resources }: BenchRun,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Child> {
  let lastLine = '';
  const { promise: ready, resolve } = Promise.withResolvers<undefined>();
  const onLine = (line: string) => {
    lastLine = line;
    if (line.startsWith('ready')) resolve(undefined);
  };
  const command = { command: process.execPath, args, onLine };
  const child = resources.startProgram({
    ...command,
    environment: { ...process.env, ...environment },
  });
  const ending = await Promise.race([ready, child.ended]);
  if (ending !== undefined) throw new Error(`${args[0]} ${ending}: ${lastLine}`);
  return child;
}

interface Body {
  readonly data: readonly unknown[];
  readonly pagination?: { readonly total: number };
  readonly next?: string | null;
}

async function searchYear(url: string, year: number): Promise<number> {
  const dates = `start_date=${year}-01-01&end_date=${year}-12-31`;
  const { pagination } = await get(`${url}/transactions/search?q=market&${dates}`);
  return pagination?.total ?? 0;
}

async function exportAll(url: string, filter = ''): Promise<number> {
  let count = 0;
  for (let query: string | null = filter; query !== null; ) {
    const { data, next = null }: Body = await get(`${url}/transactions/export.json?${query}`);
    count += data.length;
    query = next;
  }
  return count;
}

async function get(url: string): Promise<Body> {
  return await read(await fetch(url));
}

async function send(url: string, body: object): Promise<Body> {
  const headers = { 'content-type': 'application/json' };
  return await read(await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function read(response: Response): Promise<Body> {
  if (!response.ok) throw new Error(`${response.url} failed with ${response.status}`);
  return (await response.json()) as Body;
}
