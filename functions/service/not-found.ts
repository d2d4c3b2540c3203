// $default: refuses requests for a route or method that no other function serves.
import { endpoint } from '../../lib/ledger/http/endpoint.ts';
import { noRoute } from '../../lib/ledger/http/no-route.ts';

export const handler = endpoint('Failed to find the route').handler(async ({ requestContext }) => {
  const { method, path } = requestContext.http;
  throw noRoute(method, path);
});
