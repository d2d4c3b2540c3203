// What the functions ask of the table is what their roles grant: nothing is missing, nothing is spare.
// No local engine checks permissions, so this is where a missing one shows before it does on AWS.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApiKeys } from '../../lib/auth/api-keys.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/retry.ts';
import { createDatabase } from '../../lib/store/database.ts';
import { createDocumentClient } from '../../lib/store/document-client.ts';
import { createLocalClient, createTable } from '../../local/create-table.ts';
import { startDatabase } from '../../local/engine.ts';
import { createRunning } from '../../local/running.ts';
import { TABLE, tableAccess } from '../support/granted-access.ts';
import { apiFunctionsOf, readTemplate } from '../support/packaged-template.ts';
import { openRecordingDoor, type RecordingDoor } from '../support/recorded-access.ts';

const FUNCTIONS = join(import.meta.dirname, '../../functions');

interface Call {
  readonly id?: number;
  readonly body?: Record<string, unknown>;
  readonly query?: Record<string, string>;
}
type Step = readonly [name: string, call: Call, status: number];

// Categories 1 to 3, transactions 1 and 2; each endpoint on its longest way through the table.
const BILL = { description: 'Bill', amount: 12.5, type: 'expense', transaction_date: '2026-03-05' };
const STEPS: readonly Step[] = [
  ['categories/create', { body: { name: 'Home' } }, 201],
  ['categories/create', { body: { name: 'Car' } }, 201],
  ['categories/create', { body: { name: 'Spare' } }, 201],
  ['transactions/create', { body: { ...BILL, category_id: 1 } }, 201],
  ['transactions/create', { body: BILL }, 201],
  ['transactions/list', { query: { start_date: '2026-03-02', end_date: '2026-03-30' } }, 200],
  ['transactions/list', { query: { type: 'expense' } }, 200],
  [
    'transactions/bulk',
    { body: { transactions: [{ ...BILL, external_id: 'a', category_id: 1 }] } },
    207,
  ],
  ['transactions/update', { id: 3, body: { external_id: null } }, 200],
  ['transactions/list', { query: { category_id: '1' } }, 200],
  ['transactions/list', { query: { category_id: '1', type: 'expense' } }, 200],
  ['transactions/read', { id: 1 }, 200],
  ['transactions/update', { id: 1, body: { notes: 'Paid' } }, 200],
  [
    'transactions/update',
    { id: 1, body: { category_id: 2, transaction_date: '2025-01-31', type: 'income' } },
    200,
  ],
  ['transactions/delete', { id: 2 }, 200],
  ['transactions/delete', { id: 1 }, 200],
  ['categories/list', { query: { include_counts: 'true', active_only: 'false' } }, 200],
  ['categories/read', { id: 1 }, 200],
  ['categories/update', { id: 1, body: { color: '#fff' } }, 200],
  ['categories/update', { id: 1, body: { name: 'House' } }, 200],
  ['categories/update', { id: 1, body: { name: 'Car' } }, 409],
  ['categories/delete', { id: 3 }, 200],
  [
    'summary/read',
    { query: { group_by: 'category', start_date: '2025-01-31', end_date: '2026-03-09' } },
    200,
  ],
  ['api/health', { query: { deep: '' } }, 200],
  ['api/openapi', {}, 200],
  ['api/preflight', {}, 404],
  ['api/not-found', {}, 404],
];

// The embedded engine is a program for this one platform.
const hasEngine = process.platform === 'linux' && process.arch === 'x64';

describe.skipIf(!hasEngine)('the roles grant what the functions use', () => {
  const running = createRunning();
  const template = readTemplate('prod');
  let door: RecordingDoor;

  beforeAll(async () => {
    const { endpoint } = await startDatabase(running);
    const client = createLocalClient(endpoint);
    await createTable(client, 'access-in-use');
    client.destroy();
    const documents = createDocumentClient(endpoint);
    const retryPolicy = DEFAULT_RETRY_POLICY;
    const database = createDatabase({ client: documents, tableName: 'access-in-use', retryPolicy });
    const keys = createApiKeys({ database, clock: () => new Date() });
    door = await openRecordingDoor(endpoint);
    stubEnvironment(door.endpoint);
    const secrets = new Map<string, string>();
    for (const [name, call, status] of STEPS) {
      door.recordFor(name);
      // A key of its own for each function, for the first use of a key is more than the others.
      const given = { name, ledger: 'default', scope: 'write' } as const;
      const secret = secrets.get(name) ?? (await keys.create(given)).secret;
      secrets.set(name, secret);
      expect(await invoke(name, call, secret), `${name} ${JSON.stringify(call)}`).toBe(status);
    }
  }, 30_000);

  afterAll(async () => {
    vi.unstubAllEnvs();
    await door.close();
    await running.stop();
  });

  // The documentation page runs only as a bundle, and a role without rights is tested elsewhere.
  const names = apiFunctionsOf(template).map(([name]) => name);
  it.each(names.filter((name) => name !== 'api/docs'))('%s', (name) => {
    const granted = Object.entries(tableAccess(template, name)).map(([operation, reached]) => [
      operation,
      reached.sort(),
    ]);
    expect(Object.fromEntries(granted)).toEqual(door.accessOf(name));
  });

  it('are recorded rightly: the list asks four indexes and the table', () => {
    expect(door.accessOf('transactions/list').Query).toHaveLength(5);
    expect(door.accessOf('transactions/list').Query).toContain(TABLE);
  });
});

function stubEnvironment(endpoint: string): void {
  vi.stubEnv('DYNAMODB_ENDPOINT', endpoint);
  vi.stubEnv('TABLE_NAME', 'access-in-use');
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
}

async function invoke(name: string, { id, body, query }: Call, secret: string): Promise<number> {
  const { handler } = await import(join(FUNCTIONS, `${name}.ts`));
  const event = {
    headers: { authorization: `Bearer ${secret}` },
    pathParameters: id === undefined ? undefined : { id: String(id) },
    queryStringParameters: query,
    body: body && JSON.stringify(body),
    requestContext: { requestId: randomUUID(), http: { method: 'ANY', path: '/' } },
  };
  const answer = (await handler(event, {} as Context)) as { statusCode: number };
  return answer.statusCode;
}
