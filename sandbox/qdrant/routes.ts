// Maps the method and path of every supported call to its handler.

import { type Call, PlainText } from './call.ts';
import { createCollectionCalls } from './collection-calls.ts';
import { createPointReads } from './point-reads.ts';
import { createPointWrites } from './point-writes.ts';
import { createSearch } from './search.ts';
import { createSnapshotCalls } from './snapshot-calls.ts';
import type { SandboxState } from './state.ts';

export type Handler = (call: Call) => unknown;

export interface Match {
  readonly handler: Handler;
  readonly path: Readonly<Record<string, string>>;
  /** True if the route needs no API key. */
  readonly isOpen: boolean;
}

const OPEN_ROUTES = ['GET /', 'GET /healthz', 'GET /livez', 'GET /readyz'];

export function createRouter(state: SandboxState) {
  const routes = Object.entries(createRouteTable(state)).map(([route, handler]) => {
    const [method = '', pattern = ''] = route.split(' ');
    const source = pattern.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const isOpen = OPEN_ROUTES.includes(route);
    return { method, pattern: new RegExp(`^${source}$`), handler, isOpen };
  });

  return (method: string, pathname: string): Match | undefined => {
    for (const route of routes) {
      const matched = route.method === method ? route.pattern.exec(pathname) : null;
      if (matched) return { ...route, path: decodeGroups(matched.groups) };
    }
    return undefined;
  };
}

function createRouteTable(state: SandboxState): Readonly<Record<string, Handler>> {
  const collections = createCollectionCalls(state);
  const reads = createPointReads(state);
  const writes = createPointWrites(state);
  const search = createSearch(state);
  const snapshots = createSnapshotCalls(state);
  return {
    'GET /': collections.root,
    'GET /healthz': () => new PlainText('healthz check passed'),
    'GET /livez': () => new PlainText('healthz check passed'),
    'GET /readyz': () => new PlainText('all shards are ready'),
    'GET /cluster': () => ({ status: 'disabled' }),
    'GET /aliases': collections.listAliases,
    'GET /collections': collections.list,
    'POST /collections/aliases': collections.changeAliases,
    'GET /collections/{collection}': collections.info,
    'PUT /collections/{collection}': collections.create,
    'PATCH /collections/{collection}': collections.update,
    'DELETE /collections/{collection}': collections.remove,
    'GET /collections/{collection}/cluster': collections.shards,
    'GET /collections/{collection}/exists': collections.exists,
    'GET /collections/{collection}/aliases': collections.listAliasesOfCollection,
    'PUT /collections/{collection}/index': collections.createIndex,
    'PUT /collections/{collection}/vectors/{vector}': collections.addVector,
    'DELETE /collections/{collection}/vectors/{vector}': collections.removeVector,
    'PUT /collections/{collection}/points': writes.upsert,
    'POST /collections/{collection}/points': reads.retrieve,
    'GET /collections/{collection}/points/{id}': reads.readOne,
    'POST /collections/{collection}/points/scroll': reads.scroll,
    'POST /collections/{collection}/points/count': reads.count,
    'POST /collections/{collection}/facet': reads.facet,
    'POST /collections/{collection}/points/query': search.query,
    'POST /collections/{collection}/points/query/batch': search.queryBatch,
    'POST /collections/{collection}/points/delete': writes.remove,
    'POST /collections/{collection}/points/payload': writes.setPayload,
    'PUT /collections/{collection}/points/vectors': writes.updateVectors,
    'POST /collections/{collection}/points/vectors/delete': writes.deleteVectors,
    'POST /collections/{collection}/snapshots': snapshots.create,
    'GET /collections/{collection}/snapshots': snapshots.list,
    'POST /collections/{collection}/snapshots/upload': snapshots.upload,
    'GET /collections/{collection}/snapshots/{snapshot}': snapshots.download,
    'DELETE /collections/{collection}/snapshots/{snapshot}': snapshots.remove,
  };
}

function decodeGroups(groups: Readonly<Record<string, string>> = {}): Record<string, string> {
  const entries = Object.entries(groups);
  return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value)]));
}
