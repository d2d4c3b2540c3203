// Service document, "Errors: 500 internal_server_error", and the rulings on failures.
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import type { Api, ApiResponse } from '../support/api/api-client.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';
import { givenCategory, givenTransaction, LUNCH, uniqueName } from '../support/api/records.ts';
import { interpose } from '../support/interposed-client.ts';
import { createTestTable } from '../support/test-table.ts';

const { client, tableName } = await createTestTable();
const options = { tableName, ledgerId: 'test', timeZone: 'UTC' };

/** A failure of the store that no other try mends. */
const SECRET = 'The caller arn:aws:iam::123456789012 may not do this to the table';

function refuse(): never {
  throw Object.assign(new Error(SECRET), { name: 'AccessDeniedException' });
}

const healthy = await openInProcess(createServiceOn({ client, ...options }));
const dead = await openInProcess(
  createServiceOn({ client: interpose(client, refuse), ...options }),
);
const readOnly = await openInProcess(
  createServiceOn({
    client: interpose(client, (name) => {
      if (name === 'TransactWriteCommand') refuse();
    }),
    ...options,
  }),
);

const transaction = await givenTransaction(healthy);
const category = await givenCategory(healthy);

type Operation = [string, string, (api: Api) => Promise<ApiResponse>];

const READS: Operation[] = [
  ['list', 'Failed to retrieve transactions', (api) => api.get('/transactions')],
  ['read', 'Failed to retrieve transaction', (api) => api.get(`/transactions/${transaction.id}`)],
  ['list', 'Failed to retrieve categories', (api) => api.get('/categories')],
  ['read', 'Failed to retrieve category', (api) => api.get(`/categories/${category.id}`)],
  ['health', 'The database does not answer', (api) => api.get('/health', 'deep')],
];

const WRITES: Operation[] = [
  ['create', 'Failed to create transaction', (api) => api.post('/transactions', LUNCH)],
  [
    'update',
    'Failed to update transaction',
    (api) => api.put(`/transactions/${transaction.id}`, { amount: 99 }),
  ],
  [
    'delete',
    'Failed to delete transaction',
    (api) => api.delete(`/transactions/${transaction.id}`),
  ],
  [
    'create',
    'Failed to create category',
    (api) => api.post('/categories', { name: uniqueName('Refused') }),
  ],
  [
    'update',
    'Failed to update category',
    (api) => api.put(`/categories/${category.id}`, { name: uniqueName('Refused') }),
  ],
  ['delete', 'Failed to delete category', (api) => api.delete(`/categories/${category.id}`)],
];

let log: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
  log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});
afterEach(() => log.mockRestore());

function expectInternalError(reply: ApiResponse, message: string): void {
  const { status, body, headers, text } = reply;
  expect([status, body]).toEqual([
    500,
    { success: false, error: 'internal_server_error', message },
  ]);
  expect(text).not.toMatch(/denied|arn:|table|stack/i);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)));
  const cause = { name: 'AccessDeniedException', message: SECRET, stack: expect.any(String) };
  const requestId = headers['x-request-id'];
  expect(requestId).toBeDefined();
  expect(lines).toMatchObject([{ level: 'ERROR', requestId, message }]);
  // Nothing else of the error, such as the item of a failed condition.
  expect(lines[0].cause).toEqual(cause);
}

describe('A store that fails: the document’s message, nothing of the cause, which is logged', () => {
  test.each([...READS, ...WRITES])('%s: %s', async (_, message, ask) => {
    expectInternalError(await ask(dead), message);
  });
});

describe('A store that fails at the write', () => {
  test.each(WRITES)('%s: %s, and nothing is changed', async (_, message, ask) => {
    const everything = async () =>
      await Promise.all([
        healthy.get('/transactions').then(({ body }) => body),
        healthy.get('/categories', { include_counts: true }).then(({ body }) => body),
      ]);
    const before = await everything();
    expectInternalError(await ask(readOnly), message);
    expect(await everything()).toEqual(before);
  });

  test('reads go on', async () => {
    for (const [, , ask] of READS) expect((await ask(readOnly)).status).toBe(200);
    expect(log).not.toHaveBeenCalled();
  });
});

describe('What is refused before the store is asked stays a 4xx', () => {
  test.each<[number, (api: Api) => Promise<ApiResponse>]>([
    [400, (api) => api.get('/transactions', { page: 0 })],
    [400, (api) => api.post('/transactions', {})],
    [400, (api) => api.post('/categories', { name: 5 })],
    [404, (api) => api.get('/transactions/abc')],
    [404, (api) => api.put('/categories/007', {})],
    [404, (api) => api.delete('/transactions/0')],
    [404, (api) => api.get('/nowhere')],
  ])('%i', async (status, ask) => {
    expect((await ask(dead)).status).toBe(status);
    expect(log).not.toHaveBeenCalled();
  });
});
