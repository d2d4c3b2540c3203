// The fault proxy in front of a store: each fault hits only the intended request, and every other request passes.
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import {
  type Fault,
  type FaultProxy,
  startFaultProxy,
} from '../../../../../sandbox/rehearsal/fault-proxy.ts';
import { listenInTest } from '../../../../shared/support/loopback.ts';

const STORE_BODY = 'what the store says';

/** Starts a store that records every request, behind a fault proxy. */
async function startStoreBehindProxy() {
  const received: string[] = [];
  const store = await listenInTest(async (incoming, response) => {
    const body = await text(incoming);
    received.push(`${incoming.method} ${incoming.url} ${incoming.headers['api-key']} ${body}`);
    response
      .writeHead(201, { 'content-length': STORE_BODY.length, 'x-source': 'the store' })
      .end(STORE_BODY);
  });
  const proxy = await startFaultProxy(`${store}/prefix/`);
  onTestFinished(() => proxy.close());
  return { received, proxy };
}

function put({ url }: FaultProxy, signal?: AbortSignal) {
  const init = { method: 'PUT', body: 'a point', headers: { 'api-key': 'secret' } };
  return fetch(`${url}/points?wait=true`, { ...init, signal: signal ?? null });
}

const PUT = 'PUT /prefix/points?wait=true secret a point';

test('a request without a fault passes unchanged in both directions', async () => {
  const { received, proxy } = await startStoreBehindProxy();
  proxy.addFault({ on: /^GET/, effect: { kind: 'silence' } });
  const reply = await put(proxy);
  expect([reply.status, reply.headers.get('x-source'), await reply.text()]).toEqual([
    201,
    'the store',
    STORE_BODY,
  ]);
  expect(received).toEqual([PUT]);
  expect(proxy.waiting()).toBe(1);
});

test.each<[Fault['effect'], unknown, number]>([
  [{ kind: 'response', status: 429, headers: { 'retry-after': '1' } }, '429 ', 0],
  [{ kind: 'lose-response' }, 'fetch failed', 1],
  [{ kind: 'cut', bytes: 4 }, 'terminated', 1],
  [{ kind: 'corrupt' }, `201 v${STORE_BODY.slice(1)}`, 1],
  [{ kind: 'silence' }, 'too long', 0],
])('%j hits the second request alone', async (effect, expected, reached) => {
  const { received, proxy } = await startStoreBehindProxy();
  proxy.addFault({ on: /^PUT/, skips: 1, effect });
  await (await put(proxy)).text();
  const client = new AbortController();
  const response = put(proxy, client.signal).then(
    async (reply) => `${reply.status} ${await reply.text().catch((error: Error) => error.message)}`,
    (error: Error) => error.message,
  );
  if (effect.kind === 'silence') {
    // If the client gave up before its request arrives, the fault would strike the next request.
    while (proxy.waiting() > 0) await new Promise((resolve) => setImmediate(resolve));
    client.abort(new Error('too long'));
  }
  const second = await response;
  expect(effect.kind === 'cut' ? second.replace(/^201 /, '') : second).toBe(expected);
  expect((await put(proxy)).status).toBe(201);
  expect(received).toHaveLength(2 + reached);
  expect(proxy.waiting()).toBe(0);
});

test('the proxy closes only when the requests in progress have ended', async () => {
  const { received, proxy } = await startStoreBehindProxy();
  const ended: string[] = [];
  proxy.addFault({
    on: /^PUT/,
    effect: { kind: 'lose-response', andThen: () => void ended.push('request') },
  });
  const request = put(proxy).catch(() => undefined);
  while (received.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await proxy.close();
  expect(ended).toEqual(['request']);
  await request;
});
