// Finds out who sends a request: by an API key, by an access token or, if the service allows it, without either.

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

/** Time for which a function remembers a valid key: a revoked one is refused this much later at most. */
const CACHE_MS = 30_000;
/**
 * Time for which a function remembers a refused key. It is longer, because a refused key stays refused: a revoked key never
 * becomes valid again, and no key is used before it is created.
 */
const REFUSED_MS = 60_000;
const CACHED_KEYS = 1_000;
const BEARER = /^Bearer +(\S+) *$/i;

export function createAuthenticate(options: {
  readonly findKey: (secret: string, limits: RequestLimits) => Promise<ApiKey | undefined>;
  /** Records the day of a use. The request waits for this, but ignores a failure. */
  readonly markUsed: (secret: string, day: string, limits: RequestLimits) => Promise<void>;
  /** Undefined if no issuer is configured: then only keys are accepted. */
  readonly verifyToken: VerifyToken | undefined;
  /** The caller of requests without a key or token; undefined if they are refused. */
  readonly anonymous: Caller | undefined;
  readonly clock: () => Date;
}): Authenticate {
  const { findKey, markUsed, verifyToken, anonymous, clock } = options;
  const now = () => clock().getTime();
  const valid = createCache<ApiKey>(CACHE_MS, now);
  // Kept apart from the valid keys, which a flood of wrong ones must not displace.
  const refused = createCache<string>(REFUSED_MS, now);

  async function requireKey(secret: string, limits: RequestLimits): Promise<ApiKey> {
    const known = valid.get(secret);
    if (known) return known;
    const refusal = refused.get(secret);
    if (refusal) throw new UnauthenticatedError(refusal);
    const key = await findKey(secret, limits);
    if (!key || key.revokedAt !== undefined) {
      const reason = key ? 'The API key was revoked' : 'The API key is not known';
      refused.set(secret, reason);
      throw new UnauthenticatedError(reason);
    }
    // The date is information for people: no request fails because of it.
    const today = clock().toISOString().slice(0, 10);
    if (key.lastUsedOn !== today) await markUsed(secret, today, limits).catch(() => undefined);
    valid.set(secret, key);
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
export function assertAllowed<Identified extends Caller>(
  caller: Identified,
  method: string,
): asserts caller is Identified & { readonly scope: Scope } {
  const { scope } = caller;
  if (scope === 'write' || (scope === 'read' && (method === 'GET' || method === 'HEAD'))) return;
  throw new ForbiddenError(
    `The key or token does not allow ${method}: its scope is ${scope ?? 'none of ours'}`,
  );
}

/** Keeps a limited number of the newest values for a time. */
function createCache<Value>(milliseconds: number, now: () => number) {
  const kept = new Map<string, { readonly value: Value; readonly since: number }>();

  function get(secret: string): Value | undefined {
    const found = kept.get(secret);
    return found && now() - found.since < milliseconds ? found.value : undefined;
  }

  function set(secret: string, value: Value): void {
    kept.delete(secret);
    kept.set(secret, { value, since: now() });
    const [oldest] = kept.keys();
    if (kept.size > CACHED_KEYS && oldest !== undefined) kept.delete(oldest);
  }

  return { get, set };
}
