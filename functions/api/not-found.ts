// $default: every route and method that nothing else answers
import { NotFoundError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';

export const handler = endpoint('Failed to find the route').handler(async ({ requestContext }) => {
  const { method, path } = requestContext.http;
  throw new NotFoundError(`No resource answers ${method} ${path}`);
});
