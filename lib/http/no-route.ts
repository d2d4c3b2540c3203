// Requests that no route serves: 404, or 405 where the path serves other methods.
import { MethodNotAllowedError, NotFoundError } from '../errors.ts';

// The routes of serverless.yml; a test keeps the two equal.
const METHODS: readonly (readonly [path: RegExp, methods: readonly string[]])[] = [
  [/^\/(health|openapi\.json|docs|summary|me)\/?$/, ['GET']],
  [/^\/(transactions|categories)\/?$/, ['GET', 'POST']],
  [/^\/transactions\/bulk\/?$/, ['POST', 'PUT']],
  [/^\/transactions\/bulk\/delete\/?$/, ['POST']],
  [/^\/transactions\/export\/?$/, ['GET']],
  [/^\/(transactions|categories)\/[^/]+\/?$/, ['GET', 'PUT', 'DELETE']],
];

export function noRoute(method: string, path: string): NotFoundError | MethodNotAllowedError {
  const [, allowed = []] = METHODS.find(([pattern]) => pattern.test(path)) ?? [];
  // API Gateway decodes the path, so that /transactions%2F1, which no route serves, looks like one that exists.
  if (allowed.length === 0 || allowed.includes(method)) {
    return new NotFoundError(`No route for ${method} ${path}`);
  }
  return new MethodNotAllowedError(
    `${path.replace(/\/$/, '')} does not support ${method}`,
    allowed,
  );
}
