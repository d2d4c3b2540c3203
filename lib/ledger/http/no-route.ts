// Answers requests that no route serves: 404, or 405 if the path serves other methods.
import { MethodNotAllowedError, NotFoundError } from '../errors.ts';
import { shorten } from './fields.ts';
import METHODS from './routes.json' with { type: 'json' };

const METHODS_BY_PATH: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(METHODS));

/** Chooses between 404 and 405 for a request that matches no route. */
export function noRoute(method: string, path: string): NotFoundError | MethodNotAllowedError {
  const fixed = withoutSlash(path);
  const withId = `${fixed.slice(0, fixed.lastIndexOf('/') + 1)}{id}`;
  const allowed = METHODS_BY_PATH.get(fixed) ?? METHODS_BY_PATH.get(withId) ?? [];
  // API Gateway decodes the path, so that /transactions%2F1, which no route serves, looks like one that exists.
  if (allowed.length === 0 || allowed.includes(method)) {
    return new NotFoundError(`No route for ${method} ${shorten(path)}: see GET /docs`);
  }
  return notAllowed(method, path, allowed);
}

/**
 * Refuses a fixed path at the function of a path with an id: for the gateway, GET /transactions/bulk reads the transaction
 * "bulk", because that path has no GET of its own.
 * @throws MethodNotAllowedError
 */
export function refuseFixedPath(method: string, path: string): void {
  const allowed = METHODS_BY_PATH.get(withoutSlash(path));
  if (allowed && !allowed.includes(method)) throw notAllowed(method, path, allowed);
}

function notAllowed(method: string, path: string, allowed: readonly string[]) {
  const message = `${shorten(withoutSlash(path))} does not support ${method}`;
  return new MethodNotAllowedError(message, allowed);
}

function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/$/, '');
}
