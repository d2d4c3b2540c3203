// A cache of the service's answers, so that a view that is shown again requests only the missing answers.
import { call } from './client.ts';

const MAX_KNOWN_ANSWERS = 40;
/** Changes only with the key, so its answer is kept as long as the key is. */
const CALLER = '/me';

export interface Answer<Body> {
  /** When the answer was requested, in milliseconds since 1970. */
  readonly at: number;
  readonly body: Body;
}

let answers = new Map<string, Answer<unknown>>();

/** Returns the cached answer, or requests and caches it. */
export async function ask<Body>(path: string, given: AbortSignal): Promise<Answer<Body>> {
  const known = answers.get(path) as Answer<Body> | undefined;
  if (known) return known;
  const at = Date.now();
  const asked = answers;
  const answer = { at, body: await call<Body>(path, { signal: given }) };
  asked.set(path, answer);
  if (asked.size > MAX_KNOWN_ANSWERS)
    asked.delete([...asked.keys()].find((oldest) => oldest !== CALLER) ?? '');
  return answer;
}

/** Replaces the map, so that a load under way caches its answers only in the old map. */
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
