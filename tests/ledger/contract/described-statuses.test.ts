// Every status in the API description occurs: the tests provoke each status on every route that lists it.
import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '../../../lib/ledger/errors.ts';
import { NOT_UTF8 } from '../../../lib/ledger/http/query-string.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createSleeplessRetryPolicy } from '../../shared/support/sleepless-retry-policy.ts';
import { createFaultyClient, denied } from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api, ApiRequest, ApiResponse } from '../support/api/api-client.ts';
import { DESCRIBED, type DescribedOperation } from '../support/api/described-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, UNKNOWN_ID } from '../support/api/records.ts';

const table = await createTestTable();
const open = (options: Parameters<typeof createTestService>[0] = {}) =>
  createTestService({ ...table, ...options }).then(openInProcess);

const api = await open();
const withToken = await open({
  ledgerId: undefined,
  verifyToken: async () => ({ ledger: 'test', scope: undefined }),
});
const withoutIssuer = await open({
  ledgerId: undefined,
  verifyToken: () => Promise.reject(new UnavailableError('The issuer cannot be reached')),
});
const withoutDatabase = await open({
  client: createFaultyClient(table.client, () => denied),
});
// Another request holds the marker of the idempotency key until the deadline.
const withBusyKeys = await open({
  retryPolicy: createSleeplessRetryPolicy(),
  client: interpose(table.client, (name) => {
    if (name !== 'TransactWriteCommand') return;
    const CancellationReasons = [{ Code: 'TransactionConflict' }];
    throw Object.assign(new Error('Busy'), {
      name: 'TransactionCanceledException',
      CancellationReasons,
    });
  }),
});

interface Call {
  readonly method: string;
  readonly path: string;
  /** A valid body */
  readonly body: object;
  readonly query: Record<string, string>;
  readonly described: DescribedOperation['responses'];
}

const send = (client: Api, { method, path, body, query }: Call, request: ApiRequest = {}) =>
  client.request(method, path, { query, ...(hasBody(method) ? { body } : {}), ...request });
const hasBody = (method: string) => method === 'POST' || method === 'PUT';
const createKeyHeaders = () => ({ 'idempotency-key': randomUUID() });

const PROVOCATIONS: Readonly<Record<string, (call: Call) => Promise<ApiResponse>>> = {
  200: (call) => send(api, call),
  201: (call) => send(api, call),
  207: (call) => send(api, call),
  304: (call) => send(api, call, { headers: { 'if-none-match': '*' } }),
  400: (call) => {
    const refusesOnlyWrongUtf8 = call.described[400]?.description === `${NOT_UTF8}.`;
    const invalidRequest = refusesOnlyWrongUtf8
      ? { query: '%E9' }
      : { body: { unknown: 1 }, query: { unknown: 1 } };
    return send(api, call, invalidRequest);
  },
  401: (call) => send(withToken, call),
  403: (call) => send(withToken, call, { headers: { authorization: 'Bearer token' } }),
  404: (call) =>
    send(api, {
      ...call,
      path: call.path.replace(/\d+$/, String(UNKNOWN_ID)),
      body: { ...call.body, category_id: UNKNOWN_ID },
    }),
  409: async (call) => {
    if (call.method === 'POST') return send(withBusyKeys, call, { headers: createKeyHeaders() });
    if (call.path.startsWith('/transactions')) {
      const { external_id } = await givenTransaction(api, { external_id: randomUUID() });
      return send(api, { ...call, body: { external_id } });
    }
    const { name } = await givenCategory(api);
    await givenTransaction(api, { category_id: Number(call.path.split('/')[2]) });
    return send(api, { ...call, body: { name } });
  },
  412: (call) => send(api, call, { headers: { 'if-match': '"0.0"' } }),
  413: (call) => send(api, call, { body: { notes: 'x'.repeat(1_048_576) } }),
  415: (call) => send(api, call, { headers: { 'content-encoding': 'gzip' } }),
  422: async (call) => {
    const headers = createKeyHeaders();
    await send(api, call, { headers });
    const body =
      'transactions' in call.body
        ? { transactions: [{ id: UNKNOWN_ID }] }
        : { ...call.body, description: 'Other' };
    return send(api, { ...call, body }, { headers });
  },
  500: (call) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    // These routes reach the table only with this query or key.
    const failingRequests: Record<string, ApiRequest> = {
      '/health': { query: 'deep' },
      '/me': { headers: { authorization: `Bearer fl_${'u'.repeat(43)}` } },
    };
    return send(withoutDatabase, call, failingRequests[call.path]);
  },
  503: (call) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    return send(withoutIssuer, call, { headers: { authorization: 'Bearer token' } });
  },
};

describe.each([...DESCRIBED])('%s', (route, { responses }) => {
  const statuses = Object.keys(responses).filter((status) => !comesFromGateway(responses[status]));
  it.each(statuses)('can return %s', async (status) => {
    const provoke = PROVOCATIONS[status];
    if (!provoke) throw new Error(`PROVOCATIONS has no request that gets ${status}`);
    const { status: actual } = await provoke(await prepareCall(route, responses));
    expect(actual).toBe(Number(status));
  });
});

/** True if only the gateway responds with this status. */
function comesFromGateway({ description = '' }: { readonly description?: string } = {}): boolean {
  return [
    'Too many requests. The gateway itself responds.',
    'The gateway has no capacity left.',
  ].includes(description);
}

/** Prepares a request that succeeds. */
async function prepareCall(route: string, described: Call['described']): Promise<Call> {
  const [method = '', pattern = ''] = route.split(' ');
  const isCategory = pattern.startsWith('/categories');
  const createRecord = isCategory ? givenCategory : givenTransaction;
  const id = pattern.includes('{id}') ? (await createRecord(api)).id : '';
  const record = isCategory ? { name: randomUUID() } : LUNCH;
  const bodies: Record<string, object> = {
    'POST /transactions/bulk': { transactions: [record] },
    'PUT /transactions/bulk': {
      transactions: [{ id: (await createRecord(api)).id, notes: 'Note' }],
    },
    'PUT /imports': { import_id: 'bank', rows: ['a'] },
    'POST /transactions/bulk/delete': { transactions: [{ id: (await createRecord(api)).id }] },
  };
  const body = bodies[route] ?? record;
  const queries: Record<string, Call['query']> = {
    '/summary': { group_by: 'type' },
    '/transactions/search': { q: 'lunch' },
    '/summary/series': { group_by: 'type,year' },
  };
  const query = queries[pattern] ?? {};
  return { method, path: pattern.replace('{id}', id), body, query, described };
}
