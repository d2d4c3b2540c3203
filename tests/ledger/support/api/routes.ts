// Finds the function for a method and path as API Gateway does.
import { readRoutes } from '../../../../cli/describe/routes.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../../lib/ledger/http/endpoints/endpoints-by-route.ts';

/** Each route of the API, with the folder and file of its function */
export const OPERATIONS = readRoutes().map(
  ({ method, path, functionName }) => [`${method} ${path}`, functionName] as const,
);

/** Pages cannot be loaded here, because only the bundler inserts their texts. tests/ledger/pages tests them. */
export const isPage = (functionName: string) =>
  ['service/docs', 'service/page'].includes(functionName);

/** The operations that authenticate the caller. */
export const LEDGER_OPERATIONS = OPERATIONS.filter(
  ([route, name]) => ENDPOINTS_BY_ROUTE[route]?.isPublic === undefined && !isPage(name),
);

export interface Route {
  readonly key: string;
  /** Folder and file of the function. */
  readonly functionName: string;
  /** The path's record id, percent-encoded */
  readonly id?: string;
}

const FUNCTION_NAMES: ReadonlyMap<string, string> = new Map(OPERATIONS);

/** Ignores a trailing slash: the gateway has a route with it and a route without it, and both are deployed. */
export function findRoute(method: string, path: string): Route {
  if (method === 'OPTIONS') return { key: 'OPTIONS /{path+}', functionName: 'service/preflight' };
  const trimmedPath = path.replace(/(?<=[^/])\/$/, '');
  const [, id] = /\/([^/]+)$/.exec(trimmedPath) ?? [];
  const keys = [`${method} ${trimmedPath}`, `${method} ${trimmedPath.replace(/[^/]+$/, '{id}')}`];
  for (const [n, key] of keys.entries()) {
    const functionName = FUNCTION_NAMES.get(key);
    if (functionName) return { key, functionName, ...(n === 1 && id !== undefined ? { id } : {}) };
  }
  return { key: '$default', functionName: 'service/not-found' };
}
