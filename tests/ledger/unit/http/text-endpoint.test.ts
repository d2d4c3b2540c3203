// Static texts: which clients get them compressed, which may cache them for a year, and which get a 304.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createStaticText } from '../../../../lib/ledger/http/static-text.ts';
import { createTextEndpoint } from '../../../../lib/ledger/http/text-endpoint.ts';
import { invoke } from '../../support/api/invoke.ts';

const TEXT = '<p>Ä</p>';
const PAGE = createStaticText(TEXT, 'text/html');
const handler = createTextEndpoint('Failed', () => PAGE);

const requestText = (headers: Record<string, string>, query?: Record<string, string>) =>
  invoke(handler, { headers, ...(query && { queryStringParameters: query }) });

test.each(['gzip', 'br;q=1, GZIP ; q=0.5', '*', 'x, *;q=0.001', 'gzip, *;q=0'])(
  'a text is compressed for "%s"',
  async (accepted) => {
    const {
      headers,
      body = '',
      isBase64Encoded,
    } = await requestText({ 'accept-encoding': accepted });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(isBase64Encoded).toBe(true);
    expect(gunzipSync(Buffer.from(body, 'base64')).toString()).toBe(TEXT);
  },
);

test.each([undefined, '', 'br', 'identity', 'gzip;q=0', '*;q=0', 'gzip;q=0.000, *', 'gzip;q=x'])(
  'a text is not compressed for %j',
  async (accepted) => {
    const reply = await requestText(accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect(reply).toMatchObject({ body: TEXT, headers: { vary: 'accept-encoding' } });
    expect(reply.headers).not.toHaveProperty('content-encoding');
    expect(reply.isBase64Encoded).toBeUndefined();
  },
);

test.each(['*', PAGE.headers.etag, PAGE.headers.etag?.slice(2)])(
  'a text is not sent again to a client that has %s',
  async (known = '') => {
    const reply = await requestText({ 'if-none-match': known, 'accept-encoding': 'gzip' });
    expect(reply).toMatchObject({ statusCode: 304, headers: { etag: PAGE.headers.etag } });
    expect(reply.body).toBeUndefined();
    expect(reply.headers).not.toHaveProperty('content-encoding');
  },
);

test.each([
  [{ v: PAGE.hash }, 'public, max-age=31536000, immutable'],
  // A page of another deployment requests that deployment's script, so this response must not be cached for long at this address.
  [{ v: `${PAGE.hash.slice(1)}x` }, 'public, max-age=300'],
  [{}, 'public, max-age=300'],
])('a text requested with the query %j has the cache policy "%s"', async (query, cachePolicy) => {
  for (const headers of [{}, { 'accept-encoding': 'gzip' }, { 'if-none-match': '*' }])
    expect((await requestText(headers, query)).headers?.['cache-control']).toBe(cachePolicy);
});
