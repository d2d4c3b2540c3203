// GET /, /page.css and /page.js, without authentication: the front page. It shows data of a ledger only to those whose key
// it has, which it asks for.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import script from '../../lib/front-page/main.ts?script';
import style from '../../lib/front-page/page.css' with { type: 'text' };
import markup from '../../lib/front-page/page.html' with { type: 'text' };
import type { ApiEvent } from '../../lib/http/api-event.ts';
import { SECURITY_HEADERS } from '../../lib/http/envelope.ts';
import { requestLog } from '../../lib/http/request-log.ts';

interface Asset {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

// A page never runs with the script or the style of another deployment: their addresses say which.
const page = markup.replace('{{style}}', hashOf(style)).replace('{{script}}', hashOf(script));

// Scripts and styles of this service alone, and no other service is asked for anything.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const PAGE = asset(page, 'text/html', { 'content-security-policy': POLICY });
const ASSETS = new Map([
  ['/page.css', asset(style, 'text/css')],
  ['/page.js', asset(script, 'text/javascript')],
]);

export const handler = middy<ApiEvent, APIGatewayProxyStructuredResultV2>()
  .use(requestLog())
  .handler(async ({ headers: sent, requestContext }, { awsRequestId }) => {
    const { body, headers: described } = ASSETS.get(withoutSlash(requestContext.http.path)) ?? PAGE;
    const headers = { ...described, 'x-request-id': awsRequestId };
    const isKnown = (sent['if-none-match'] ?? '').includes(described.etag ?? '');
    if (isKnown) return { statusCode: 304, headers };
    return {
      statusCode: 200,
      headers: { ...headers, 'content-encoding': 'gzip' },
      body,
      isBase64Encoded: true,
    };
  });

function asset(text: string, type: string, headers: Record<string, string> = {}): Asset {
  return {
    body: gzipSync(text).toString('base64'),
    headers: {
      ...SECURITY_HEADERS,
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      etag: `"${hashOf(text)}"`,
      ...headers,
    },
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
