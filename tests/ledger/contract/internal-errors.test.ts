// A 500 has the message of its operation (docs/ledger/api.md, "Failures"). It does not show the cause, which is logged.
// faults/every-call.full.test.ts tests for every database call that a failure changes nothing.
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import type { Api, ApiResponse } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { OPERATIONS } from '../support/operations.ts';

/** The message of a store failure that is not retried */
const SECRET = 'The caller arn:aws:iam::123456789012 may not do this to the table';

const { client, tableName } = await createTestTable();
const failingClient = interpose(client, () => {
  throw Object.assign(new Error(SECRET), { name: 'AccessDeniedException' });
});
const api = await openInProcess(await createTestService({ client: failingClient, tableName }));

let log: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => log.mockRestore());

const HEALTH = {
  name: 'health',
  send: (client: Api) => client.get('/health', 'deep'),
  failure: 'The database does not answer',
};
// A bulk request fails with the same message, but logs a line for each row.
const SINGLE_LINE_OPERATIONS = OPERATIONS.filter(({ status }) => status !== 207);

test.each([...SINGLE_LINE_OPERATIONS, HEALTH])(
  'a failure of $name is reported as "$failure"',
  async ({ send, failure: message }) => {
    const { status, body, headers, text } = await send(api);
    const expected = { success: false, error: 'internal_server_error', message };
    expect([status, body]).toEqual([500, expected]);
    expect(text).not.toMatch(/denied|arn:|table|stack/i);
    const cause = { name: 'AccessDeniedException', message: SECRET, stack: expect.any(String) };
    const requestId = headers['x-request-id'];
    expect(requestId).toBeDefined();
    const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
    expect(lines).toMatchObject([{ level: 'ERROR', requestId, message }]);
    // The log shows no other part of the error, such as the item of a failed condition.
    expect(lines[0].cause).toEqual(cause);
  },
);

describe('a request that is refused before the store is read', () => {
  test.each<[number, (api: Api) => Promise<ApiResponse>]>([
    [400, () => api.get('/transactions', { page: 0 })],
    [400, () => api.post('/transactions', {})],
    [400, () => api.post('/categories', { name: 5 })],
    [404, () => api.get('/transactions/abc')],
    [404, () => api.put('/categories/007', {})],
    [404, () => api.delete('/transactions/0')],
    [404, () => api.get('/nowhere')],
  ])('gets a %i, and logs no error', async (status, send) => {
    expect((await send(api)).status).toBe(status);
    expect(log).not.toHaveBeenCalled();
  });
});
