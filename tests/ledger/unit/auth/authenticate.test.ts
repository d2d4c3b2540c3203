// Authentication of a request by an API key, by an access token, or as the default ledger.
import { describe, expect, it } from 'vitest';
import { createAuthenticate, requireAllowed } from '../../../../lib/ledger/auth/authenticate.ts';
import type { ApiKey } from '../../../../lib/ledger/domain/api-key.ts';
import { ForbiddenError, UnauthenticatedError } from '../../../../lib/ledger/errors.ts';

const KEY: ApiKey = {
  id: '0123456789ab',
  name: 'phone',
  ledger: 'alice',
  scope: 'write',
  createdAt: 0,
  lastUsedOn: undefined,
  revokedAt: undefined,
};
const ANONYMOUS_CALLER = { ledger: 'default', scope: 'write' } as const;
const TOKEN_CALLER = { ledger: 'user-of-token', scope: 'read' } as const;

function setUp(options: { isOpen?: boolean; hasIssuer?: boolean } = {}) {
  const storedKeys = new Map<string, ApiKey>([['fl_phone', KEY]]);
  const lookups: string[] = [];
  const recordedDays: string[] = [];
  let now = Date.parse('2026-03-01T23:59:50Z');
  const authenticateWithin = createAuthenticate({
    findKey: async (secret) => {
      lookups.push(secret);
      return storedKeys.get(secret);
    },
    markUsed: async (secret, day) => {
      recordedDays.push(day);
      const key = storedKeys.get(secret);
      if (key) storedKeys.set(secret, { ...key, lastUsedOn: day });
    },
    verifyToken: options.hasIssuer ? async () => TOKEN_CALLER : undefined,
    anonymous: options.isOpen ? ANONYMOUS_CALLER : undefined,
    clock: () => new Date(now),
  });
  const limits = { deadline: Number.POSITIVE_INFINITY, signal: new AbortController().signal };
  const authenticate = (header: string | undefined) => authenticateWithin(header, limits);
  const advance = (seconds: number) => {
    now += seconds * 1_000;
  };
  const revoke = () => storedKeys.set('fl_phone', { ...KEY, revokedAt: now });
  return { authenticate, lookups, recordedDays, advance, revoke, storedKeys };
}

describe('authentication', () => {
  it('finds the ledger and the scope of the API key', async () => {
    const { authenticate } = setUp();
    expect(await authenticate('Bearer fl_phone')).toMatchObject({
      ledger: 'alice',
      scope: 'write',
    });
    expect(await authenticate('bearer fl_phone')).toMatchObject({ ledger: 'alice' });
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic fl_phone'],
    ['a scheme alone', 'Bearer'],
    ['two keys', 'Bearer fl_phone fl_phone'],
    ['two headers in one', 'Bearer fl_phone, Bearer fl_phone'],
    ['an unknown key', 'Bearer fl_tablet'],
    ['a token if no issuer is configured', 'Bearer a.b.c'],
    ['the name of a property', 'Bearer __proto__'],
  ])('refuses a request with %s', async (_, header) => {
    const { authenticate } = setUp();
    await expect(authenticate(header)).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('accepts an access token without reading a key', async () => {
    const { authenticate, lookups } = setUp({ hasIssuer: true });
    expect(await authenticate('Bearer a.b.c')).toEqual({ ...TOKEN_CALLER, kind: 'token' });
    expect(lookups).toEqual([]);
  });

  it('uses the default ledger if no key is required, but never for a wrong key', async () => {
    const { authenticate } = setUp({ isOpen: true });
    expect(await authenticate(undefined)).toEqual({ ...ANONYMOUS_CALLER, kind: 'anonymous' });
    expect(await authenticate('Bearer fl_phone')).toMatchObject({ ledger: 'alice' });
    await expect(authenticate('Bearer fl_tablet')).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('reads a key again after 30 seconds, so that a revocation takes effect within a minute', async () => {
    const { authenticate, lookups, advance, revoke } = setUp();
    await authenticate('Bearer fl_phone');
    revoke();
    advance(29);
    await authenticate('Bearer fl_phone');
    expect(lookups).toHaveLength(1);
    advance(1);
    await expect(authenticate('Bearer fl_phone')).rejects.toBeInstanceOf(UnauthenticatedError);
    await expect(authenticate('Bearer fl_phone')).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('reads an unknown or revoked key again only after a minute', async () => {
    const { authenticate, storedKeys, lookups, advance, revoke } = setUp();
    revoke();
    for (const secret of ['fl_new', 'fl_phone']) {
      for (const seconds of [0, 59]) {
        advance(seconds);
        const refused = authenticate(`Bearer ${secret}`);
        await expect(refused).rejects.toBeInstanceOf(UnauthenticatedError);
      }
      expect(lookups.splice(0)).toEqual([secret]);
    }
    storedKeys.set('fl_new', KEY);
    advance(60);
    expect(await authenticate('Bearer fl_new')).toMatchObject({ ledger: 'alice' });
  });

  it('keeps a bounded number of refusals in memory, without evicting a valid key', async () => {
    const { authenticate, lookups } = setUp();
    await authenticate('Bearer fl_phone');
    for (let number = 0; number < 1_001; number += 1) {
      await authenticate(`Bearer fl_${number}`).catch(() => undefined);
    }
    await authenticate('Bearer fl_phone');
    await authenticate('Bearer fl_1').catch(() => undefined);
    expect(lookups).toHaveLength(1_002);
    await authenticate('Bearer fl_0').catch(() => undefined);
    expect(lookups).toHaveLength(1_003);
  });

  it('records once a day that a key was used', async () => {
    const { authenticate, recordedDays, advance } = setUp();
    for (let minute = 0; minute < 5; minute += 1) {
      await authenticate('Bearer fl_phone');
      advance(60);
    }
    expect(recordedDays).toEqual(['2026-03-01', '2026-03-02']);
  });

  it('keeps a bounded number of keys in memory', async () => {
    const { authenticate, lookups, storedKeys } = setUp();
    for (let number = 0; number < 1_001; number += 1) {
      storedKeys.set(`fl_${number}`, KEY);
      await authenticate(`Bearer fl_${number}`);
    }
    await authenticate('Bearer fl_1');
    expect(lookups).toHaveLength(1_001);
    await authenticate('Bearer fl_0');
    expect(lookups).toHaveLength(1_002);
  });
});

describe('the scope of a caller', () => {
  it.each([
    ['read', 'GET', true],
    ['read', 'HEAD', true],
    ['read', 'POST', false],
    ['read', 'DELETE', false],
    ['write', 'DELETE', true],
    [undefined, 'GET', false],
  ] as const)('%s allows %s: %s', (scope, method, isAllowed) => {
    const check = () => requireAllowed({ ledger: 'alice', scope }, method);
    if (isAllowed) expect(check).not.toThrow();
    else expect(check).toThrow(ForbiddenError);
  });
});
