// Verifies JWT access tokens from an OIDC issuer. The signing keys come from the issuer's discovery document (OpenID Connect
// Discovery 1.0) and are cached. They are fetched again when a token names an unknown key id, so that the issuer can rotate them.
import {
  type CryptoKey,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  importJWK,
  type JWK,
  type JWTPayload,
  jwtVerify,
} from 'jose';
import * as v from 'valibot';
import type { Scope } from '../domain/api-key.ts';
import { UnauthenticatedError, UnavailableError } from '../errors.ts';
import { type Caller, deriveLedgerId } from './caller.ts';

export interface TokenIssuer {
  /** Value of `iss`, such as https://login.example. */
  readonly issuer: string;
  /** Value of `aud`: the name of this API at the issuer. For Cognito, the app's `client_id`. */
  readonly audience: string;
}

export type VerifyToken = (token: string) => Promise<Caller>;

/** Public-key signatures only: with a shared secret, anyone who can verify could also sign. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];
/** Algorithm used to import a fetched key, by its type (`kty`). */
const ALGORITHM_BY_KEY_TYPE: ReadonlyMap<unknown, string> = new Map([
  ['RSA', 'RS256'],
  ['EC', 'ES256'],
  ['OKP', 'EdDSA'],
]);
const MIN_MODULUS_BITS = 2_048;
/** Allowed difference between the issuer's clock and this machine's. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** Minimum time between two fetches of the keys, no matter how many unknown key ids are sent. */
const COOLDOWN_MS = 10_000;
const CACHE_MS = 10 * 60_000;
const TIMEOUT_MS = 3_000;
const TOKEN_SCOPES: ReadonlyMap<string, Scope> = new Map([
  ['ledger:write', 'write'],
  ['ledger:read', 'read'],
]);

const keySetSchema = v.object({ keys: v.array(v.unknown()) });
const discoverySchema = v.object({ issuer: v.string(), jwks_uri: v.pipe(v.string(), v.url()) });

/**
 * @returns a function that throws UnauthenticatedError for a token that is not valid, and UnavailableError if the issuer cannot
 * be reached
 */
export function createTokenVerifier(
  { issuer, audience }: TokenIssuer,
  {
    fetchKeys = fetch,
    cooldownMs = COOLDOWN_MS,
  }: { readonly fetchKeys?: FetchImplementation; readonly cooldownMs?: number } = {},
): VerifyToken {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;

  async function discover() {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetchKeys(url, {
      headers: new Headers(),
      method: 'GET',
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) throw new Error(`${url} responded with ${response.status}`);
    const discovery = v.parse(discoverySchema, await response.json());
    if (discovery.issuer !== issuer) throw new Error(`${url} describes another issuer`);
    return createRemoteJWKSet(new URL(discovery.jwks_uri), {
      timeoutDuration: TIMEOUT_MS,
      cooldownDuration: cooldownMs,
      cacheMaxAge: CACHE_MS,
      [customFetch]: fetchUsableKeys,
    });
  }

  // Drops unusable keys: a single one would make the tokens of all other keys fail.
  async function fetchUsableKeys(...request: Parameters<FetchImplementation>): Promise<Response> {
    const response = await fetchKeys(...request);
    if (response.status !== 200) return response;
    const { keys: publishedKeys } = v.parse(keySetSchema, await response.json());
    const usableKeys = await Promise.all(
      publishedKeys.map(async (key) => ((await canVerify(key)) ? [key] : [])),
    );
    return Response.json({ keys: usableKeys.flat() });
  }

  // Discovers the keys once. A failed discovery is retried with the next request.
  function loadSigningKeys() {
    keys ??= discover().catch((error: unknown) => {
      keys = undefined;
      throw error;
    });
    return keys;
  }

  async function verify(token: string): Promise<JWTPayload> {
    const options = {
      issuer,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    };
    try {
      return (await jwtVerify(token, await loadSigningKeys(), options)).payload;
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      return await tryEach(error, async (key) => (await jwtVerify(token, key, options)).payload);
    }
  }

  return async (token) => {
    const payload = await verify(token).catch((cause: unknown) => {
      throw isInvalidToken(cause)
        ? new UnauthenticatedError('The access token is not valid', { cause })
        : new UnavailableError('The issuer of access tokens cannot be reached', { cause });
    });
    if (!isForAudience(audience, payload)) {
      throw new UnauthenticatedError('The access token is for another audience');
    }
    return { ledger: deriveLedgerId(issuer, readSubject(payload)), scope: readScope(payload) };
  };
}

/**
 * Reads the subject, a non-empty and well-formed string: the ledger id is a hash of its UTF-8, in which all malformed characters
 * are equal, so two malformed subjects would share a ledger.
 * @throws UnauthenticatedError
 */
function readSubject({ sub }: Readonly<Record<string, unknown>>): string {
  if (typeof sub === 'string' && sub !== '' && sub.isWellFormed()) return sub;
  throw new UnauthenticatedError(
    'The access token names no subject: "sub" must be a non-empty string',
  );
}

/** True for a public key of a type and size that this service accepts. */
async function canVerify(jwk: unknown): Promise<boolean> {
  try {
    const algorithm = ALGORITHM_BY_KEY_TYPE.get((jwk as JWK).kty);
    const key = algorithm && (await importJWK(jwk as JWK, algorithm));
    if (!key || key instanceof Uint8Array || key.type !== 'public') return false;
    const { modulusLength } = key.algorithm as { readonly modulusLength?: number };
    return modulusLength === undefined || modulusLength >= MIN_MODULUS_BITS;
  } catch {
    return false;
  }
}

/** Tries each key until one verifies the token, whose key id is missing or shared by several keys. */
async function tryEach<Result>(
  keys: errors.JWKSMultipleMatchingKeys,
  attempt: (key: CryptoKey) => Promise<Result>,
): Promise<Result> {
  for await (const key of keys) {
    try {
      return await attempt(key);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
  throw new errors.JWSSignatureVerificationFailed();
}

/**
 * True if the token is for the audience. Access tokens of Cognito have no `aud`: `client_id` names the app that they were
 * issued to.
 */
function isForAudience(audience: string, { aud, client_id }: JWTPayload): boolean {
  return aud === undefined ? client_id === audience : [aud].flat().includes(audience);
}

/**
 * Reads the scope that the token grants. `scope` is a list of words separated by spaces (RFC 8693, section 4.2). Entra ID and
 * Okta call it `scp`, which is an array in Okta's tokens. Cognito prefixes each word with the identifier of the resource server:
 * `https://ledger.example/ledger:read`.
 */
function readScope({ scope, scp }: JWTPayload): Scope | undefined {
  const grantedScopes = [scope, scp]
    .flat()
    .flatMap((words) => (typeof words === 'string' ? words.split(' ') : []))
    .flatMap((word) => TOKEN_SCOPES.get(word.slice(word.lastIndexOf('/') + 1)) ?? []);
  return grantedScopes.includes('write') ? 'write' : grantedScopes[0];
}

// True if the token caused the failure. Any other failure is the service's or the issuer's: the token may be valid.
function isInvalidToken(error: unknown): boolean {
  return (
    error instanceof errors.JWTExpired ||
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey
  );
}
