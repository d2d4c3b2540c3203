// Identifies the sender of a request: by an API key, by an access token or, if the service allows it, without either.

import type { RequestLimits } from '../../shared/database.ts';
import type { ApiKey, Scope } from '../domain/api-key.ts';
import { ForbiddenError, UnauthenticatedError } from '../errors.ts';
import { isApiKey } from '../store/api-keys.ts';
import type { VerifyToken } from './access-tokens.ts';
import type { Caller, IdentifiedCaller } from './caller.ts';

/**
 * @param authorization the header as it was sent
 * @throws UnauthenticatedError
 */
export type Authenticate = (
  authorization: string | undefined,
  limits: RequestLimits,
) => Promise<IdentifiedCaller>;

/** How long a function caches a valid key, and so the longest time until a revoked key is refused. */
const CACHE_MS = 30_000;
/**
 * How long a function caches a refused key. This is longer, because a refused key never becomes valid: a key is not used before
 * it is created, and a revoked key stays revoked.
 */
const REFUSED_CACHE_MS = 60_000;
const MAX_CACHED_KEYS = 1_000;
const BEARER = /^Bearer +(\S+) *$/i;

export function createAuthenticate(options: {
  readonly findKey: (secret: string, limits: RequestLimits) => Promise<ApiKey | undefined>;
  /** Records the day on which a key was used. The request waits for this, but ignores a failure. */
  readonly markUsed: (secret: string, day: string, limits: RequestLimits) => Promise<void>;
  /** Undefined if no issuer is configured: then only keys are accepted. */
  readonly verifyToken: VerifyToken | undefined;
  /** The caller of requests without a key or token; undefined if they are refused. */
  readonly anonymous: Caller | undefined;
  readonly clock: () => Date;
}): Authenticate {
  const { findKey, markUsed, verifyToken, anonymous, clock } = options;
  const readTime = () => clock().getTime();
  const validKeys = createCache<ApiKey>(CACHE_MS, readTime);
  // A separate cache, so that a flood of wrong keys does not displace the valid ones.
  const refusedKeys = createCache<string>(REFUSED_CACHE_MS, readTime);

  async function requireKey(secret: string, limits: RequestLimits): Promise<ApiKey> {
    const cachedKey = validKeys.get(secret);
    if (cachedKey) return cachedKey;
    const refusal = refusedKeys.get(secret);
    if (refusal) throw new UnauthenticatedError(refusal);
    const key = await findKey(secret, limits);
    if (!key || key.revokedAt !== undefined) {
      const reason = key ? 'The API key was revoked' : 'The API key is not known';
      refusedKeys.set(secret, reason);
      throw new UnauthenticatedError(reason);
    }
    // The date is only informational: no request fails because of it.
    const today = clock().toISOString().slice(0, 10);
    if (key.lastUsedOn !== today) await markUsed(secret, today, limits).catch(() => undefined);
    validKeys.set(secret, key);
    return key;
  }

  return async (authorization, limits) => {
    if (authorization === undefined && anonymous) return { ...anonymous, kind: 'anonymous' };
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined) {
      throw new UnauthenticatedError(
        'Send an API key or access token: "Authorization: Bearer ..."',
      );
    }
    if (isApiKey(token)) {
      const { id: keyId, name, ledger, scope } = await requireKey(token, limits);
      return { kind: 'key', keyId, name, ledger, scope };
    }
    if (!verifyToken) throw new UnauthenticatedError('The API key is not known');
    return { ...(await verifyToken(token)), kind: 'token' };
  };
}

/** @throws ForbiddenError if the key or token does not allow the method */
export function requireAllowed<Identified extends Caller>(
  caller: Identified,
  method: string,
): asserts caller is Identified & { readonly scope: Scope } {
  const { scope } = caller;
  if (scope === 'write' || (scope === 'read' && (method === 'GET' || method === 'HEAD'))) return;
  const reason = scope ? `its scope is ${scope}` : 'it has no scope of this API';
  throw new ForbiddenError(`The key or token does not allow ${method}: ${reason}`);
}

/** Caches the newest values, at most MAX_CACHED_KEYS, each for the given time. */
function createCache<Value>(milliseconds: number, readTime: () => number) {
  const entries = new Map<string, { readonly value: Value; readonly since: number }>();

  function get(secret: string): Value | undefined {
    const entry = entries.get(secret);
    return entry && readTime() - entry.since < milliseconds ? entry.value : undefined;
  }

  function set(secret: string, value: Value): void {
    entries.delete(secret);
    entries.set(secret, { value, since: readTime() });
    const [oldest] = entries.keys();
    if (entries.size > MAX_CACHED_KEYS && oldest !== undefined) entries.delete(oldest);
  }

  return { get, set };
}
