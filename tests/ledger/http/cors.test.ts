// CORS of the gateway, as a client sees it. tests/ledger/unit/local/edge.test.ts covers other origins.
import { expect, inject, test } from 'vitest';
import { openTestApi } from '../support/api/open-api.ts';

const api = await openTestApi();

/** The default of ALLOWED_ORIGINS. */
const origin = inject('apiUrl');

function splitList(header: string | undefined): string[] {
  return (header ?? '').split(',').map((each) => each.trim().toLowerCase());
}

test.each([
  ['/transactions', 'GET'],
  ['/transactions/', 'POST'],
  ['/transactions/1', 'PUT'],
  ['/transactions/1/', 'DELETE'],
  ['/categories', 'POST'],
  ['/categories/abc', 'DELETE'],
  ['/nowhere', 'GET'],
])('a preflight for %s %s gets a response', async (path, method) => {
  const requestHeaders = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'content-type',
  };
  const { status, headers } = await api.request('OPTIONS', path, { headers: requestHeaders });
  expect([200, 204]).toContain(status);
  expect(headers['access-control-allow-origin']).toBe(origin);
  expect(splitList(headers['access-control-allow-methods'])).toContain(method.toLowerCase());
  expect(splitList(headers['access-control-allow-headers'])).toContain('content-type');
});

test('a page from an allowed origin can read the responses and X-Request-Id, including those of failures', async () => {
  for (const path of ['/transactions', '/transactions/abc', '/nowhere']) {
    const { headers } = await api.request('GET', path, { headers: { origin } });
    expect(headers['access-control-allow-origin']).toBe(origin);
    const exposed = splitList(headers['access-control-expose-headers']);
    expect(exposed.filter((name) => name === 'x-request-id')).toHaveLength(1);
  }
});
