// To whom a text is sent compressed, and to whom it is not sent again.
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { staticText, textEndpoint } from '../../../../lib/ledger/http/static-text.ts';
import { invoke } from '../../support/api/invoke.ts';

const PAGE = staticText('<p>Ä</p>', 'text/html');
const handler = textEndpoint(() => PAGE);

const ask = (headers: Record<string, string>) => invoke(handler, { headers });

test.each(['gzip', 'br;q=1, GZIP ; q=0.5', '*', 'x, *;q=0.001', 'gzip, *;q=0'])(
  'compressed for "%s"',
  async (accepted) => {
    const { headers, body = '', isBase64Encoded } = await ask({ 'accept-encoding': accepted });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(isBase64Encoded).toBe(true);
    expect(gunzipSync(Buffer.from(body, 'base64')).toString()).toBe(PAGE.text);
  },
);

test.each([undefined, '', 'br', 'identity', 'gzip;q=0', '*;q=0', 'gzip;q=0.000, *', 'gzip;q=x'])(
  'as it is for %j',
  async (accepted) => {
    const reply = await ask(accepted === undefined ? {} : { 'accept-encoding': accepted });
    expect(reply).toMatchObject({ body: PAGE.text, headers: { vary: 'accept-encoding' } });
    expect(reply.headers).not.toHaveProperty('content-encoding');
    expect(reply.isBase64Encoded).toBeUndefined();
  },
);

test.each(['*', PAGE.headers.etag, PAGE.headers.etag?.slice(2)])(
  'not sent again to those who have %s',
  async (known = '') => {
    const reply = await ask({ 'if-none-match': known, 'accept-encoding': 'gzip' });
    expect(reply).toMatchObject({ statusCode: 304, headers: { etag: PAGE.headers.etag } });
    expect(reply.body).toBeUndefined();
    expect(reply.headers).not.toHaveProperty('content-encoding');
  },
);
