// OPTIONS on any path: a browser asks what a page of another origin may do; the gateway adds the answer
import { NotFoundError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { preflightAnswered } from '../../lib/http/replies.ts';

export const handler = endpoint('Failed to answer the preflight').handler(
  async ({ headers, requestContext }) => {
    if (headers['access-control-request-method']) return preflightAnswered();
    throw new NotFoundError(`No resource answers OPTIONS ${requestContext.http.path}`);
  },
);
