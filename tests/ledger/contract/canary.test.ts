// The canary uses the API as a client does: it leaves nothing behind, and fails when clients would.
import { expect, it } from 'vitest';
import { type CanaryOptions, runCanary } from '../../../lib/ledger/canary/canary.ts';
import { requireProtectedTable } from '../../../lib/ledger/canary/table-protection.ts';
import type { Api } from '../support/api/api-client.ts';
import { openTestApi } from '../support/api/open-api.ts';
import { givenTransaction } from '../support/api/records.ts';

const api = await openTestApi();

type ReplaceResponse = (method: string, path: string) => Response | undefined;

/** Starts the canary. @param replaceResponse can replace the response to a request */
function startCanary(replaceResponse: ReplaceResponse = () => undefined, target: Api = api) {
  const steps: string[] = [];
  const fetch: CanaryOptions['fetch'] = async (address, { method = '', body } = {}) => {
    const { pathname, searchParams } = new URL(String(address));
    steps.push(`${method} ${pathname.replace(/\d+/, 'ID')}`);
    const replacement = replaceResponse(method, pathname);
    if (replacement) return replacement;
    const query = Object.fromEntries(searchParams);
    const request = { query, ...(typeof body === 'string' && { rawBody: body }) };
    const response = await target.request(method, pathname, request);
    return Response.json(response.body, { status: response.status });
  };
  const sleep = async () => void steps.push('sleep');
  const now = () => new Date('2026-03-05T12:00:00Z');
  return { steps, done: runCanary({ url: 'http://api.example', key: 'any', fetch, sleep, now }) };
}

const readRows = async () => (await api.get('/transactions')).body.data;

it('the canary creates, reads, lists and deletes one transaction', async () => {
  const { steps, done } = startCanary();
  await done;
  expect(steps).toEqual([
    'GET /transactions',
    'POST /transactions',
    'GET /transactions/ID',
    'GET /transactions',
    'DELETE /transactions/ID',
    'GET /transactions/ID',
  ]);
  expect(await readRows()).toEqual([]);
});

it('the canary deletes what an earlier run left behind', async () => {
  await givenTransaction(api, { transaction_date: '2026-03-05' });
  await startCanary().done;
  expect(await readRows()).toEqual([]);
});

it('the canary waits for a list that lags, and no longer than necessary', async () => {
  let listRequests = 0;
  const empty = () => Response.json({ data: [] });
  const lagging: ReplaceResponse = (method, path) =>
    method === 'GET' && path === '/transactions' && ++listRequests < 4 ? empty() : undefined;
  const { steps, done } = startCanary(lagging);
  await done;
  expect(steps.filter((step) => step === 'sleep')).toHaveLength(2);
  const neverListed = startCanary((method, path) =>
    `${method} ${path}` === 'GET /transactions' ? empty() : undefined,
  );
  await expect(neverListed.done).rejects.toThrow(/^The list does not show transaction \d+/);
});

it.each([
  ['create', 'POST', 503],
  ['read', 'GET', 500],
  ['delete', 'DELETE', 401],
])('the canary fails if it cannot %s', async (step, method, status) => {
  const { done } = startCanary((sentMethod, path) =>
    sentMethod === method && (step !== 'read' || path !== '/transactions')
      ? new Response('', { status, headers: { 'x-request-id': 'abc' } })
      : undefined,
  );
  await expect(done).rejects.toThrow(
    new RegExp(`^Cannot ${step}: ${method} /transactions.* answered ${status}, request id abc`),
  );
});

it.each([
  [true, 'ENABLED', undefined],
  [false, 'ENABLED', 'The table t has no deletion protection.'],
  [true, 'DISABLED', 'The table t has no point-in-time recovery.'],
  [false, undefined, 'The table t has no deletion protection and no point-in-time recovery.'],
])(
  'the canary checks the table: deletion protection %s, point-in-time recovery %s',
  async (isProtected, recovery, message) => {
    const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus: recovery };
    const send = async ({ constructor: { name } }: object) =>
      name === 'DescribeTableCommand'
        ? { Table: { DeletionProtectionEnabled: isProtected } }
        : { ContinuousBackupsDescription: { PointInTimeRecoveryDescription } };
    const checked = requireProtectedTable({ send: send as never }, 't');
    if (message === undefined) await expect(checked).resolves.toBeUndefined();
    else await expect(checked).rejects.toThrow(message);
  },
);
