// The client that commands use, when the service responds with an error or not at all.
import { expect, it } from 'vitest';
import { createServiceClient } from '../../../../cli/ledger/service-client.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { findFreePort } from '../../../../processes/free-port.ts';
import { listenInTest } from '../../../shared/support/loopback.ts';

const SERVICE_URL = 'http://service.example';

/** Creates a client that gets these responses one after the other. */
function createClient(...responses: readonly (() => Response)[]) {
  const requests: RequestInit[] = [];
  const pauses: number[] = [];
  const service = createServiceClient({
    url: SERVICE_URL,
    userAgent: 'test',
    retryPolicy: { ...DEFAULT_RETRY_POLICY, sleep: async (ms) => void pauses.push(ms) },
    fetch: async (_, init = {}) => {
      const response = responses[requests.length];
      requests.push(init);
      if (!response) throw new Error('One request too many');
      return response();
    },
  });
  return { service, requests, pauses };
}

const closedPort = await findFreePort();
const succeed = () => Response.json({ data: { id: 7 } });
const respondWith = (status: number, body: string) => () => new Response(body, { status });
const loseResponse = () => {
  throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
};

it.each([
  ['a closed port', () => `http://localhost:${closedPort}`, ''],
  ['a port that fetch refuses', () => 'http://localhost:9', 'bad port'],
  ['TLS on a server without TLS', (url: string) => url.replace('http:', 'https:'), 'try http://'],
])('the client gives up at once, with the cause: %s', async (_, toUrl, cause) => {
  const url = toUrl(await listenInTest(() => undefined));
  const pauses: number[] = [];
  const sleep = async (ms: number) => void pauses.push(ms);
  const retryPolicy = { ...DEFAULT_RETRY_POLICY, sleep, deadlineMs: 1_000 };
  const service = createServiceClient({ url, userAgent: 'test', retryPolicy });
  await expect(service.readCategories()).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringMatching(new RegExp(`${url}.*${cause}`)),
  });
  expect(pauses).toEqual([]);
});

it.each([
  ['JSON', '{"message":"No such path"}', 'No such path'],
  ['JSON without a message', '{"error":"x"}', '{"error":"x"}'],
  ['HTML', '<html>Bad gateway</html>', '<html>Bad gateway</html>'],
  ['nothing', '', ''],
])('the client keeps the status of an error whose body is %s', async (_, body, message) => {
  const { service } = createClient(respondWith(404, body));
  await expect(service.call('GET', '/x')).rejects.toThrow(`404: ${message}`);
});

it('the client names the address whose response is not JSON', async () => {
  const { service } = createClient(respondWith(200, '<html>'));
  await expect(service.call('GET', '/x')).rejects.toMatchObject({
    name: 'UserError',
    message: expect.stringContaining(SERVICE_URL),
  });
});

it.each([respondWith(500, ''), respondWith(503, 'busy'), respondWith(429, ''), loseResponse])(
  'the client retries requests that are safe to retry',
  async (failure) => {
    const { service, pauses } = createClient(failure, succeed);
    expect(await service.call('GET', '/x')).toEqual({ id: 7 });
    expect(pauses).toHaveLength(1);
  },
);

it.each([respondWith(500, ''), loseResponse])(
  'the client does not retry a request whose outcome is unknown',
  async (failure) => {
    const { service, requests } = createClient(failure, succeed);
    await expect(service.call('POST', '/x', { body: {} })).rejects.toMatchObject({
      name: 'UserError',
    });
    expect(requests).toHaveLength(1);
  },
);

it('the client retries a request that was refused because of a rate limit', async () => {
  const { service } = createClient(respondWith(429, ''), succeed);
  expect(await service.call('POST', '/x', { body: {} })).toEqual({ id: 7 });
});

it('the client waits as long as the service says', async () => {
  const busy = () => new Response('', { status: 503, headers: { 'retry-after': '2' } });
  const { service, pauses } = createClient(busy, succeed);
  expect(await service.call('GET', '/x')).toEqual({ id: 7 });
  expect(pauses).toEqual([2_000]);
});

it('the client limits the time of each request', async () => {
  const { service, requests } = createClient(succeed);
  await service.call('GET', '/x');
  expect(requests[0]?.signal).toBeInstanceOf(AbortSignal);
});

it('the client creates a missing category with an Idempotency-Key, so that the request can be retried', async () => {
  const listCategories = () => Response.json({ data: [{ id: 1, name: 'Food' }] });
  const { service, requests } = createClient(listCategories, loseResponse, succeed);
  const ids = await service.ensureCategories([{ name: 'Food' }, { name: 'Pay' }]);
  expect([...ids]).toEqual([
    ['Food', 1],
    ['Pay', 7],
  ]);
  const [, firstKey, secondKey] = requests.map(({ headers }) =>
    new Headers(headers).get('idempotency-key'),
  );
  expect(firstKey).toEqual(expect.any(String));
  expect(secondKey).toBe(firstKey);
});
