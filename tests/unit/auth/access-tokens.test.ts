import { describe, expect, it } from 'vitest';
import { createTokenVerifier } from '../../../lib/auth/access-tokens.ts';
import { ledgerOfSubject } from '../../../lib/auth/caller.ts';
import { UnauthenticatedError } from '../../../lib/errors.ts';
import { AUDIENCE, createTokenIssuer } from '../../support/auth/token-issuer.ts';

const anHourAgo = () => Math.floor(Date.now() / 1000) - 3600;

async function world() {
  const issuer = await createTokenIssuer();
  const settings = { issuer: issuer.issuer, audience: AUDIENCE };
  const verify = createTokenVerifier(settings, { fetchKeys: issuer.fetch, cooldownMs: 0 });
  return { issuer, verify };
}

describe('access tokens', () => {
  it('opens the ledger of issuer and subject', async () => {
    const { issuer, verify } = await world();
    expect(await verify(await issuer.sign())).toEqual({
      ledger: ledgerOfSubject(issuer.issuer, 'auth0|alice'),
      scope: 'write',
    });
  });

  it.each([
    ['ledger:write', 'write'],
    ['ledger:read ledger:write', 'write'],
    ['openid ledger:read', 'read'],
    ['openid ledger:writer', undefined],
    ['', undefined],
  ])('takes the scope "%s" for %s', async (scope, expected) => {
    const { issuer, verify } = await world();
    expect((await verify(await issuer.sign({ scope }))).scope).toBe(expected);
  });

  it.each<[string, (issuer: Awaited<ReturnType<typeof createTokenIssuer>>) => Promise<string>]>([
    ['is expired', (issuer) => issuer.sign({ exp: anHourAgo() })],
    ['never expires', (issuer) => issuer.sign({ exp: undefined })],
    ['is not valid yet', (issuer) => issuer.sign({ nbf: Math.floor(Date.now() / 1000) + 3600 })],
    ['is for another audience', (issuer) => issuer.sign({ aud: 'https://other.example' })],
    ['is of another issuer', (issuer) => issuer.sign({ iss: 'https://other.example' })],
    ['names no subject', (issuer) => issuer.sign({ sub: undefined })],
    ['names an empty subject', (issuer) => issuer.sign({ sub: '' })],
    ['has no signature', async (issuer) => issuer.unsigned()],
    ['is signed with the public key', (issuer) => issuer.signedWithPublicKey()],
    ['is signed by somebody else', async () => (await createTokenIssuer()).sign()],
    ['is no token', async () => 'abc.def.ghi'],
    [
      'was changed',
      async (issuer) => {
        const [head, , signature] = (await issuer.sign()).split('.');
        const other = Buffer.from(JSON.stringify({ sub: 'bob' })).toString('base64url');
        return `${head}.${other}.${signature}`;
      },
    ],
  ])('refuses a token that %s', async (_, forge) => {
    const { issuer, verify } = await world();
    await expect(verify(await forge(issuer))).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('fetches the signing keys once', async () => {
    const { issuer, verify } = await world();
    for (const sub of ['alice', 'bob', 'carol']) await verify(await issuer.sign({ sub }));
    expect(issuer.requests).toEqual([
      `${issuer.issuer}/.well-known/openid-configuration`,
      `${issuer.issuer}/keys`,
    ]);
  });

  it('follows a rotation of the signing keys, and refuses the old ones', async () => {
    const { issuer, verify } = await world();
    const old = await issuer.sign();
    await verify(old);
    await issuer.rotate();
    expect((await verify(await issuer.sign())).scope).toBe('write');
    await expect(verify(old)).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  it('does not blame the token when the issuer cannot be reached, and recovers', async () => {
    const { issuer, verify } = await world();
    issuer.disconnect();
    const failure = await verify(await issuer.sign()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TypeError);
    issuer.reconnect();
    expect((await verify(await issuer.sign())).scope).toBe('write');
  });

  it('keeps the ledgers of equal subjects of two issuers apart', () => {
    const ledgers = ['https://one.example', 'https://two.example'].map((issuer) =>
      ledgerOfSubject(issuer, 'alice'),
    );
    expect(new Set(ledgers).size).toBe(2);
    for (const ledger of ledgers) expect(ledger).toMatch(/^user-[\w-]{43}$/);
  });
});
