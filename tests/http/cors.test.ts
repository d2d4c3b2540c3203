// Rulings: CORS preflight is answered. Over HTTP only: the gateway answers it, not a function.
import { afterAll, describe, expect, inject, test } from 'vitest';
import { openApi } from '../support/api/open-api.ts';

const api = await openApi();
afterAll(() => api.close());

/** The one that the local gateway allows where nothing else is configured. */
const origin = inject('apiUrl');

const ask = (path: string, method: string) =>
  api.request('OPTIONS', path, {
    headers: {
      ...{ origin, 'access-control-request-method': method },
      'access-control-request-headers': 'content-type',
    },
  });

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
    const { status, headers } = await ask(path, method);
    expect([200, 204]).toContain(status);
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(listed(headers['access-control-allow-methods'])).toContain(method.toLowerCase());
    expect(listed(headers['access-control-allow-headers'])).toContain('content-type');
  });
});

test('a preflight from another origin gets no leave', async () => {
  const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' };
  const reply = await api.request('OPTIONS', '/transactions', { headers });
  expect(reply.headers).not.toHaveProperty('access-control-allow-origin');
});

test('a page of that origin may read the answers and X-Request-Id, failures included', async () => {
  for (const path of ['/transactions', '/transactions/abc', '/nowhere']) {
    const { headers } = await api.request('GET', path, { headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe(origin);
    expect(listed(headers['access-control-expose-headers'])).toContain('x-request-id');
  }
});
