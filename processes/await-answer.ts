// Waits until a program that we started answers HTTP.
import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child-process.ts';

const PAUSE_MILLISECONDS = 20;
const PATIENCE_MILLISECONDS = 10_000;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The first answer of the address; `undefined` when the program ends before it answers. */
export async function awaitAnswer(address: string, child: Child): Promise<Answer | undefined> {
  let alive = true;
  child.ended.then(() => {
    alive = false;
  });
  while (alive) {
    const answer = await ask(address);
    // Another program may have taken the port, so that ours is about to end.
    await delay(PAUSE_MILLISECONDS);
    if (answer !== undefined && alive) return answer;
  }
  return undefined;
}

async function ask(address: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}
