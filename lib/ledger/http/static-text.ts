// Static texts, which need no key: pages, their styles and scripts. They are compressed once, because the gateway does
// not compress, and sent compressed to clients that accept it.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ApiEvent } from './api-event.ts';
import { endpoint } from './endpoint.ts';
import { unlessKnown } from './preconditions.ts';

export interface StaticText {
  readonly text: string;
  /** In Base64. */
  readonly compressed: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asked for again each time, and sent again when it has changed. */
export const REVALIDATED = { 'cache-control': 'no-cache' };

/** @param headers beside those of every response, names in lower case */
export function staticText(
  text: string,
  type: string,
  headers: Readonly<Record<string, string>> = {},
): StaticText {
  return {
    text,
    compressed: gzipSync(text).toString('base64'),
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=300',
      // Weak: of both encodings.
      etag: `W/"${hashOf(text)}"`,
      vary: 'accept-encoding',
      ...headers,
    },
  };
}

/** @param choose by the path, with or without a slash at its end, and the query as it was sent */
export function textEndpoint(choose: (path: string, query: string) => StaticText) {
  return endpoint('Failed to show the page').handler(async (event) => {
    const { headers: sent, requestContext, rawQueryString = '' } = event;
    const { text, compressed, headers } = choose(requestContext.http.path, rawQueryString);
    const reply = unlessKnown({ status: 200, body: {}, headers, text }, sent['if-none-match']);
    if (reply.status === 304 || !takesGzip(sent)) return reply;
    const encoded = { ...headers, 'content-encoding': 'gzip' };
    return { ...reply, headers: encoded, text: compressed, isBase64Encoded: true };
  });
}

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** RFC 9110, section 12.5.3. Without the header only what is not encoded is sure to be understood. */
function takesGzip({ 'accept-encoding': accepted = '' }: ApiEvent['headers']): boolean {
  const weights = accepted
    .toLowerCase()
    .split(',')
    .map((each) => {
      const [coding = '', ...parameters] = each.split(';').map((part) => part.trim());
      const weight = parameters.find((part) => part.startsWith('q='));
      return [coding, Number(weight?.slice(2) ?? 1)] as const;
    });
  const byCoding = new Map(weights);
  return (byCoding.get('gzip') ?? byCoding.get('*') ?? 0) > 0;
}
