// Sends static text files. They are compressed for clients that accept gzip. Clients that already have a file get 304.
import { gunzipSync } from 'node:zlib';
import type { ApiEvent } from './api-event.ts';
import { createEndpoint } from './endpoint.ts';
import { replyIfModified } from './preconditions.ts';
import type { Reply } from './replies.ts';
import type { StaticText } from './static-text.ts';

/** For a URL that has the hash of the text: it always returns the same text. */
const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' };

/** @param choose selects the file by the path, which may end in a slash, and by the query */
export function createTextEndpoint(
  failureMessage: string,
  choose: (path: string, query: ApiEvent['query']) => StaticText,
) {
  return createEndpoint(failureMessage).handler(
    async ({ headers: requestHeaders, requestContext, query }) => {
      const { compressedText, hash, headers } = choose(requestContext.http.path, query);
      // During a deployment, another version of the function may reply. Its text does not have the hash in the URL.
      const replyHeaders = { ...headers, ...(query.v === hash && IMMUTABLE) };
      const fullReply = { status: 200, body: {}, headers: replyHeaders };
      const reply: Reply = replyIfModified(fullReply, requestHeaders['if-none-match']);
      if (reply.status === 304) return reply;
      if (!acceptsGzip(requestHeaders))
        return { ...reply, text: gunzipSync(Buffer.from(compressedText, 'base64')).toString() };
      const encodedHeaders = { ...replyHeaders, 'content-encoding': 'gzip' };
      return { ...reply, headers: encodedHeaders, text: compressedText, isBase64Encoded: true };
    },
  );
}

/**
 * True if the client accepts gzip (RFC 9110, section 12.5.3). Without the header, only an unencoded text is certain to be
 * understood.
 */
function acceptsGzip({ 'accept-encoding': acceptEncoding = '' }: ApiEvent['headers']): boolean {
  const weights = acceptEncoding
    .toLowerCase()
    .split(',')
    .map((each) => {
      const [coding = '', ...parameters] = each.split(';').map((part) => part.trim());
      const weight = parameters.find((part) => part.startsWith('q='));
      return [coding, Number(weight?.slice(2) ?? 1)] as const;
    });
  const weightByCoding = new Map(weights);
  return (weightByCoding.get('gzip') ?? weightByCoding.get('*') ?? 0) > 0;
}
