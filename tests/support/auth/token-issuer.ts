// An OIDC issuer without a network: it signs access tokens and answers for its discovery document and keys.
import {
  exportJWK,
  type FetchImplementation,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose';

export const AUDIENCE = 'https://ledger.example';

type Claims = { readonly [Name in keyof JWTPayload]: JWTPayload[Name] | undefined };

export async function createTokenIssuer(issuer = 'https://login.example') {
  const requests: string[] = [];
  let isReachable = true;
  let keyId = 0;
  let { privateKey, jwk } = await newKey();

  async function newKey() {
    keyId += 1;
    const pair = await generateKeyPair('ES256', { extractable: true });
    const kid = `key-${keyId}`;
    return { privateKey: pair.privateKey, jwk: { ...(await exportJWK(pair.publicKey)), kid } };
  }

  const payload = (claims: Claims) =>
    ({
      iss: issuer,
      aud: AUDIENCE,
      sub: 'auth0|alice',
      scope: 'openid ledger:write',
      exp: Math.floor(Date.now() / 1000) + 300,
      ...claims,
    }) as JWTPayload;

  return {
    issuer,
    requests,
    disconnect() {
      isReachable = false;
    },
    reconnect() {
      isReachable = true;
    },
    /** From now on the issuer signs with another key, and publishes no other. */
    async rotate() {
      ({ privateKey, jwk } = await newKey());
    },
    sign: (claims: Claims = {}) =>
      new SignJWT(payload(claims))
        .setProtectedHeader({ alg: 'ES256', kid: jwk.kid })
        .sign(privateKey),
    unsigned: (claims: Claims = {}) => new UnsecuredJWT(payload(claims)).encode(),
    /** Signed with the published key as if it were a shared secret. */
    signedWithPublicKey: (claims: Claims = {}) =>
      new SignJWT(payload(claims))
        .setProtectedHeader({ alg: 'HS256', kid: jwk.kid })
        .sign(new TextEncoder().encode(JSON.stringify(jwk))),
    fetch: (async (url: string) => {
      requests.push(url);
      if (!isReachable) throw new TypeError('fetch failed');
      const documents: Record<string, object> = {
        [`${issuer}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${issuer}/keys` },
        [`${issuer}/keys`]: { keys: [jwk] },
      };
      return Response.json(documents[url] ?? {}, { status: documents[url] ? 200 : 404 });
    }) satisfies FetchImplementation,
  };
}
