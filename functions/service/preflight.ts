// OPTIONS on any path: a browser asks what a page of another origin may do. The gateway adds the CORS headers.
import { createEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { createRouteError } from '../../lib/ledger/http/no-route.ts';
import { replyToPreflight } from '../../lib/ledger/http/replies.ts';

export const handler = createEndpoint('Failed to respond to the preflight').handler(
  async ({ headers, requestContext }) => {
    if (headers['access-control-request-method']) return replyToPreflight();
    throw createRouteError('OPTIONS', requestContext.http.path);
  },
);
