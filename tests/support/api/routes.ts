// Which function answers which method and path, as API Gateway decides it.

/** The operations of the API, by the folder and file of their function. */
export const OPERATIONS = [
  ['GET /transactions', 'transactions/list'],
  ['POST /transactions', 'transactions/create'],
  ['POST /transactions/bulk', 'transactions/bulk'],
  ['PUT /transactions/bulk', 'transactions/bulk-update'],
  ['POST /transactions/bulk/delete', 'transactions/bulk-delete'],
  ['GET /transactions/export', 'transactions/export'],
  ['GET /transactions/{id}', 'transactions/read'],
  ['PUT /transactions/{id}', 'transactions/update'],
  ['DELETE /transactions/{id}', 'transactions/delete'],
  ['GET /categories', 'categories/list'],
  ['POST /categories', 'categories/create'],
  ['GET /categories/{id}', 'categories/read'],
  ['PUT /categories/{id}', 'categories/update'],
  ['DELETE /categories/{id}', 'categories/delete'],
  ['GET /summary', 'summary/read'],
  ['GET /me', 'api/me'],
  ['GET /health', 'api/health'],
  ['GET /openapi.json', 'api/openapi'],
  ['GET /docs', 'api/docs'],
] as const;

/** Those that need to know who sends the request. */
export const LEDGER_OPERATIONS = OPERATIONS.filter(
  ([, name]) => !name.startsWith('api/') || name === 'api/me',
);

export type FunctionName = (typeof OPERATIONS)[number][1] | 'api/preflight' | 'api/not-found';

export interface Route {
  readonly key: string;
  readonly functionName: FunctionName;
  /** The path's record id, undecoded. */
  readonly id?: string;
}

const FUNCTION_OF = new Map<string, FunctionName>(OPERATIONS);

/** A route and its twin with a trailing slash are two for the gateway, and both are deployed. */
export function findRoute(method: string, path: string): Route {
  if (method === 'OPTIONS') return { key: 'OPTIONS /{path+}', functionName: 'api/preflight' };
  const [, resource = '', id, ...rest] = path.replace(/(?<=[^/])\/$/, '').split('/');
  const exact = [`${method} /${resource}`, id, ...rest].join('/');
  if (FUNCTION_OF.has(exact)) {
    return { key: exact, functionName: FUNCTION_OF.get(exact) ?? 'api/not-found' };
  }
  const key = `${method} /${resource}${id === undefined ? '' : '/{id}'}`;
  const functionName = rest.length === 0 && id !== '' ? FUNCTION_OF.get(key) : undefined;
  if (!functionName) return { key: '$default', functionName: 'api/not-found' };
  return { key, functionName, ...(id === undefined ? {} : { id }) };
}
