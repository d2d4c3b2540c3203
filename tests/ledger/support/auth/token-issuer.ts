// An OIDC issuer without a network: it signs access tokens, and serves its discovery document and its keys.
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
  let describedIssuer = issuer;
  let current = await createKey();
  let publishedKeys: unknown[] = [current.jwk];
  let keySet: object | undefined;

  async function createKey(alg = 'ES256') {
    keyId += 1;
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return { alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid: `key-${keyId}` } };
  }

  const createPayload = (claims: Claims) =>
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
    /** From now on the issuer's discovery document names another issuer. */
    nameIssuer(other: string) {
      describedIssuer = other;
    },
    /** From now on the issuer signs with a new key, and publishes only that one. */
    async rotate(alg?: string) {
      current = await createKey(alg);
      publishedKeys = [current.jwk];
    },
    /** From now on the issuer also publishes a key that signs nothing. */
    async publishAnother(fields: object = {}) {
      publishedKeys = [{ ...(await createKey()).jwk, ...fields }, ...publishedKeys];
    },
    /** From now on the issuer publishes this value as the first of its keys. */
    publish(key: unknown) {
      publishedKeys = [key, ...publishedKeys];
    },
    /** From now on the issuer publishes this document in place of its key set. */
    publishOnly(document: object) {
      keySet = document;
    },
    /** Makes a token with the given header and an invalid signature. */
    forge(header: object, claims: Claims = {}) {
      const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const signature = Buffer.alloc(64, 1).toString('base64url');
      return `${encode(header)}.${encode(createPayload(claims))}.${signature}`;
    },
    /** @param kid id of the key, for the header of the token; undefined leaves it out */
    sign: (claims: Claims = {}, { kid }: { kid?: string | undefined } = current.jwk) =>
      new SignJWT(createPayload(claims))
        .setProtectedHeader({ alg: current.alg, ...(kid === undefined ? {} : { kid }) })
        .sign(current.privateKey),
    createUnsigned: (claims: Claims = {}) => new UnsecuredJWT(createPayload(claims)).encode(),
    /** Signs a token with the public key as if it were a shared secret. */
    signWithPublicKey: (claims: Claims = {}) =>
      new SignJWT(createPayload(claims))
        .setProtectedHeader({ alg: 'HS256', kid: current.jwk.kid })
        .sign(new TextEncoder().encode(JSON.stringify(current.jwk))),
    fetch: (async (url: string) => {
      requests.push(url);
      if (!isReachable) throw new TypeError('fetch failed');
      const documents: Record<string, object> = {
        [`${issuer}/.well-known/openid-configuration`]: {
          issuer: describedIssuer,
          jwks_uri: `${issuer}/keys`,
        },
        [`${issuer}/keys`]: keySet ?? { keys: publishedKeys },
      };
      return Response.json(documents[url] ?? {}, { status: documents[url] ? 200 : 404 });
    }) satisfies FetchImplementation,
  };
}
