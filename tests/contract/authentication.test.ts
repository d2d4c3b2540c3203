// Where authentication is required, every route that reaches a ledger refuses whoever does not prove who they are.
import { describe, expect, it, vi } from 'vitest';
import { createTokenVerifier } from '../../lib/auth/access-tokens.ts';
import { createApiKeys } from '../../lib/auth/api-keys.ts';
import type { Scope } from '../../lib/auth/caller.ts';
import { DEFAULT_RETRY_POLICY } from '../../lib/retry.ts';
import { createDatabase } from '../../lib/store/database.ts';
import { expectRequestId } from '../support/api/expect-reply.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { LEDGER_OPERATIONS } from '../support/api/routes.ts';
import { AUDIENCE, createTokenIssuer } from '../support/auth/token-issuer.ts';
import { interpose } from '../support/interposed-client.ts';
import { createTestTable } from '../support/test-table.ts';

const table = await createTestTable();
const issuer = await createTokenIssuer();
const calls: string[] = [];
let now = Date.parse('2026-03-01T12:00:00Z');
const clock = () => new Date(now);
const client = interpose(table.client, (commandName) => {
  calls.push(commandName);
});
const service = await createTestService({
  ...{ client, tableName: table.tableName, ledgerId: undefined, clock },
  verifyToken: createTokenVerifier(
    { issuer: issuer.issuer, audience: AUDIENCE },
    { fetchKeys: issuer.fetch },
  ),
});
const api = await openInProcess(service);
const keys = createApiKeys({
  database: createDatabase({ ...table, retryPolicy: DEFAULT_RETRY_POLICY }),
  clock,
});

async function newKey(ledger: string, scope: Scope = 'write') {
  const { key, secret } = await keys.create({ name: 'test', ledger, scope });
  return { ...key, headers: { authorization: `Bearer ${secret}` } };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const revoked = await newKey('alice');
await keys.revoke(revoked.id);

const CALLERS_TO_REFUSE: [string, Record<string, string>][] = [
  ['nobody', {}],
  ['an unknown key', bearer(`fl_${'A'.repeat(43)}`)],
  ['a revoked key', revoked.headers],
  ['an expired token', bearer(await issuer.sign({ exp: 1 }))],
  ['a token for another audience', bearer(await issuer.sign({ aud: 'other' }))],
  ['a token without a signature', bearer(issuer.unsigned())],
  ['a forged token', bearer(await (await createTokenIssuer()).sign())],
];

const ROUTES = LEDGER_OPERATIONS.map(([route]) => {
  const [method = '', path = ''] = route.replace('{id}', '1').split(' ');
  return { method, path };
});

describe.each(ROUTES)('$method $path', ({ method, path }) => {
  it.each(CALLERS_TO_REFUSE)(
    'refuses %s with 401 before it reads the ledger',
    async (_, headers) => {
      calls.length = 0;
      const reply = await api.request(method, path, { headers });
      expect(reply).toMatchObject({
        status: 401,
        body: { success: false, error: 'unauthenticated', message: expect.stringMatching(/\S/) },
        headers: { 'www-authenticate': 'Bearer' },
      });
      expectRequestId(reply);
      expect(calls.length).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    ['a key', async () => (await newKey('alice', 'read')).headers],
    ['a token', async () => bearer(await issuer.sign({ scope: 'ledger:read' }))],
  ])('lets %s with scope "read" read only', async (_, headersOf) => {
    const { status, body } = await api.request(method, path, { headers: await headersOf() });
    if (method === 'GET') expect(status).not.toBe(403);
    else expect({ status, error: body.error }).toEqual({ status: 403, error: 'forbidden' });
  });

  it('refuses a token with another scope', async () => {
    const headers = bearer(await issuer.sign({ scope: 'openid profile' }));
    const { status, body } = await api.request(method, path, { headers });
    expect({ status, error: body.error }).toEqual({ status: 403, error: 'forbidden' });
  });
});

describe('GET /me', () => {
  it('names ledger, scope, id and name of a key', async () => {
    const { id, headers } = await newKey('alice', 'read');
    expect((await api.request('GET', '/me', { headers })).body.data).toEqual({
      ledger: 'alice',
      scope: 'read',
      kind: 'key',
      key_id: id,
      name: 'test',
    });
  });

  it('names ledger and scope of a token', async () => {
    const headers = bearer(await issuer.sign({ scope: 'ledger:write' }));
    expect((await api.request('GET', '/me', { headers })).body.data).toEqual({
      ledger: expect.stringMatching(/^user-/),
      scope: 'write',
      kind: 'token',
    });
  });
});

it('answers for the record of another ledger as for one that never existed', async () => {
  const alice = await newKey('alice-2');
  const bob = await newKey('bob-2');
  const body = { description: 'Lunch', amount: 12, type: 'expense' };
  const created = await api.request('POST', '/transactions', { body, headers: alice.headers });
  const path = `/transactions/${created.body.data.id}`;
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const reply = await api.request(method, path, { headers: bob.headers, body });
    expect(reply.status).toBe(404);
  }
  expect((await api.request('GET', path, { headers: alice.headers })).status).toBe(200);
});

it('answers 503 while the issuer of tokens cannot be reached, and serves API keys as ever', async () => {
  const token = bearer(await issuer.sign());
  const phone = await newKey('alice-4');
  const other = await createTokenIssuer();
  other.disconnect();
  const withoutIssuer = await openInProcess(
    await createTestService({
      ...{ client, tableName: table.tableName, ledgerId: undefined, clock },
      verifyToken: createTokenVerifier(
        { issuer: other.issuer, audience: AUDIENCE },
        { fetchKeys: other.fetch },
      ),
    }),
  );
  const log = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const refused = await withoutIssuer.request('GET', '/categories', { headers: token });
  log.mockRestore();
  expect(refused).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    body: { error: 'unavailable', message: 'The issuer of access tokens cannot be reached' },
  });
  const { headers } = phone;
  expect((await withoutIssuer.request('GET', '/categories', { headers })).status).toBe(200);
});

it('keeps the time of the first revocation', async () => {
  const { id } = await newKey('alice-5');
  const { revokedAt } = await keys.revoke(id);
  now += 60_000;
  expect((await keys.revoke(id)).revokedAt).toBe(revokedAt);
  expect((await keys.list()).find((key) => key.id === id)?.revokedAt).toBe(revokedAt);
});

it('costs one read of one item for a key, once in 30 seconds', async () => {
  const { headers } = await newKey('alice-3');
  const read = async () => {
    calls.length = 0;
    await api.request('GET', '/categories', { headers });
    return [...calls];
  };
  // The first use of the day also records the day.
  expect(await read()).toEqual(['GetCommand', 'TransactWriteCommand', 'QueryCommand']);
  expect(await read()).toEqual(['QueryCommand']);
  now += 30_000;
  expect(await read()).toEqual(['GetCommand', 'QueryCommand']);
});

it('stores neither the secret nor anything to derive it from', async () => {
  const { secret, key } = await keys.create({ name: 'phone', ledger: 'carol', scope: 'read' });
  expect(secret).toMatch(/^fl_[\w-]{43}$/);
  const listed = (await keys.list()).find(({ id }) => id === key.id);
  expect(listed).toEqual({
    ...{ id: key.id, name: 'phone', ledger: 'carol', scope: 'read', createdAt: now },
    ...{ lastUsedOn: undefined, revokedAt: undefined },
  });
  expect(JSON.stringify(listed)).not.toContain(secret.slice(3));
});

it('refuses to revoke what is not a key', async () => {
  for (const id of ['', '0', 'f'.repeat(12), '~']) {
    await expect(keys.revoke(id)).rejects.toMatchObject({ name: 'NotFoundError' });
  }
});
