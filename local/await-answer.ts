// Waits until a program that we started answers HTTP.
import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child-process.ts';

const PAUSE_MILLISECONDS = 20;
const PATIENCE_MILLISECONDS = 10_000;

/** The status of the address's first answer; `undefined` when the program ends before it answers. */
export async function awaitAnswer(address: string, child: Child): Promise<number | undefined> {
  let alive = true;
  child.ended.then(() => {
    alive = false;
  });
  while (alive) {
    const status = await ask(address);
    // Another program may have won the port, and ours be about to end over it.
    await delay(PAUSE_MILLISECONDS);
    if (status !== undefined && alive) return status;
  }
  return undefined;
}

async function ask(address: string): Promise<number | undefined> {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MILLISECONDS) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return undefined;
  }
}
