// The answers of the service so far: a view that is shown again asks only for what the page does not know.
import { call } from './client.ts';

const MAX_KNOWN_ANSWERS = 40;

export interface Answer<Body> {
  /** When it was asked for. */
  readonly at: number;
  readonly body: Body;
}

let answers = new Map<string, Answer<unknown>>();

/** The known answer, or that of a request. */
export async function ask<Body>(path: string, given: AbortSignal): Promise<Answer<Body>> {
  const known = answers.get(path) as Answer<Body> | undefined;
  if (known) return known;
  const at = Date.now();
  const asked = answers;
  const answer = { at, body: await call<Body>(path, { signal: given }) };
  asked.set(path, answer);
  if (asked.size > MAX_KNOWN_ANSWERS) asked.delete([...asked.keys()][1] ?? '');
  return answer;
}

/** A load under way keeps none of its answers for later. */
export function forgetAnswers(
  isForgotten: (answer: Answer<unknown>, path: string) => boolean = () => true,
): void {
  answers = new Map(
    [...answers].filter(([path, each]) => path === '/me' || !isForgotten(each, path)),
  );
}

/** Another key may open another ledger. */
export function forgetAllAnswers(): void {
  answers = new Map();
}
