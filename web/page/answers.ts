// A cache of the service's answers, so that a view that is shown again requests only the missing answers.
import { call } from './client.ts';

const MAX_ANSWERS = 40;
/** Changes only with the key, so its answer is kept as long as the key is. */
const CALLER = '/me';

export interface Answer<Body> {
  /** When the answer was requested, in milliseconds since 1970. */
  readonly at: number;
  readonly body: Body;
}

let answers = new Map<string, Answer<unknown>>();

/** Returns the cached answer, or requests and caches it. */
export async function ask<Body>(path: string, signal: AbortSignal): Promise<Answer<Body>> {
  const known = answers.get(path) as Answer<Body> | undefined;
  if (known) return known;
  const at = Date.now();
  const cache = answers;
  const answer = { at, body: await call<Body>(path, { signal }) };
  cache.set(path, answer);
  if (cache.size > MAX_ANSWERS)
    cache.delete([...cache.keys()].find((oldest) => oldest !== CALLER) ?? '');
  return answer;
}

/** Replaces the map, so that a load under way adds its answers to the old map, which nothing reads. */
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
