// A database that throttles every call several times: delays do not add up beyond the deadline of a request.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createVirtualRetryPolicy, createVirtualTime } from '../../../bench/virtual-time.ts';
import { createLedgerService, REQUEST_TIMEOUTS } from '../../../lib/ledger/ledger.ts';
import { DEFAULT_RETRY_POLICY } from '../../../lib/retry.ts';
import type { Api, ApiResponse } from '../../support/api/api-client.ts';
import { openInProcess } from '../../support/api/in-process-client.ts';
import { LUNCH } from '../../support/api/records.ts';
import { bulkLoadHousehold } from '../../support/bulk-loader.ts';
import { type Client, PASSING_FAULTS } from '../../support/store-faults.ts';
import { createTestTable } from '../../support/test-table.ts';

// The function's timeout in serverless.yml, after which a client gets a response that is not the service's.
const FUNCTION_TIMEOUT_MS = 20_000;

const table = await createTestTable();
const target = { ...table, ledgerId: 'ailing' };
await bulkLoadHousehold(target, { transactions: 40, years: 1, lastDay: '2026-06-30', seed: 9 });

// A 500 has its log line, which is not for the test's own output.
beforeEach(() => void vi.spyOn(process.stderr, 'write').mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

/** Every call is throttled a number of times, and then gets through. */
function createAilingClient(client: Client, refusals: number): Client {
  const refused = new Map<string, number>();
  const send = async (command: Parameters<Client['send']>[0]) => {
    const name = JSON.stringify(command.input);
    const times = refused.get(name) ?? 0;
    refused.set(name, times + 1);
    const call = () => client.send(command);
    return times < refusals ? await PASSING_FAULTS.throttle(call, command) : await call();
  };
  return { send: send as Client['send'] };
}

describe.each<[string, (api: Api) => Promise<ApiResponse>]>([
  ['list', (api) => api.get('/transactions', { start_date: '2025-09-02' })],
  ['create', (api) => api.post('/transactions', { ...LUNCH, category_id: 7 })],
  ['update', (api) => api.put('/transactions/3', { category_id: 7, amount: 2 })],
  ['rename', (api) => api.put('/categories/5', { name: 'Fibre' })],
])('%s', (_, ask) => {
  it.each([4, 8, 12, 16])('ends in time where each call is refused %i times', async (refusals) => {
    const time = createVirtualTime();
    const client = createAilingClient(time.watch(table.client), refusals);
    const { timeoutSignal } = time;
    const service = createLedgerService({
      ...target,
      client,
      timeZone: 'UTC',
      retryPolicy: createVirtualRetryPolicy(time),
      timeoutSignal,
    });
    const { status } = await time.run(ask(await openInProcess(service)));
    expect(status < 300 || status === 500).toBe(true);
    expect(time.now()).toBeLessThanOrEqual(DEFAULT_RETRY_POLICY.deadlineMs);
  });
});

it('a request ends within 10 s, and before the function is stopped', () => {
  const longest = DEFAULT_RETRY_POLICY.deadlineMs + REQUEST_TIMEOUTS.outcomeMs;
  expect(longest).toBeLessThan(10_000);
  expect(longest).toBeLessThan(FUNCTION_TIMEOUT_MS);
});
