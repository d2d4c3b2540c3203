// Finds the function for a method and path as API Gateway does.
import { readRoutes } from '../../../../cli/describe/routes.ts';
import { ENDPOINTS_BY_ROUTE } from '../../../../lib/ledger/http/endpoints/endpoints-by-route.ts';

/** The operations of the API, by the folder and file of their function. */
export const OPERATIONS = readRoutes().map(
  ({ method, path, functionName }) => [`${method} ${path}`, functionName] as const,
);

/** Pages hold texts that only the bundler can put in, and take no parameters; tests/ledger/pages looks at them. */
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
  /** The path's record id, undecoded. */
  readonly id?: string;
}

const FUNCTION_OF: ReadonlyMap<string, string> = new Map(OPERATIONS);

/** A route with and without a trailing slash is two routes for the gateway, and both are deployed. */
export function findRoute(method: string, path: string): Route {
  if (method === 'OPTIONS') return { key: 'OPTIONS /{path+}', functionName: 'service/preflight' };
  const fixed = path.replace(/(?<=[^/])\/$/, '');
  const [, id] = /\/([^/]+)$/.exec(fixed) ?? [];
  const keys = [`${method} ${fixed}`, `${method} ${fixed.replace(/[^/]+$/, '{id}')}`];
  for (const [n, key] of keys.entries()) {
    const functionName = FUNCTION_OF.get(key);
    if (functionName) return { key, functionName, ...(n === 1 && id !== undefined ? { id } : {}) };
  }
  return { key: '$default', functionName: 'service/not-found' };
}
