// Functions of the deployed stage that neither the shared suites nor the migration exercise, each with its own IAM role.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, expect, inject, test } from 'vitest';
import description from '../../../lib/ledger/http/openapi.json' with { type: 'json' };
import { clientOptions } from '../../../local/emulator/emulated-stage.ts';
import { createHttpClient } from '../../ledger/support/api/http-client.ts';
import { runCommand } from '../support/command.ts';
import { createTemporaryFolder } from '../support/temporary-folder.ts';

const { stage, environment } = inject('deployed');
const lambda = new LambdaClient(clientOptions(environment));
const api = createHttpClient(inject('apiUrl'), { authorization: `Bearer ${inject('apiKey')}` });
afterAll(() => api.close());

test('GET /openapi.json is the API description', async () => {
  const { status, body } = await api.request('GET', '/openapi.json');
  expect([status, body]).toEqual([200, description]);
});

// The emulator has no throttles: tests/shared/wiring/throttles.test.ts computes the requests that the throttles allow.
test.each(['/transactions', '/transactions/'])(
  'a page from another origin can send a request to %s after its preflight',
  async (path) => {
    const origin = 'http://localhost:3000';
    expect(origin).not.toBe(new URL(inject('apiUrl')).origin);
    const preflightHeaders = {
      ...{ origin, 'access-control-request-method': 'GET' },
      'access-control-request-headers': 'authorization',
    };
    const preflightReply = await api.request('OPTIONS', path, { headers: preflightHeaders });
    const { status, headers, text } = await api.request('GET', path, { headers: { origin } });
    expect([preflightReply.status < 300, status], text).toEqual([true, 200]);
    for (const reply of [preflightReply.headers, headers])
      expect(reply['access-control-allow-origin']).toBe(origin);
    expect(preflightReply.headers['access-control-allow-headers']?.toLowerCase()).toContain(
      'authorization',
    );
  },
);

test('POST /transactions/bulk writes what GET /summary adds up', async () => {
  const day = '1987-06-05';
  const row = { description: 'Bulk', amount: 12.5, type: 'expense', transaction_date: day };
  const body = { transactions: [row, { ...row, external_id: 'bulk-1' }] };
  expect((await api.request('POST', '/transactions/bulk', { body })).status).toBe(207);
  const query = { group_by: 'type', start_date: day, end_date: day };
  const { status, body: summary } = await api.request('GET', '/summary', { query });
  expect([status, summary.data]).toEqual([200, expect.objectContaining({ expense: 25, count: 2 })]);
});

test('npm run import reaches the stage', async () => {
  const file = join(await createTemporaryFolder(), 'bank.csv');
  await writeFile(file, 'date,name,amount\n1986-05-04,Tea,-3\n');
  const { stdout } = await runAsOperator('import/import', file, '--yes');
  expect(stdout).toContain('1 created');
});

test('npm run verify-ledger, keys and ledger reach the stage', async () => {
  const created = await runAsOperator('keys', 'create', '--name', 'short', '--ledger', 'short');
  const short = createHttpClient(inject('apiUrl'), {
    authorization: `Bearer ${created.stdout.trim()}`,
  });
  expect((await short.request('POST', '/categories/', { body: { name: 'A' } })).status).toBe(201);
  await short.close();
  const id = /Key (\w+)/.exec(created.stderr)?.[1] ?? '';
  await runAsOperator('keys', 'revoke', id);
  expect((await runAsOperator('verify-ledger', '--json')).stdout).toContain('"drifts":[]');
  const deleted = await runAsOperator('ledger', 'delete', '--ledger', 'short', '--yes');
  expect(deleted.stdout).toContain('1 categories');
});

/** Runs a command on the stage as the operator. */
async function runAsOperator(name: string, ...args: string[]) {
  const settings = { API_KEY: inject('apiKey'), LEDGER_ID: 'home' };
  const operator = { ...inject('operator').environment, ...settings };
  const result = await runCommand(`cli/ledger/${name}.ts`, ['--stage', stage, ...args], operator);
  expect(result.code, result.stderr).toBe(0);
  return result;
}

// The emulated gateway itself responds to the requests of the next two tests, so the functions are invoked directly.
test('the health check reads the table', async () => {
  const { statusCode, body } = await invoke('health', makeRequest('GET', { deep: '' }));
  expect([statusCode, JSON.parse(body).data]).toEqual([200, { status: 'ok', table: 'ok' }]);
});

test('the preflight function returns 404 for an unknown route', async () => {
  expect(await invoke('preflight', makeRequest('OPTIONS'))).toMatchObject({ statusCode: 404 });
});

test('GET /docs is a page that can reach only this service', async () => {
  const request = { ...makeRequest('GET'), headers: { 'accept-encoding': 'gzip' } };
  expect(await invoke('docs', request)).toMatchObject({
    statusCode: 200,
    isBase64Encoded: true,
    headers: {
      'content-encoding': 'gzip',
      'content-security-policy': expect.stringContaining("connect-src 'self'"),
    },
  });
});

test('the canary does what clients do, and notices a table that is not protected', async () => {
  expect(await invoke('canary', {})).toBeNull();
  const TableName = `finance-ledger-${stage}`;
  const dynamodb = new DynamoDBClient(clientOptions(inject('deployer').environment));
  const protect = (DeletionProtectionEnabled: boolean) =>
    dynamodb.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled }));
  await protect(false);
  const result = await invoke('canary', {});
  await protect(true);
  expect(result.errorMessage).toBe(`The table ${TableName} has no deletion protection.`);
});

test('a run that does not exist cannot be aborted', async () => {
  const result = await invoke('migrationAbort', { runId: 'no-such-run', execute: true });
  expect(result.errorMessage).toContain('no-such-run');
});

function makeRequest(method: string, queryStringParameters = {}) {
  const http = { method, path: '/nowhere' };
  return { headers: {}, queryStringParameters, requestContext: { requestId: 'direct', http } };
}

async function invoke(name: string, event: object) {
  const response = await lambda.send(
    new InvokeCommand({
      FunctionName: `finance-ledger-${stage}-${name}`,
      Payload: JSON.stringify(event),
    }),
  );
  return JSON.parse(Buffer.from(response.Payload ?? []).toString());
}
