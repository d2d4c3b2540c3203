// OPTIONS on any path: a browser asks what a page of another origin may do. The gateway adds the CORS headers.
import { endpoint } from '../../lib/http/endpoint.ts';
import { noRoute } from '../../lib/http/no-route.ts';
import { preflightAnswered } from '../../lib/http/replies.ts';

export const handler = endpoint('Failed to answer the preflight').handler(
  async ({ headers, requestContext }) => {
    if (headers['access-control-request-method']) return preflightAnswered();
    throw noRoute('OPTIONS', requestContext.http.path);
  },
);
