// Waits until a program that we started responds over HTTP.
import { once } from 'node:events';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './child-process.ts';

const PAUSE_MILLISECONDS = 20;
const REQUEST_TIMEOUT_MILLISECONDS = 10_000;

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

/** A URL, or a path behind a socket. */
export type Address = string | { readonly socketPath: string; readonly path: string };

/** Returns the first response; `undefined` if the program ends before it responds. */
export async function awaitResponse(
  address: Address,
  child: Child,
): Promise<HttpResponse | undefined> {
  let isRunning = true;
  child.ended.then(() => {
    isRunning = false;
  });
  while (isRunning) {
    const response = await request(address);
    // The response may come from another program that has taken the port; in that case, our program is about to end.
    await delay(PAUSE_MILLISECONDS);
    if (response !== undefined && isRunning) return response;
  }
  return undefined;
}

async function request(address: Address): Promise<HttpResponse | undefined> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MILLISECONDS);
  const options = { agent: false, signal } as const;
  try {
    const outgoing =
      typeof address === 'string' ? get(address, options) : get({ ...address, ...options });
    const [response] = await once(outgoing, 'response');
    return { status: response.statusCode, body: await text(response) };
  } catch {
    return undefined;
  }
}
