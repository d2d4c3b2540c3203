// How the adapter classifies failures of Qdrant: which ones it retries, which ones it reports, and under which names.
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createQdrant } from '../../../../lib/migration/adapters/qdrant.ts';
import type { Refusal } from '../../../../lib/migration/refusals.ts';
import { DEFAULT_RETRY_POLICY } from '../../../../lib/shared/retry.ts';
import { createPoint, NEW_LAYOUT } from '../../support/vector-stores.ts';

interface Reply {
  readonly status: number;
  readonly body?: string | object;
  readonly headers?: Record<string, string>;
}

const COUNT_REPLY: Reply = { status: 200, body: { result: { count: 3 }, status: 'ok', time: 0 } };
const refusal = (error: string) => ({ status: { error }, time: 0, result: null });

test('a refused connection names the host and the cause', async () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const refuse = () => Promise.reject(new TypeError('fetch failed', { cause }));
  const store = createQdrant({ url: 'http://qdrant.test:6333', fetch: refuse });
  await expect(store.startSnapshot('memories')).rejects.toThrow(
    'no answer from qdrant.test:6333 (ECONNREFUSED)',
  );
});

describe('an unsuccessful response', () => {
  test('of any length gives a readable message', async () => {
    const { store } = createStore({ status: 400, body: refusal(`Bad ${'x'.repeat(9_000)}`) });
    const error = await store.count('memories').catch((thrown: unknown) => thrown);
    const { why } = error as Refusal;
    expect(why).toMatch(/400 Bad x+…\.$/);
    expect(why.length).toBeLessThan(400);
  });

  test.each([
    [
      'a text',
      400,
      refusal('Expected a number, got "Ada lives in Amsterdam" at line 1'),
      /Expected/,
    ],
    ['an id', 400, refusal('No point with id 2f1d2c3e-93a0-4c7e-9a55-0d2f4a1b6c7d'), /No point/],
    ['a value', 400, refusal("Format error: can't read 'Ada lives' as a number"), /Format error/],
    ['the request', 400, refusal('Format error: string `Ada lives`, expected u64'), /Format error/],
    ['text that is not JSON', 200, 'Ada lives', /RefusedByService/],
  ])('that quotes %s gives a message without it', async (_, status, body, message) => {
    const { store } = createStore({ status, body });
    const error = await store.count('memories').catch((thrown: unknown) => thrown);
    expect(inspect(error)).not.toMatch(/Ada|2f1d2c3e/);
    expect(String(error)).toMatch(message);
  });

  test.each<[string, number, string | object, name: string, why?: RegExp]>([
    ['a refusal', 400, refusal('Wrong input: no'), 'RefusedByService', /400 Wrong input: no\.$/],
    ['a missing resource', 404, refusal('x'), 'RefusedByService'],
    ['a conflict', 409, refusal('x'), 'RefusedByService'],
    ['a missing key', 401, 'Must provide a key', 'RefusedCredentials', /401 Must provide a key\.$/],
    ['a key without permission', 403, 'Forbidden', 'RefusedCredentials'],
    ['a full disk', 507, refusal('x'), 'RefusedStoreFull'],
    [
      'a full disk with the status 500',
      500,
      refusal('No space left on device'),
      'RefusedStoreFull',
    ],
    ['exhausted memory', 500, refusal('Service error: Out of memory'), 'RefusedStoreFull'],
    [
      'a body beyond the limit',
      400,
      refusal('JSON (9 bytes) is larger than allowed'),
      'RefusedByService',
    ],
    [
      'a body beyond the limit of a proxy',
      413,
      '<html>413 Request Entity Too Large</html>',
      'RefusedByService',
      /a proxy in front of the store .* client_max_body_size/,
    ],
    ['a redirection', 302, '', 'RefusedByService'],
    ['a page of a proxy', 200, '<html>', 'RefusedByService'],
    ['a write that is only accepted', 200, { status: 'accepted', time: 0 }, 'RefusedByService'],
  ])('%s is not retried', async (_, status, body, name, why = /./) => {
    const { store, calls } = createStore({ status, body }, COUNT_REPLY);
    const error = await store.count('memories').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name, why: expect.stringMatching(why) });
    expect(calls).toHaveLength(1);
  });

  test.each([
    ...[408, 429, 500, 502, 503, 504].map((status) => ({ status, body: refusal('busy') })),
    new TypeError('fetch failed'),
  ])('%o is retried', async (response) => {
    const { store, calls } = createStore(response, COUNT_REPLY);
    expect(await store.count('memories')).toBe(3);
    expect(calls).toHaveLength(2);
  });

  test('Retry-After is the minimum wait', async () => {
    const busy = { status: 429, body: refusal('busy'), headers: { 'retry-after': '7' } };
    const { store, waits } = createStore(busy, COUNT_REPLY);
    await store.count('memories');
    expect(waits).toEqual([7_000]);
  });

  test('a store that stays unreachable is reported with the cause', async () => {
    const cause = new TypeError('fetch failed');
    const { store } = createStore(...Array.from({ length: 99 }, () => cause));
    const name = 'RetryableUnavailable';
    await expect(store.count('memories')).rejects.toMatchObject({ name, cause });
  });
});

test.each<[string, Reply]>([
  ['an HTML page', { status: 200, body: '<html>' }],
  ['404', { status: 404, body: 'Not Found' }],
  [
    'a response from another path',
    { status: 200, body: { result: { collections: [] }, status: 'ok' } },
  ],
])(
  '%s instead of the version is refused with the variable that has the wrong path',
  async (_, reply) => {
    const { store, calls } = createStore(reply);
    await expect(store.fetchVersion()).rejects.toMatchObject({
      name: 'RefusedSetting',
      why: expect.stringMatching(/^QDRANT_URL does not lead to Qdrant: .*host, port or path/),
    });
    expect(calls).toHaveLength(1);
  },
);

describe('a write', () => {
  test.each(['acknowledged', 'wait_timeout'])(
    'that is answered "%s" is incomplete',
    async (status) => {
      const body = { result: { operation_id: 1, status }, status: 'ok', time: 0 };
      const { store } = createStore({ status: 200, body });
      const write = store.upsert('memories', [createPoint(1, '{}')], 'insert_only');
      await expect(write).rejects.toMatchObject({ name: 'RetryableUnavailable' });
    },
  );

  test('waits until it is durable', async () => {
    const body = { result: { operation_id: 1, status: 'completed' }, status: 'ok', time: 0 };
    const { store, calls } = createStore({ status: 200, body });
    await store.upsert('memories', [createPoint(1, '{"n":10.0}')], 'insert_only');
    expect(calls).toEqual([
      {
        request: 'PUT http://qdrant.test/collections/memories/points?wait=true',
        body: '{"points":[{"id":1,"vector":[1.0,0.0,0.0,0.0],"payload":{"n":10.0}}],"update_mode":"insert_only"}',
      },
    ]);
  });
});

describe('a lost response', () => {
  const LOST = new TypeError('fetch failed');
  const successReply = (result: unknown): Reply => ({
    status: 200,
    body: { result, status: 'ok', time: 0 },
  });
  const EXISTS = { status: 409, body: refusal('already exists') };

  test.each([
    ['was created counts as success', [successReply({ exists: true })], ['PUT', 'GET']],
    [
      'was not created leads to a second attempt',
      [successReply({ exists: false }), successReply(true)],
      ['PUT', 'GET', 'PUT'],
    ],
  ])('to the creation of a collection that %s', async (_, replies, methods) => {
    const { store, calls } = createStore(LOST, ...replies);
    await store.createCollection('memories', NEW_LAYOUT);
    expect(calls.map(({ request }) => request.split(' ')[0])).toEqual(methods);
  });

  test('is not assumed to have succeeded if the name was taken before', async () => {
    const { store } = createStore(EXISTS);
    const creation = store.createCollection('memories', NEW_LAYOUT);
    await expect(creation).rejects.toMatchObject({ name: 'RefusedByService', code: 409 });
  });

  test('to the deletion of a snapshot counts as success if the snapshot no longer exists', async () => {
    const { store, calls } = createStore(LOST, { status: 404, body: refusal('not found') });
    await store.deleteSnapshot('memories', 'a.snapshot');
    expect(calls).toHaveLength(2);
  });

  test('to the creation of a snapshot leaves its outcome unknown, unlike a refusal', async () => {
    const request = createStore(LOST).store.startSnapshot('memories');
    await expect(request).rejects.toMatchObject({ name: 'RetryableUnavailable', code: undefined });
    // The request is sent only once, with or without a response: a second request would create a second snapshot.
    const { store, calls } = createStore({ status: 503 }, COUNT_REPLY);
    const busy = store.startSnapshot('memories');
    await expect(busy).rejects.toMatchObject({ name: 'RetryableUnavailable', code: 503 });
    expect(calls).toHaveLength(1);
  });
});

describe('the keyword model', () => {
  test.each<[string, Reply]>([
    ['was never started', { status: 500, body: refusal('InferenceService is not initialized') }],
    ['is unknown', { status: 400, body: refusal('Wrong input: Unsupported model') }],
  ])('is absent if it %s', async (_, reply) => {
    expect(await createStore(reply).store.encodesKeywords('memories', 'bm25')).toBe(false);
  });

  test('is not assumed absent if the store is unreachable', async () => {
    const { store } = createStore({ status: 503, body: refusal('shard is down') });
    const probe = store.encodesKeywords('memories', 'bm25');
    await expect(probe).rejects.toMatchObject({ name: 'RetryableUnavailable' });
  });
});

test('every request carries the key, and names are escaped', async () => {
  const requests: string[] = [];
  const store = createQdrant({
    url: 'http://qdrant.test/',
    apiKey: 'secret',
    fetch: async (url, init) => {
      requests.push(`${url} ${new Headers(init?.headers).get('api-key')}`);
      return Response.json({ result: true, status: 'ok', time: 0 });
    },
  });
  await store.createCollection('a b/c', NEW_LAYOUT);
  expect(requests).toEqual(['http://qdrant.test/collections/a%20b%2Fc?timeout=60 secret']);
});

/** Creates an adapter whose Qdrant sends these replies in turn, with its own clock. */
function createStore(...replies: readonly (Reply | Error)[]) {
  const calls: { request: string; body: unknown }[] = [];
  const waits: number[] = [];
  let now = 0;
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds);
    now += milliseconds;
  };
  const store = createQdrant({
    url: 'http://qdrant.test',
    pace: { ...DEFAULT_RETRY_POLICY, deadlineMs: 8_000, now: () => now, random: () => 0.5, sleep },
    fetch: async (url, init) => {
      const reply = replies[calls.length];
      calls.push({ request: `${init?.method} ${url}`, body: init?.body });
      if (!reply) throw new Error('No reply is left for this call');
      if (reply instanceof Error) throw reply;
      return toResponse(reply);
    },
  });
  return { store, calls, waits };
}

function toResponse({ status, body = '', headers = {} }: Reply): Response {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Response(text, { status, headers });
}
