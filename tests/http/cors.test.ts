// CORS as the gateway does it, from outside. What holds for any origin is tested on the edge itself.
import { describe, expect, inject, test } from 'vitest';
import { expectRequestId } from '../support/api/expect-reply.ts';
import { openApi } from '../support/api/open-api.ts';

const api = await openApi();

/** The default of ALLOWED_ORIGINS. */
const origin = inject('apiUrl');
const foreign = 'https://elsewhere.example';

function preflight(path: string, from: string, method: string) {
  const headers = {
    ...{ origin: from, 'access-control-request-method': method },
    'access-control-request-headers': 'content-type',
  };
  return api.request('OPTIONS', path, { headers });
}

function listed(header: string | undefined): string[] {
  return (header ?? '').split(',').map((each) => each.trim().toLowerCase());
}

describe('a preflight is answered', () => {
  test.each([
    ['/transactions', 'GET'],
    ['/transactions/', 'POST'],
    ['/transactions/1', 'PUT'],
    ['/transactions/1/', 'DELETE'],
    ['/categories', 'POST'],
    ['/categories/abc', 'DELETE'],
    ['/nowhere', 'GET'],
  ])('%s %s', async (path, method) => {
    const { status, headers } = await preflight(path, origin, method);
    expect([200, 204]).toContain(status);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(listed(headers['access-control-allow-methods'])).toContain(method.toLowerCase());
    expect(listed(headers['access-control-allow-headers'])).toContain('content-type');
  });
});

test('a page may send twenty requests at once, each with its preflight', async () => {
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const path = `/transactions${n % 2 ? '/' : ''}`;
      const { status } = await preflight(path, origin, 'GET');
      return [status, (await api.request('GET', path, { headers: { origin } })).status];
    }),
  );
  for (const [preflighted = 0, status] of statuses)
    expect([preflighted < 300, status]).toEqual([true, 200]);
});

test('a preflight from another origin gets no CORS headers', async () => {
  const { headers } = await preflight('/transactions', foreign, 'GET');
  expect(headers).not.toHaveProperty('access-control-allow-origin');
});

test('a page of an allowed origin may read the responses and X-Request-Id, failures included', async () => {
  for (const path of ['/transactions', '/transactions/abc', '/nowhere']) {
    const { headers } = await api.request('GET', path, { headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe(origin);
    const exposed = listed(headers['access-control-expose-headers']);
    expect(exposed.filter((name) => name === 'x-request-id')).toHaveLength(1);
  }
});

// A browser sends a POST like this without a preflight.
test('a page of another origin writes nothing and reads nothing', async () => {
  const headers = { origin: foreign, 'content-type': 'text/plain' };
  const name = `from ${foreign}`;
  const written = await api.request('POST', '/categories', {
    headers,
    rawBody: JSON.stringify({ name }),
  });
  const read = await api.request('GET', '/categories', { headers: { origin: foreign } });
  for (const reply of [written, read]) {
    expect([reply.status, reply.body.error]).toEqual([403, 'forbidden_origin']);
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
    expectRequestId(reply);
  }
  const { body } = await api.get('/categories');
  expect(body.data.map((category: { name: string }) => category.name)).not.toContain(name);
});
