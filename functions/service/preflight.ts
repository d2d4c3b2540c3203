// OPTIONS on any path: a browser asks what a page of another origin may do. The gateway adds the CORS headers.
import { endpoint } from '../../lib/ledger/http/endpoint.ts';
import { noRoute } from '../../lib/ledger/http/no-route.ts';
import { preflightAnswered } from '../../lib/ledger/http/replies.ts';

export const handler = endpoint('Failed to answer the preflight').handler(
  async ({ headers, requestContext }) => {
    if (headers['access-control-request-method']) return preflightAnswered();
    throw noRoute('OPTIONS', requestContext.http.path);
  },
);
