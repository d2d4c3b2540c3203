// No client data reaches the log, even after an error: no amount, description, name, key or token.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFaultyClient, denied } from '../../shared/support/store-faults.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createServiceOn } from '../support/api/open-api.ts';

const { client, tableName } = await createTestTable();
const options = { tableName, ledgerId: 'log-contents', timeZone: 'UTC' };

const SECRETS = {
  description: 'SecretDescription',
  notes: 'SecretNotes',
  name: 'SecretName',
  amount: 987_654.32,
  token: 'SecretToken',
  key: 'SecretKey',
} as const;

const headers = {
  authorization: `Bearer ${SECRETS.token}`,
  'idempotency-key': SECRETS.key,
  cookie: `session=${SECRETS.token}`,
};

const lines: string[] = [];
const spies = [
  vi.spyOn(process.stdout, 'write'),
  vi.spyOn(process.stderr, 'write'),
  ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name)),
];

beforeAll(() => {
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'finance-ledger-test');
  for (const spy of spies) {
    spy.mockImplementation((...parts: unknown[]) => {
      lines.push(parts.map(String).join(' '));
      return true;
    });
  }
});

afterAll(() => {
  for (const spy of spies) spy.mockRestore();
  vi.unstubAllEnvs();
});

const transaction = {
  description: SECRETS.description,
  notes: SECRETS.notes,
  amount: SECRETS.amount,
  type: 'expense',
};

const REQUESTS = [
  ['POST', '/transactions', transaction],
  ['POST', '/transactions', { ...transaction, amount: `${SECRETS.amount}` }],
  ['POST', '/transactions', { ...transaction, [SECRETS.name]: 1 }],
  ['PUT', '/transactions/1', { description: SECRETS.description }],
  ['POST', '/categories', { name: SECRETS.name, description: SECRETS.description }],
  ['POST', '/categories', { name: SECRETS.name }],
  ['PUT', '/categories/1', { name: SECRETS.name }],
  ['GET', `/transactions/${SECRETS.key}`, undefined],
  ['GET', `/${SECRETS.key}`, undefined],
] as const;

test.each([
  ['a healthy table', client],
  ['a table that refuses every call', createFaultyClient(client, () => denied)],
])('the log contains no client data with %s', async (_, store) => {
  lines.length = 0;
  const api = await openInProcess(createServiceOn({ client: store, ...options }));
  for (const [method, path, body] of REQUESTS) {
    await api.request(method, path, { headers, ...(body && { body }) });
  }
  const log = lines.join('\n');
  expect(log).toContain('"message":"request"');
  for (const secret of Object.values(SECRETS)) expect(log).not.toContain(String(secret));
});
