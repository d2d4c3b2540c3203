// Errors for requests that no route serves: 404, or 405 if the path has routes for other methods.
import { MethodNotAllowedError, NotFoundError } from '../errors.ts';
import { shorten } from './fields.ts';
import METHODS from './routes.json' with { type: 'json' };

const METHODS_BY_PATH: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(METHODS));

/** Chooses between 404 and 405 for a request that matches no route. */
export function createRouteError(
  method: string,
  path: string,
): NotFoundError | MethodNotAllowedError {
  const fixedPath = dropLastSlash(path);
  const pathWithId = `${fixedPath.slice(0, fixedPath.lastIndexOf('/') + 1)}{id}`;
  const allowedMethods = METHODS_BY_PATH.get(fixedPath) ?? METHODS_BY_PATH.get(pathWithId) ?? [];
  // API Gateway decodes the path: /transactions%2F1 matches no route, but looks here like /transactions/1.
  if (allowedMethods.length === 0 || allowedMethods.includes(method)) {
    return new NotFoundError(`No route for ${method} ${shorten(path)}: see GET /docs`);
  }
  return createMethodError(method, path, allowedMethods);
}

/**
 * Refuses a path that the gateway mistakes for a path with an id. For example, GET /transactions/bulk reaches the function that
 * reads a transaction, because /transactions/bulk has no GET.
 * @throws MethodNotAllowedError
 */
export function refuseFixedPath(method: string, path: string): void {
  const allowedMethods = METHODS_BY_PATH.get(dropLastSlash(path));
  if (allowedMethods && !allowedMethods.includes(method))
    throw createMethodError(method, path, allowedMethods);
}

function createMethodError(method: string, path: string, allowed: readonly string[]) {
  const message = `${shorten(dropLastSlash(path))} does not support ${method}`;
  return new MethodNotAllowedError(message, allowed);
}

function dropLastSlash(path: string): string {
  return path.replace(/(?<=[^/])\/$/, '');
}
