// A proxy between the migration and its vector store, whether sandbox or real, that injects faults.
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

export interface Fault {
  /** Matches method, path and query, such as `PUT /collections/memories/points?wait=true`. */
  readonly on: RegExp;
  /** Number of matching requests that pass before the fault strikes; none by default. */
  readonly skips?: number;
  readonly effect: /** The store never receives the request. */
    | {
        readonly kind: 'response';
        readonly status: number;
        readonly headers?: Readonly<Record<string, string>>;
      }
    | { readonly kind: 'silence' }
    /** The store carries out the request, and the response is lost. */
    | { readonly kind: 'lose-response'; readonly andThen?: () => void }
    /** At most this many bytes of the response arrive. */
    | { readonly kind: 'cut'; readonly bytes: number }
    /** The first byte of the response is changed. */
    | { readonly kind: 'corrupt' };
}

export interface FaultProxy {
  readonly url: string;
  /** Adds a fault, which strikes one request. */
  addFault(fault: Fault): void;
  /** Number of faults that have not struck yet. */
  waiting(): number;
  /** Refuses further requests, and resolves when the running requests have ended, or after half a minute. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 30_000;

/** @param url address of the store */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const base = url.replace(/\/+$/, '');
  const pending = new Set<Promise<void>>();
  let rules: { readonly fault: Fault; skips: number }[] = [];

  function takeDueFault(request: string): Fault['effect'] | undefined {
    const matching = rules.filter(({ fault }) => fault.on.test(request));
    const firing = matching.find(({ skips }) => skips === 0);
    for (const rule of matching) rule.skips = Math.max(0, rule.skips - 1);
    if (firing) rules = rules.filter((rule) => rule !== firing);
    return firing?.fault.effect;
  }

  const server = createServer((incoming, response) => {
    const effect = takeDueFault(`${incoming.method} ${incoming.url}`);
    const forwarding = forwardRequest(`${base}${incoming.url}`, effect, { incoming, response });
    // If either side disconnects, the other connection breaks too, as it would without the proxy.
    const ended = forwarding.catch(() => void response.destroy());
    pending.add(ended);
    ended.finally(() => pending.delete(ended));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    addFault: (fault) => rules.push({ fault, skips: fault.skips ?? 0 }),
    waiting: () => rules.length,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      // A store that no longer responds must not delay this forever.
      await Promise.race([
        Promise.all(pending),
        pause(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
      ]);
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
}

async function forwardRequest(
  url: string,
  effect: Fault['effect'] | undefined,
  { incoming, response }: Exchange,
): Promise<void> {
  if (effect?.kind === 'response' || effect?.kind === 'silence') {
    incoming.resume();
    if (effect.kind === 'response') response.writeHead(effect.status, effect.headers).end();
    return;
  }
  const reply = await askStore(url, incoming);
  if (effect?.kind === 'lose-response') {
    await reply.resume().toArray();
    effect.andThen?.();
    response.destroy();
    return;
  }
  const damage =
    effect?.kind === 'cut' ? [createCut(effect.bytes)] : effect ? [createCorruption()] : [];
  await sendReply(reply, damage, response);
}

/** Sends the store's response until it is complete or the client disconnects: a pipeline into a broken connection may never end. */
async function sendReply(
  reply: IncomingMessage,
  damage: readonly Transform[],
  response: ServerResponse,
): Promise<void> {
  const disconnected = new Promise<void>((resolve) => response.once('close', resolve));
  if (response.destroyed) return void reply.destroy();
  response.writeHead(reply.statusCode ?? 502, reply.headers);
  await Promise.race([pipeline([reply, ...damage, response]), disconnected]);
  reply.destroy();
}

function askStore(url: string, incoming: IncomingMessage): Promise<IncomingMessage> {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest;
  const headers = { ...incoming.headers, host: new URL(url).host };
  // Opens a connection for each request: the store may close a kept connection just when it is used again.
  const request = open(url, { method: incoming.method ?? 'GET', headers, agent: false });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  // Ignores errors while sending, which show in the response or in its absence.
  pipeline(incoming, request).catch(() => undefined);
  return answered;
}

function createCut(bytes: number): Transform {
  let remainingBytes = bytes;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      this.push(chunk.subarray(0, Math.max(0, remainingBytes)));
      remainingBytes -= chunk.length;
      done(remainingBytes < 0 ? new Error('Cut on purpose') : null);
    },
  });
}

function createCorruption(): Transform {
  let isCorrupted = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (!isCorrupted) chunk.writeUInt8(chunk.readUInt8(0) ^ 1, 0);
      isCorrupted = true;
      done(null, chunk);
    },
  });
}
