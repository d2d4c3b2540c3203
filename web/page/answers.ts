// A cache of the service's responses, so that a view that is shown again requests only the missing ones.
import { call } from './client.ts';

const MAX_ANSWERS = 40;
/** Changes only with the key, so the response is cached as long as the key is used. */
const CALLER = '/me';

export interface Answer<Body> {
  /** When the response was requested, in milliseconds since 1970. */
  readonly at: number;
  readonly body: Body;
}

let answers = new Map<string, Answer<unknown>>();

/** Returns the cached response, or requests and caches it. */
export async function ask<Body>(path: string, signal: AbortSignal): Promise<Answer<Body>> {
  const cached = answers.get(path) as Answer<Body> | undefined;
  if (cached) return cached;
  const at = Date.now();
  const cache = answers;
  const answer = { at, body: await call<Body>(path, { signal }) };
  cache.set(path, answer);
  if (cache.size > MAX_ANSWERS)
    cache.delete([...cache.keys()].find((oldest) => oldest !== CALLER) ?? '');
  return answer;
}

/** Replaces the map, so that a load under way adds its responses to the old map, which nothing reads. */
export function forgetAnswers(
  isForgotten: (answer: Answer<unknown>, path: string) => boolean = () => true,
): void {
  answers = new Map(
    [...answers].filter(([path, each]) => path === CALLER || !isForgotten(each, path)),
  );
}

/** Also forgets the caller, because another key may open another ledger. */
export function forgetAllAnswers(): void {
  answers = new Map();
}
