// Access tokens of an OIDC issuer: the ledger that a token opens, signing keys that change, and forged tokens.
import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../../../lib/ledger/auth/access-tokens.ts';
import { deriveLedgerId } from '../../../../lib/ledger/auth/caller.ts';
import { UnauthenticatedError, UnavailableError } from '../../../../lib/ledger/errors.ts';
import { AUDIENCE, createTokenIssuer } from '../../support/auth/token-issuer.ts';

async function createWeakKey() {
  const { publicKey } = await crypto.subtle.generateKey({ ...RSA, modulusLength: 1024 }, true, [
    'sign',
    'verify',
  ]);
  return await exportJWK(publicKey);
}

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
};

const createKeyPair = () => generateKeyPair('ES256', { extractable: true });

const anHourAgo = () => Math.floor(Date.now() / 1000) - 3600;

type Issuer = Awaited<ReturnType<typeof createTokenIssuer>>;

function createVerifier({ issuer, fetch: fetchKeys }: Issuer) {
  return createTokenVerifier({ issuer, audience: AUDIENCE }, { fetchKeys, cooldownMs: 0 });
}

/** Creates claims with a subject that is not a string. */
const withSubject = (sub: unknown) => ({ sub }) as { readonly sub: string };

async function setUp() {
  const issuer = await createTokenIssuer();
  return { issuer, verify: createVerifier(issuer) };
}

describe('the access token verifier', () => {
  it('opens the ledger of the token’s issuer and subject', async () => {
    const { issuer, verify } = await setUp();
    expect(await verify(await issuer.sign())).toEqual({
      ledger: deriveLedgerId(issuer.issuer, 'auth0|alice'),
      scope: 'write',
    });
  });

  it.each([
    ['ledger:write', 'write'],
    ['ledger:read ledger:write', 'write'],
    ['openid ledger:read', 'read'],
    ['openid ledger:writer', undefined],
    ['constructor', undefined],
    ['', undefined],
    [5, undefined],
  ])('reads the scope "%s" as %s', async (scope, expected) => {
    const { issuer, verify } = await setUp();
    expect((await verify(await issuer.sign({ scope }))).scope).toBe(expected);
  });

  it.each<[string, Parameters<Issuer['sign']>[0], string]>([
    ['Auth0', { aud: [AUDIENCE, 'https://login.example/userinfo'] }, 'write'],
    ['Okta', { scope: undefined, scp: ['openid', 'ledger:read'] }, 'read'],
    ['Entra ID', { scope: undefined, scp: 'ledger:read ledger:write' }, 'write'],
    ['Cognito', { aud: undefined, client_id: AUDIENCE, scope: `${AUDIENCE}/ledger:read` }, 'read'],
  ])('accepts the claims of %s', async (_, claims, scope) => {
    const { issuer, verify } = await setUp();
    expect((await verify(await issuer.sign(claims))).scope).toBe(scope);
  });

  it.each<[string, (issuer: Issuer) => Promise<string>]>([
    ['is expired', (issuer) => issuer.sign({ exp: anHourAgo() })],
    ['never expires', (issuer) => issuer.sign({ exp: undefined })],
    ['is not valid yet', (issuer) => issuer.sign({ nbf: Math.floor(Date.now() / 1000) + 3600 })],
    ['is for another audience', (issuer) => issuer.sign({ aud: 'https://other.example' })],
    ['is for no audience', (issuer) => issuer.sign({ aud: undefined })],
    ['is for another app', (issuer) => issuer.sign({ aud: undefined, client_id: 'other' })],
    [
      'is for another audience, even if its client id is our audience',
      (issuer) => issuer.sign({ aud: 'https://other.example', client_id: AUDIENCE }),
    ],
    ['names another issuer', (issuer) => issuer.sign({ iss: 'https://other.example' })],
    ['names no subject', (issuer) => issuer.sign({ sub: undefined })],
    ['names an empty subject', (issuer) => issuer.sign({ sub: '' })],
    ['names a number as its subject', (issuer) => issuer.sign(withSubject(5))],
    ['names several subjects', (issuer) => issuer.sign(withSubject(['auth0|alice']))],
    ['has an object as its subject', (issuer) => issuer.sign(withSubject({ id: 1 }))],
    ['has a lone surrogate in its subject', (issuer) => issuer.sign({ sub: 'alice\ud800' })],
    ['has no signature', async (issuer) => issuer.createUnsigned()],
    ['is signed with the public key', (issuer) => issuer.signWithPublicKey()],
    ['is signed by another issuer', async () => (await createTokenIssuer()).sign()],
    [
      'is signed with an algorithm that we do not accept',
      async (issuer) => {
        await issuer.rotate('RS512');
        return await issuer.sign();
      },
    ],
    [
      'is signed by another issuer, without a key id, while the issuer has two keys',
      async (issuer) => {
        await issuer.publishAnother();
        return await (await createTokenIssuer()).sign({}, {});
      },
    ],
    ['is not a token', async () => 'abc.def.ghi'],
    [
      'was changed',
      async (issuer) => {
        const [head, , signature] = (await issuer.sign()).split('.');
        const payload = Buffer.from(JSON.stringify({ sub: 'bob' })).toString('base64url');
        return `${head}.${payload}.${signature}`;
      },
    ],
  ])('refuses a token that %s', async (_, forge) => {
    const { issuer, verify } = await setUp();
    await expect(verify(await forge(issuer))).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('fetches the signing keys once', async () => {
    const { issuer, verify } = await setUp();
    for (const sub of ['alice', 'bob', 'carol']) await verify(await issuer.sign({ sub }));
    expect(issuer.requests).toEqual([
      `${issuer.issuer}/.well-known/openid-configuration`,
      `${issuer.issuer}/keys`,
    ]);
  });

  it('follows a rotation of the signing keys, and refuses the old keys', async () => {
    const { issuer, verify } = await setUp();
    const oldToken = await issuer.sign();
    await verify(oldToken);
    await issuer.rotate();
    expect((await verify(await issuer.sign())).scope).toBe('write');
    await expect(verify(oldToken)).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('tries all keys for a token without a key id, or with an id that two keys share', async () => {
    const { issuer, verify } = await setUp();
    expect((await verify(await issuer.sign({}, {}))).scope).toBe('write');
    await issuer.rotate();
    await issuer.publishAnother();
    await issuer.publishAnother({ kid: 'key-2' });
    for (const header of [{}, { kid: 'key-2' }]) {
      const token = await issuer.sign({}, header);
      expect((await createVerifier(issuer)(token)).scope).toBe('write');
      const expired = await issuer.sign({ exp: anHourAgo() }, header);
      await expect(createVerifier(issuer)(expired)).rejects.toBeInstanceOf(UnauthenticatedError);
    }
  });

  describe('an unusable key of the issuer', () => {
    it.each<[string, () => object | null | Promise<object>]>([
      ['is weak', () => createWeakKey()],
      ['is private', async () => exportJWK((await createKeyPair()).privateKey)],
      ['is a shared secret', () => ({ kty: 'oct', k: 'c2VjcmV0' })],
      ['is not a point on its curve', () => ({ kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' })],
      ['has no modulus', () => ({ kty: 'RSA', e: 'AQAB' })],
      ['is of an unknown type', () => ({ kty: 'LATTICE' })],
      ['is not an object', () => null],
    ])('is skipped if it %s', async (_, createKey) => {
      const { issuer, verify } = await setUp();
      const key = await createKey();
      issuer.publish(key && { ...key, kid: 'odd' });
      expect((await verify(await issuer.sign({}, {}))).scope).toBe('write');
      expect((await verify(await issuer.sign())).scope).toBe('write');
      for (const alg of ['ES256', 'RS256']) {
        const forged = await issuer.forge({ alg, kid: 'odd' });
        await expect(verify(forged)).rejects.toBeInstanceOf(UnauthenticatedError);
        const withoutKeyId = await issuer.forge({ alg });
        await expect(verify(withoutKeyId)).rejects.toBeInstanceOf(UnauthenticatedError);
      }
    });
  });

  it('reports the issuer as unavailable if its response has no key set', async () => {
    const { issuer, verify } = await setUp();
    issuer.publishOnly({ keys: 'none' });
    await expect(verify(await issuer.sign())).rejects.toBeInstanceOf(UnavailableError);
  });

  it('reports an unreachable issuer as unavailable, and accepts its tokens once it responds', async () => {
    const { issuer, verify } = await setUp();
    issuer.disconnect();
    await expect(verify(await issuer.sign())).rejects.toBeInstanceOf(UnavailableError);
    issuer.reconnect();
    expect((await verify(await issuer.sign())).scope).toBe('write');
    issuer.disconnect();
    await issuer.rotate();
    await expect(verify(await issuer.sign())).rejects.toBeInstanceOf(UnavailableError);
  });

  it('accepts no keys from a discovery document of another issuer', async () => {
    const { issuer, verify } = await setUp();
    issuer.nameIssuer('https://other.example');
    await expect(verify(await issuer.sign())).rejects.toBeInstanceOf(UnavailableError);
  });

  it('keeps the ledgers of the same subject at two issuers separate', () => {
    const ledgers = ['https://one.example', 'https://two.example'].map((issuer) =>
      deriveLedgerId(issuer, 'alice'),
    );
    expect(new Set(ledgers).size).toBe(2);
    for (const ledger of ledgers) expect(ledger).toMatch(/^[0-9A-Za-z]{22}$/);
  });
});
