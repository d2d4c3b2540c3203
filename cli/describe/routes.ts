// Reads the routes of the API from serverless.yml.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export interface Route {
  readonly method: string;
  /** Path with its parameters, such as `/transactions/{id}`. */
  readonly path: string;
  /** Folder and file below functions/, such as `transactions/read`. */
  readonly functionName: string;
}

interface FunctionSettings {
  readonly handler: string;
  readonly events?: readonly { readonly httpApi?: string }[];
}

const FILE = join(import.meta.dirname, '../../serverless.yml');

/** Leaves out the routes for requests that no other route serves: `$default`, and preflights on any path. */
export function readRoutes(): Route[] {
  const { functions } = parse(readFileSync(FILE, 'utf8')) as { functions: readonly unknown[] };
  const settings = functions.flatMap((part) =>
    typeof part === 'object' ? Object.values(part as Record<string, FunctionSettings>) : [],
  );
  return settings.flatMap(({ handler, events = [] }) =>
    events.flatMap(({ httpApi = '*' }) => {
      const [method = '', path] = httpApi.split(' ');
      if (path === undefined || path.endsWith('+}')) return [];
      return { method, path, functionName: handler.replace(/^functions\/|\.handler$/g, '') };
    }),
  );
}

/** Lists the methods of each path for lib/ledger/http/routes.json, because a deployed function cannot read serverless.yml. */
export function groupMethodsByPath(): Record<string, string[]> {
  const routesByPath = Map.groupBy(readRoutes(), ({ path }) => path);
  return Object.fromEntries(
    [...routesByPath].map(([path, routes]) => [path, routes.map(({ method }) => method)]),
  );
}
