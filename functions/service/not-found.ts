// $default: refuses requests for a route or method that no other function serves.
import { createEndpoint } from '../../lib/ledger/http/endpoint.ts';
import { createRouteError } from '../../lib/ledger/http/no-route.ts';

export const handler = createEndpoint('Failed to find the route').handler(
  async ({ requestContext }) => {
    const { method, path } = requestContext.http;
    throw createRouteError(method, path);
  },
);
