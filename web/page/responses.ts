// A cache of the service's responses, so that a view that is shown again requests only the missing ones.
import { call } from './client.ts';

const MAX_RESPONSES = 40;
/** Changes only with the key, so the response is cached as long as the key is used. */
const CALLER_PATH = '/me';

export interface CachedResponse<Body> {
  /** When the response was requested, in milliseconds since 1970. */
  readonly requestedAt: number;
  readonly body: Body;
}

let responses = new Map<string, CachedResponse<unknown>>();

/** Returns the cached response, or requests and caches it. */
export async function callCached<Body>(
  path: string,
  signal: AbortSignal,
): Promise<CachedResponse<Body>> {
  const cached = responses.get(path) as CachedResponse<Body> | undefined;
  if (cached) return cached;
  const requestedAt = Date.now();
  const cache = responses;
  const response = { requestedAt, body: await call<Body>(path, { signal }) };
  cache.set(path, response);
  if (cache.size > MAX_RESPONSES)
    cache.delete([...cache.keys()].find((oldest) => oldest !== CALLER_PATH) ?? '');
  return response;
}

/** Replaces the map, so that a load under way adds its responses to the old map, which nothing reads. */
export function forgetResponses(
  isForgotten: (response: CachedResponse<unknown>, path: string) => boolean = () => true,
): void {
  responses = new Map(
    [...responses].filter(([path, each]) => path === CALLER_PATH || !isForgotten(each, path)),
  );
}

/** Also forgets the caller, because another key may open another ledger. */
export function forgetAllResponses(): void {
  responses = new Map();
}
