// Runs operations with faults: for each function that uses the store, the requests with the most calls and writes.
import { expect } from 'vitest';
import {
  createVirtualRetryPolicy,
  createVirtualTime,
  type VirtualTime,
} from '../../../bench/ledger/virtual-time.ts';
import { openLedger } from '../../../cli/ledger/open-ledger.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../lib/ledger/http/endpoints/endpoints-by-route.ts';
import { createLedgerService } from '../../../lib/ledger/ledger.ts';
import { createVerification } from '../../../lib/ledger/store/verification/verification.ts';
import type { Client } from '../../shared/support/store-faults.ts';
import { createTestTable, type TestTable } from '../../shared/support/test-table.ts';
import type { Api, ApiRequest, ApiResponse, ResponseBody } from './api/api-client.ts';
import { openInProcess } from './api/in-process-client.ts';
import { LUNCH } from './api/records.ts';
import { LEDGER_OPERATIONS } from './api/routes.ts';
import { bulkLoad } from './bulk-loader.ts';
import { readContents } from './ledger-contents.ts';
import { createStoredCategory, createStoredTransaction } from './stored-records.ts';

export interface Operation {
  readonly name: string;
  readonly send: (api: Api) => Promise<ApiResponse>;
  readonly status: number;
  /** Message of the operation's 500 */
  readonly failure: string;
  readonly isRead: boolean;
}

/** The parts of a request that differ from its endpoint's example, and a name if the route has several requests */
interface Overrides {
  readonly name?: string;
  readonly id?: number;
  readonly query?: NonNullable<ApiRequest['query']>;
  readonly body?: object;
}
type Request = readonly [route: string, overrides: Overrides];

const MOVED_FIELDS = { type: 'income', category_id: 2, transaction_date: '2025-01-01' };
const DATE_RANGE = { start_date: '2026-01-02', end_date: '2026-04-29' };

/** Requests that make more calls, or write more items, than the example of their endpoint */
const LARGER_REQUESTS: readonly Request[] = [
  ['GET /transactions', { query: { ...DATE_RANGE, category_id: 1 } }],
  ['GET /transactions/export', { query: { start_date: '2026-03-01', category_id: 1 } }],
  ['GET /transactions/search', { query: { q: 'b', category_id: '1,2', ...DATE_RANGE } }],
  ['GET /months', { query: DATE_RANGE }],
  ['GET /summary', { query: { group_by: 'category', ...DATE_RANGE } }],
  ['GET /categories', { query: { include_counts: true } }],
  ['POST /transactions', { body: { ...LUNCH, category_id: 1, notes: 'Note' } }],
  [
    'POST /transactions/bulk',
    { body: { transactions: [{ ...LUNCH, category_id: 1, external_id: 'bank-1' }] } },
  ],
  ['PUT /transactions/bulk', { body: { transactions: [{ id: 1, ...MOVED_FIELDS }] } }],
  ['PUT /transactions/{id}', { body: MOVED_FIELDS }],
  ['PUT /transactions/{id}', { name: 'within its category', body: { notes: 'Note' } }],
  ['DELETE /transactions/{id}', { id: 2 }],
  ['POST /categories', { body: { name: 'New', color: '#123' } }],
  ['PUT /categories/{id}', { body: { name: 'Renamed', is_active: false } }],
  ['DELETE /categories/{id}', { id: 3 }],
];

export const OPERATIONS: readonly Operation[] = [...LARGER_REQUESTS, ...listExamples()].map(
  toOperation,
);

/** Lists the examples of all other endpoints that read a ledger. */
function listExamples(): Request[] {
  const functionNames = new Map<string, string>(LEDGER_OPERATIONS);
  const covered = new Set(LARGER_REQUESTS.map(([route]) => functionNames.get(route)));
  return LEDGER_OPERATIONS.flatMap(([route, name]): Request[] =>
    covered.has(name) || name === 'service/me' ? [] : [[route, {}]],
  );
}

function toOperation([route, { name, id = 1, query, body }]: Request): Operation {
  const [method = '', path = ''] = route.split(' ');
  const endpoint = ENDPOINTS_BY_ROUTE[route];
  if (!endpoint) throw new Error(`${route} is not declared in lib/ledger/http/endpoints`);
  const options = { query: query ?? endpoint.exampleQuery ?? {}, body: body ?? endpoint.example };
  return {
    name: name === undefined ? route : `${route} ${name}`,
    send: (api) => api.request(method, path.replace('{id}', String(id)), options),
    status: endpoint.status ?? 200,
    failure: endpoint.failureMessage,
    isRead: method === 'GET',
  };
}

/** Few, because each verification reads the whole table */
const LEDGERS_PER_TABLE = 10;

interface TestLedger extends TestTable {
  readonly ledgerId: string;
}

let table: TestTable | undefined;
let ledgerCount = 0;

/** Creates a ledger with transactions on three days of two months, categories 1 and 2 in use, and category 3 unused. */
async function givenLedger(): Promise<TestLedger> {
  if (!table || ledgerCount % LEDGERS_PER_TABLE === 0) table = await createTestTable();
  ledgerCount += 1;
  const ledger = { ...table, ledgerId: `ledger-${ledgerCount}` };
  await bulkLoad(
    ledger,
    ['Food', 'Pay', 'Spare'].map((name, n) => createStoredCategory(n + 1, name)),
    [
      createStoredTransaction(1, { description: 'A', categoryId: 1, date: '2026-03-05' }),
      createStoredTransaction(2, { description: 'B', categoryId: 1, date: '2026-03-05' }),
      createStoredTransaction(3, { categoryId: 2, date: '2026-02-28' }),
      createStoredTransaction(4, { date: '2026-03-04' }),
    ],
  );
  return ledger;
}

export interface Run {
  readonly response: { readonly status: number; readonly body: ResponseBody };
  /** Milliseconds of virtual time */
  readonly elapsedMs: number;
  readonly delays: readonly number[];
  readonly contents: LedgerContents;
}

export type LedgerContents = Awaited<ReturnType<typeof readContents>>;

/**
 * Runs an operation on its own ledger in virtual time, and verifies the ledger afterwards.
 * @param interfere wraps the client of the table, to inject faults
 */
export async function runOperation(
  { send }: Operation,
  interfere: (client: Client, time: VirtualTime) => Client = (client) => client,
): Promise<Run> {
  const ledger = await givenLedger();
  const time = createVirtualTime();
  const retryPolicy = createVirtualRetryPolicy(time);
  const service = createLedgerService({
    ...createSettings(ledger),
    client: interfere(time.watch(ledger.client), time),
    retryPolicy,
    timeoutSignal: time.timeoutSignal,
  });
  const { status, body, text } = await time.run(send(await openInProcess(service)));
  const { drifts } = await createVerification(ledger).verify();
  expect(drifts).toEqual([]);
  const contents = await readLedger(ledger);
  const { delays } = retryPolicy;
  const isFile = body.success === undefined;
  const response = { status, body: isFile ? { success: status < 400, data: text } : body };
  return { response, elapsedMs: time.now(), delays, contents };
}

/** Returns the contents of a ledger before any operation. */
export async function readContentsBefore(): Promise<LedgerContents> {
  return await readLedger(await givenLedger());
}

async function readLedger(ledger: TestLedger): Promise<LedgerContents> {
  return await readContents(openLedger(createSettings(ledger)));
}

export function expectSameResponse(run: Run, faultless: Run): void {
  expect(run.response).toEqual(withActualId(faultless, run));
}

/** Allows for an id that was skipped because the response with it was lost. The ETag contains the id, so it differs too. */
function withActualId({ response }: Run, actualRun: Run): Run['response'] {
  const { data } = response.body;
  const actual = actualRun.response.body.data;
  const withId = {
    201: () => (data.id === actual?.id ? data : { ...data, id: actual?.id, etag: actual?.etag }),
    207: () => {
      const { id, etag } = actual?.results?.[0] ?? {};
      const [result] = data.results;
      return result.id === id ? data : { ...data, results: [{ ...result, id, etag }] };
    },
  }[response.status];
  return withId ? { ...response, body: { ...response.body, data: withId() } } : response;
}

export function hasFailed({ response }: Run): boolean {
  return response.status === 500;
}

export function expectFailure({ response }: Run, { failure }: Operation): void {
  const body = { success: false, error: 'internal_server_error', message: failure };
  expect(response).toEqual({ status: 500, body });
}

// A fixed clock, so that all runs write the same records.
function createSettings(ledger: TestLedger) {
  const clock = () => new Date('2026-03-31T12:00:00Z');
  return { ...ledger, timeZone: 'UTC', clock };
}
