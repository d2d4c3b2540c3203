// With authentication required, every route that reaches a ledger refuses callers without valid credentials.
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../../lib/ledger/auth/access-tokens.ts';
import type { Scope } from '../../../lib/ledger/domain/api-key.ts';
import { interpose } from '../../shared/support/interposed-client.ts';
import { createTestTable } from '../../shared/support/test-table.ts';
import { expectRequestId } from '../support/api/expect-response.ts';
import { openInProcess } from '../support/api/in-process-client.ts';
import { createTestService } from '../support/api/open-api.ts';
import { LEDGER_OPERATIONS } from '../support/api/routes.ts';
import { createTestKeys } from '../support/auth/test-keys.ts';
import { AUDIENCE, createTokenIssuer } from '../support/auth/token-issuer.ts';

const table = await createTestTable();
const issuer = await createTokenIssuer();
const calls: string[] = [];
let now = Date.parse('2026-03-01T12:00:00Z');
const clock = () => new Date(now);
const client = interpose(table.client, (commandName) => {
  calls.push(commandName);
});
const service = await createTestService({
  client,
  tableName: table.tableName,
  ledgerId: undefined,
  clock,
  verifyToken: createTokenVerifier(
    { issuer: issuer.issuer, audience: AUDIENCE },
    { fetchKeys: issuer.fetch },
  ),
});
const api = await openInProcess(service);
const keys = createTestKeys(table, clock);

async function createKey(ledger: string, scope: Scope = 'write') {
  const { key, secret } = await keys.create({ name: 'test', ledger, scope });
  return { ...key, headers: { authorization: `Bearer ${secret}` } };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const issueToken = async (scope: string) => bearer(await issuer.sign({ scope }));
const readOnlyKey = await createKey('alice', 'read');
const revoked = await createKey('alice');
await keys.revoke(revoked.id);

const CALLERS_TO_REFUSE: [string, Record<string, string>][] = [
  ['a caller without credentials', {}],
  ['an unknown key', bearer(`fl_${'A'.repeat(43)}`)],
  ['a revoked key', revoked.headers],
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
      const response = await api.request(method, path, { headers });
      expect(response).toMatchObject({
        status: 401,
        body: { success: false, error: 'unauthenticated', message: expect.stringMatching(/\S/) },
        headers: { 'www-authenticate': 'Bearer' },
      });
      expectRequestId(response);
      expect(calls.length).toBeLessThanOrEqual(1);
    },
  );

  it.each([
    ['a key with scope "read" read only', async () => readOnlyKey.headers, method === 'GET'],
    ['a token with scope "read" read only', () => issueToken('ledger:read'), method === 'GET'],
    ['a token with another scope do nothing', () => issueToken('openid profile'), false],
  ])('lets %s', async (_, createHeaders, isAllowed) => {
    const { status, body } = await api.request(method, path, { headers: await createHeaders() });
    if (isAllowed) expect(status).not.toBe(403);
    else expect({ status, error: body.error }).toEqual({ status: 403, error: 'forbidden' });
  });
});

describe('GET /me', () => {
  it('names the ledger, scope, id and name of a key', async () => {
    const { id: key_id, headers } = readOnlyKey;
    const { data } = (await api.request('GET', '/me', { headers })).body;
    expect(data).toEqual({ ledger: 'alice', scope: 'read', kind: 'key', key_id, name: 'test' });
  });

  it('names the ledger and scope of a token', async () => {
    const headers = await issueToken('ledger:write');
    expect((await api.request('GET', '/me', { headers })).body.data).toEqual({
      ledger: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
      scope: 'write',
      kind: 'token',
    });
  });
});

it('a second revocation keeps the time of the first', async () => {
  const { id } = await createKey('alice-5');
  const { revokedAt } = await keys.revoke(id);
  now += 60_000;
  expect((await keys.revoke(id)).revokedAt).toBe(revokedAt);
  expect((await keys.list()).find((key) => key.id === id)?.revokedAt).toBe(revokedAt);
});

it('neither the secret of a key nor anything that reveals it is stored', async () => {
  const { secret, key } = await keys.create({ name: 'phone', ledger: 'carol', scope: 'read' });
  expect(secret).toMatch(/^fl_[\w-]{43}$/);
  const listed = (await keys.list()).find(({ id }) => id === key.id);
  const expected = { id: key.id, name: 'phone', ledger: 'carol', scope: 'read' };
  expect(listed).toEqual({ ...expected, createdAt: now });
  expect(JSON.stringify(listed)).not.toContain(secret.slice(3));
});

it.each(['fl_', 'fl_x', `fl_${'A'.repeat(42)}`, `fl_${'A'.repeat(44)}`, `fl_${'ä'.repeat(43)}`])(
  'nothing is read for %s, which does not have the form of a key',
  async (secret) => {
    const client = {
      send() {
        throw new Error('Read from the table');
      },
    } as unknown as typeof table.client;
    expect(await createTestKeys({ ...table, client }).find(secret)).toBeUndefined();
    await expect(createTestKeys({ ...table, client }).find(`fl_${'A'.repeat(43)}`)).rejects.toThrow(
      'Read from the table',
    );
  },
);

it('a key has its own partition, which no other key slows down', async () => {
  const [first, second] = [await createKey('alice'), await createKey('alice')];
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.tableName }));
  const partitions = Items.filter(({ name }) => name !== undefined).map(({ pk }) => String(pk));
  const ownPartitions = partitions.filter((pk) =>
    [first, second].some(({ id }) => pk.includes(id)),
  );
  expect(ownPartitions).toHaveLength(2);
  expect(new Set(ownPartitions).size).toBe(2);
});

it('revoking something that is not a key is refused', async () => {
  for (const id of ['', '0', 'f'.repeat(12), '~']) {
    await expect(keys.revoke(id)).rejects.toMatchObject({ name: 'NotFoundError' });
  }
});
